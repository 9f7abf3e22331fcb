import assert from "node:assert/strict";
import { test } from "node:test";

import { countersOf, nearestRound } from "../../static/js/beside.js";
import { PanelData } from "../../static/js/chart-panels.js";
import { shareOf, weightRead } from "../../static/js/cpu-reports.js";
import { difference, factsOf, publishedFact } from "../../static/js/facts-rows.js";
import { armFigures } from "../../static/js/figures.js";
import { axisOf, valuesOf } from "../../static/js/rounds-data.js";
import { logTicks } from "../../static/js/scale.js";
import { markWords, roundMarks } from "../../static/js/strip-rounds.js";
import { limitOfUnit, topGroups, unitOf } from "../../static/js/units.js";
import { counters, served, storeOf, unit } from "./services.mjs";

const plain = (text) => text.replace(/[\u00a0\u2009]/g, " ");

test("latencies of an arm are over all of its requests, its counters the servers'", () => {
  const { store } = served();
  const f = armFigures(store, 0);
  assert.equal(f.n, 3);
  assert.deepEqual([f.measures.work_us.n, f.p50, f.p99, f.max], [150, 5000, 9103, 9103]);
  assert.deepEqual(f.measures.work_us.errors, { timeout: 2 });
  assert.deepEqual(f.facts, { sent_count: 156, in_flight_max: 3 });
  assert.deepEqual(f.servers, { "server.1": { responses: 90, connections: 2 } });
  assert.equal(f.took_us, 3e6);
  // Of the servers' six seconds three began before the load counted: those were its warm-up.
  assert.deepEqual([f.nr_throttled, f.nr_periods, f.usage_us], [24, 60, 30_000]);
  assert.deepEqual(f.counted_facts, { gc_count: 6 });
  // Replicas ran at the same time: 30 ms of CPU in 3 s, not in 6; a mean second is one second.
  assert.deepEqual([f.window_us, f.cpus, f.wallPerRound], [3e6, 0.01, 1e6]);
  assert.equal(armFigures(store, 0, { unit: "server.2" }).usage_us, 15_000);
  assert.equal(armFigures(store, 0, { unit: "load" }).n, 3);
  const kept = store.repeats[0].groups.get("load").rounds[0].measures.work_us;
  assert.equal(kept.counts, undefined, "counts are added up and not kept");
});

test("beside a load's second stand its servers' counters of about the same second", () => {
  const { store } = served();
  const [repeat] = store.repeats;
  const [first] = repeat.groups.get("load").rounds;
  // The server's second from 0.7 s on is its third; from 1.7 s on the fourth: 1 s is nearer 0.7 s.
  assert.equal(nearestRound(repeat.groups.get("server").rounds, first).n, 3);
  assert.equal(countersOf(store, repeat, first).usage_us, 6000);
  assert.equal(nearestRound(repeat.groups.get("server").rounds, { start_us: 9e6, wall_us: 1e6 }), null);
  const { rows } = axisOf(store, 0);
  assert.deepEqual(valuesOf(rows, "throttled").values, [8, 8, 8]);
});

test("the chart of a second reaches to its p99, to its slowest where there is none", () => {
  const { store } = served();
  const { rows } = axisOf(store, 0);
  const panel = new PanelData("latency", store.arms[0], rows);
  const points = panel.points(null);
  assert.deepEqual(points.p50, [5, 5, 5]);
  assert.deepEqual(points.high, points.max);
  assert.deepEqual(points.failed, [0, 2, 0]);
  assert.equal(PanelData.scaleOf([panel]).floor, null, "a factor of two needs no logarithm");
  assert.match(plain(panel.say(rows[1], false)), /^Second 2: 50 requests, p50 5\.00 ms, too few for p99, max 9\.10 ms, 2 timed out; throttled periods 8 of 20/);
});

test("published latencies are grey lines, one a published repeat", () => {
  const { store } = served();
  store.arms[0].published = { measures: { work_us: { p50_us: [5100], p99_us: [27_000, 900_000] } } };
  const panel = new PanelData("latency", store.arms[0], axisOf(store, 0).rows);
  assert.deepEqual(panel.lines().map(({ y }) => y), [5.1, 27, 900]);
  assert.equal(panel.publishedWords(false), "grey: published p50 5.10, p99 27.0 and 900 ms");
  assert.equal(PanelData.scaleOf([panel]).floor, 1);
  assert.deepEqual(logTicks(1, 1000, 132).map(({ text }) => text.trim()).slice(0, 2), ["1", "10"]);
});

