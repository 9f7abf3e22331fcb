import assert from "node:assert/strict";
import { test } from "node:test";

import { shareOf } from "../../static/js/cpu-reports.js";
import { footprint } from "../../static/js/disturbance.js";
import { armFigures } from "../../static/js/figures.js";
import { overRepeats, repeatWords } from "../../static/js/over-repeats.js";
import { axisOf } from "../../static/js/rounds-data.js";
import { freeOf } from "../../static/js/view-band.js";
import { wholeWords } from "../../static/js/view-counters.js";
import { heldIn } from "../../static/js/view-rail.js";
import { shareWords } from "../../static/js/view-units.js";
import { counters, served, SERVICE, storeOf, unit } from "./services.mjs";
import { row } from "./support.mjs";

const plain = (text) => text.replace(/[\u00a0\u2009]/g, " ");

test("before the load's first counted round nothing of its servers counts", () => {
  const store = storeOf(SERVICE);
  let s = 0;
  const put = (row) => store.applyRow({ s: ++s, repeat: 1, ...row });
  const second = (group, n, start_us) => {
    put({ k: "round", group, n, start_us, wall_us: 1e6, ...counters(1000) });
    put({ k: "settled", group, n, ...counters(1000) });
  };
  second("server", 1, 1e6);
  assert.deepEqual([armFigures(store, 0).counted, armFigures(store, 0).settled], [false, 0]);
  second("load", 1, 1.5e6);
  second("server", 2, 2e6);
  assert.deepEqual([armFigures(store, 0).settled, armFigures(store, 0).usage_us], [1, 1000]);
});

test("a server on another machine counts by its own clock", () => {
  const store = storeOf(SERVICE);
  let s = 0;
  const put = (row) => store.applyRow({ s: ++s, repeat: 1, ...row });
  // The server's machine was up for 1000 s more than the load's.
  put({ k: "hello", group: "server", mono_us: 1005e6, unix_us: 5e6, program: {} });
  put({ k: "hello", group: "load", mono_us: 5e6, unix_us: 5e6, program: {} });
  for (const n of [1, 2, 3]) {
    put({ k: "round", group: "server", n, start_us: (1005 + n) * 1e6, wall_us: 1e6, ...counters(1) });
    put({ k: "settled", group: "server", n, ...counters(n) });
  }
  put({ k: "round", group: "load", n: 1, start_us: 6.5e6, wall_us: 1e6, ...counters(1) });
  assert.deepEqual([armFigures(store, 0).settled, armFigures(store, 0).usage_us], [2, 5]);
});

test("what a load sent late lengthens the time it was sent in; of two loads the longer counts", () => {
  const { store, put } = served();
  store.arms[0].units.push(unit("load.2", { group: "load", replica: 2, kind: "load", result: true }));
  const f = (name, n, wall_us, facts = {}) =>
    put({ k: "round", group: name, n, start_us: n * 1e6, wall_us, ...counters(1), facts });
  f("load.2", 1, 4e6, { overrun_us: 250_000 });
  const { took_us, sent_us } = armFigures(store, 0);
  assert.deepEqual([took_us, sent_us], [4e6, 4.25e6]);
});

test("of several repeats each figure is the median over them; failures are added up", () => {
  const store = storeOf(SERVICE);
  store.repeats.push(...[2, 3].map((id) => ({ ...store.repeats[0], id, n: id, groups: new Map() })));
  store.byId = new Map(store.repeats.map((repeat) => [repeat.id, repeat]));
  let s = 0;
  for (const [i, us] of [9000, 1000, 5000].entries()) {
    const at = { repeat: i + 1, group: "load", n: 1, start_us: 1e6, wall_us: 1e6, ...counters(1) };
    const work_us = { n: 200, max: us, errors: i === 1 ? { timeout: 7 } : {}, counts: [[us, 200]] };
    store.applyRow({ s: ++s, k: "round", ...at, measures: { work_us } });
    store.applyRow({ s: ++s, k: "totals", repeat: i + 1, group: "server", ...counters(us) });
    store.applyRow({ s: ++s, k: "totals", repeat: i + 1, group: "server.2", ...counters(us) });
    store.repeats[i].state = "done";
  }
  const whole = armFigures(store, 0);
  assert.equal(whole.measures.work_us.n, 600);
  const { figures, repeats } = overRepeats(store, 0, whole);
  assert.equal(repeats, 3);
  assert.deepEqual([figures.measures.work_us.n, figures.measures.work_us.p99], [200, 5000]);
  assert.deepEqual([figures.usage_us, figures.nr_throttled, figures.counted], [10_000, 8, true]);
  assert.deepEqual(figures.measures.work_us.errors, { timeout: 7 });
  store.repeats[0].state = "failed";
  assert.equal(overRepeats(store, 0, whole).figures.measures.work_us.p50, 3000);
  assert.deepEqual([repeatWords([3, 3]), repeatWords([1]), repeatWords([2, 3, 0])], [
    "median of 3 repeats",
    "",
    "median of 2 to 3 repeats",
  ]);
});

test("a failed repeat is left out where another was measured", () => {
  const { store } = served();
  store.repeats[0].state = "failed";
  assert.equal(armFigures(store, 0).n, 3, "it is all there is");
  store.repeats.push({ ...store.repeats[0], id: 2, n: 2, state: "done", groups: new Map() });
  store.byId.set(2, store.repeats[1]);
  const at = { repeat: 2, group: "load", n: 1, start_us: 1e6, wall_us: 1e6, ...counters(1) };
  store.applyRow({ s: 1e6, k: "round", ...at });
  assert.equal(armFigures(store, 0).n, 1);
});