test("under a strip a second is a stretch that says its requests, never a span", () => {
  const { store } = served();
  const rounds = store.repeats[0].groups.get("load").rounds;
  const marks = roundMarks({ rounds, arm: store.arms[0] }, null, 1e6, 3e6);
  assert.deepEqual(marks.map(({ stretch, pauses }) => [stretch, pauses.length]), [[true, 0], [true, 0]]);
  assert.equal(plain(markWords(store.arms[0], rounds[1])), "second 2: 50 requests, slowest 9.10 ms, 2 timed out");
  assert.equal(plain(markWords({}, { n: 4, wall_us: 12_000 })), "round 4: 12.0 ms");
});

test("the unit that is looked at is the counted one until another is chosen", () => {
  const { store } = served();
  const [arm] = store.arms;
  assert.equal(unitOf(arm).name, "server");
  assert.equal(unitOf(arm, "load").name, "load");
  assert.equal(unitOf(arm, "gone").name, "server");
  const found = { quota_us: 50_000, period_us: 20_000 };
  const repeat = { readback: [{ group: "server", found }] };
  assert.deepEqual(limitOfUnit(arm, unitOf(arm), repeat), found);
  assert.deepEqual(limitOfUnit(arm, unitOf(arm), null), { quota_us: 200_000, period_us: 100_000 });
});

test("warnings of a load are kept with its repeat", () => {
  const { store, put } = served();
  put({ k: "note", level: "warning", text: "The load sent late.", at: 1 });
  put({ k: "note", level: "info", text: "Pinned.", at: 1 });
  assert.deepEqual(store.repeats[0].warnings, ["The load sent late."]);
});

const PAIR = {
  result: "cpu",
  units: [
    unit("pair", { container: null, kind: null, counted: true }),
    unit("pair.small", { container: "small", inside: true, result: true }),
    unit("pair.big", { container: "big", inside: true, result: true }),
  ],
};

test("a share is the mean of the last three reports; a pod is the sum of its containers", () => {
  const store = storeOf(PAIR);
  const [arm] = store.arms;
  const share = (name) => shareOf(store, arm, unitOf(arm, name));
  let s = 0;
  const used = { "pair.small": [900_000, 100_000, 140_000, 180_000], "pair.big": [0, 9e5, 8e5, 7e5] };
  const report = (n) => {
    for (const [group, values] of Object.entries(used)) {
      const row = { repeat: 1, group, n, start_us: n * 1e6, wall_us: 1e6 };
      store.applyRow({ s: ++s, k: "round", ...row, ...counters(values[n - 1]) });
    }
  };
  report(1);
  report(2);
  assert.deepEqual(share("pair.small"), { mean: null, latest: 0.1, reports: 2 });
  report(3);
  report(4);
  assert.deepEqual(share("pair.small"), { mean: 0.14, latest: 0.18, reports: 4 });
  assert.ok(Math.abs(share("pair").mean - 0.94) < 1e-9);
  const panel = new PanelData("cpu", arm, axisOf(store, 0).rows);
  assert.deepEqual(panel.points(null).series.map(({ label }) => label), ["pair.small", "pair.big"]);
  assert.equal(topGroups(store, store.repeats[0]), null, "the whole pod has said nothing yet");
  const level = { path: "/x", weight: null, shares: 102 };
  store.applyRow({ s: ++s, k: "tree", repeat: 1, group: "pair.small", levels: [level] });
  assert.deepEqual(weightRead(store, arm, unitOf(arm, "pair.small")), { name: "shares", value: 102 });
});

test("facts are what the program said and the kernel had; differences have a word", () => {
  const store = storeOf({
    result: null,
    units: [unit("app", { kind: "info", result: true, counted: true })],
    published: { facts: { gomaxprocs: 2, num_cpu: 10, cpu_max: "50000 100000" }, units: null },
  });
  const [arm] = store.arms;
  const [app] = arm.units;
  assert.equal(factsOf(store, arm, app), null);
  const program = { gomaxprocs: 4, num_cpu: 4, env: { GOMAXPROCS: null, GODEBUG: "x=1" } };
  store.applyRow({ s: 1, k: "hello", repeat: 1, group: "app", mono_us: 1, unix_us: 1, program });
  const level = { path: "/x", quota_us: 50_000, period_us: 100_000, weight: 17, shares: null };
  store.applyRow({ s: 2, k: "tree", repeat: 1, group: "app", levels: [level] });
  const facts = factsOf(store, arm, app);
  assert.deepEqual(
    [facts.gomaxprocs, facts.env, facts.cpu_max, facts.weight],
    ["4", "GODEBUG=x=1", "50000 100000", "weight 17"],
  );
  const sizes = { ownCpus: facts.num_cpu, publishedCpus: publishedFact(arm, app, "num_cpu") };
  assert.equal(difference("4", "2", sizes), "differs");
  assert.equal(difference("4", "10", sizes), "all CPUs, there too");
  assert.equal(difference("2", "2", sizes), "");
  assert.equal(difference(null, "2", sizes), "");
});