test("a dot at the side is held where the server was, in about the same second", () => {
  const { store } = served();
  const [first] = axisOf(store, 0).rows;
  assert.equal(heldIn(store, store.arms[0], first), true);
  for (const name of ["server", "server.2"]) {
    for (const round of store.repeats[0].groups.get(name).rounds) round.settled.throttled_us = 0;
  }
  assert.equal(heldIn(store, store.arms[0], first), false);
});

test("the words of a counter's window tell whose and how many repeats", () => {
  const totals = { source: "totals", repeats: 1, settled: 9 };
  assert.match(wholeWords(totals, "round", false), /from outside the group, from begin to end of the repeat\.$/);
  assert.match(wholeWords({ ...totals, repeats: 5 }, "second", true), /first counted request to the end of each repeat, 5 repeats added up\.$/);
  assert.match(wholeWords({ ...totals, source: "rounds" }, "second", true), /9 settled seconds since the load counts so far\.$/);
});

test("only an arm of the same work and scale is one to compare with", () => {
  const like = { kind: "burst", threads: 8, work_us: 1000, scale: null, quota_us: null };
  const limited = { ...like, quota_us: 50_000 };
  assert.equal(freeOf([{ ...like, scale: "1/2" }, { ...like, work_us: 5 }, limited], limited), null);
  assert.equal(freeOf([limited, like], limited), like);
});

const POD = {
  result: "cpu",
  quota_us: 50_000,
  units: [
    unit("pair", { container: null, kind: null, counted: true, quota_us: 50_000 }),
    unit("pair.small", { container: "small", inside: true, result: true, quota_us: 20_000 }),
    unit("pair.big", { container: "big", inside: true, result: true, quota_us: 30_000 }),
  ],
};

/** Two repeats of a pod, the second under way: in each so many reports of 100 and 300 ms of CPU. */
function pods(first, second) {
  const store = storeOf(POD);
  store.repeats.push({ ...store.repeats[0], id: 2, n: 2, groups: new Map() });
  store.byId.set(2, store.repeats[1]);
  store.repeats[0].state = "done";
  let s = 0;
  for (const [repeat, reports] of [[1, first], [2, second]]) {
    store.applyRow({ s: ++s, k: "tree", repeat, group: "pair", levels: [] });
    for (let n = 1; n <= reports; n += 1) {
      for (const [group, used] of [["pair.small", 100_000 * repeat], ["pair.big", 300_000]]) {
        const row = { repeat, group, n };
        store.applyRow({ s: ++s, k: "round", ...row, start_us: n * 1e6, wall_us: 1e6, ...counters(used) });
        store.applyRow({ s: ++s, k: "settled", ...row, ...counters(used) });
      }
    }
  }
  return store;
}

test("a pod of several containers is counted by their rounds until its totals are there", () => {
  const store = pods(2, 0);
  const f = armFigures(store, 0);
  assert.deepEqual([f.counted, f.source, f.settled, f.usage_us], [true, "rounds", 4, 800_000]);
  assert.deepEqual([f.window_us, f.throttled_us], [2e6, 360_000], "they ran at the same time");
  store.applyRow({ s: 1e6, k: "totals", repeat: 1, group: "pair", ...counters(900_000) });
  const one = armFigures(store, 0, { only: 1 });
  assert.deepEqual([one.source, one.usage_us, one.settled], ["totals", 900_000, 4]);
});

test("a share is over the repeats that are done; the one under way gives the latest report", () => {
  const store = pods(3, 4);
  const share = (name) => shareOf(store, store.arms[0], store.arms[0].units.find((u) => u.name === name));
  assert.deepEqual(share("pair.small"), { mean: 0.1, latest: 0.2, reports: 7 });
  store.repeats[1].state = "done";
  assert.ok(Math.abs(share("pair.small").mean - 0.15) < 1e-9);
  assert.ok(Math.abs(share("pair").mean - 0.45) < 1e-9);
});

test("of one CPU is said only of a unit that is kept on one", () => {
  const store = storeOf(POD);
  const [pod] = store.arms[0].units;
  assert.equal(plain(shareWords(store, { ...pod, pinned_cpus: 1 }, 0.25)), "25.0 % of one CPU");
  assert.equal(plain(shareWords(store, { ...pod, pinned_cpus: null }, 0.25)), "0.250 CPU of 2");
});

test("what a service used over its whole repeat is in the samples, its warm-up included", () => {
  const { store, put } = served();
  const [repeat] = store.repeats;
  repeat.lab = { window_us: 10e6, machine_busy_us: 5e6, steal_us: 0, cpus: 2, lab_cpu_us: 1, load_1m: 1 };
  for (const group of ["server", "server.2", "load"]) put({ k: "totals", group, ...counters(1000) });
  assert.deepEqual([footprint(store, repeat).used, footprint(store, repeat).other], [null, null]);
  for (const [group, used] of [["server", 3e6], ["server.2", 1e6], ["load", 5e5]]) {
    put(row([[0, 100, 0, 0, 0], [5e6, 200, 0, 0, 0]], { group }));
    put(row([[9e6, 100 + used, 0, 0, 0]], { group }));
  }
  assert.equal(footprint(store, repeat).used, 0.45);
  assert.ok(Math.abs(footprint(store, repeat).other - 0.05) < 1e-9);
});
