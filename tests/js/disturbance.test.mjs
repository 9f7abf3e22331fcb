import assert from "node:assert/strict";
import { test } from "node:test";

import { disturbanceOf, disturbed, doubt, footprint, runWords } from "../../static/js/disturbance.js";
import { armFigures } from "../../static/js/figures.js";
import { RunStore } from "../../static/js/run-store.js";
import { measured } from "../../static/js/view-band.js";
import { COUNTERS } from "./support.mjs";

const plain = (text) => text.replace(/\u00a0/g, " ");

const arm = (index, label, quota_us) => ({
  index,
  name: label,
  label,
  quota_us,
  period_us: 100_000,
  threads: 8,
  work_us: 20_000,
  rounds: 2,
});

const quiet = { window_us: 2e6, machine_busy_us: 400_000, steal_us: 0, cpus: 2, lab_cpu_us: 9, load_1m: 1 };

/** Two arms of one repeat of two rounds, 160 ms used in each. */
function measuredRun({ labs = [quiet, quiet], delay = 500_000, paused = 0, status = "finished" } = {}) {
  const store = new RunStore({
    status,
    counters: COUNTERS,
    cpus: 2,
    arms: [arm(0, "no limit", null), arm(1, "limit 1", 100_000)],
    repeats: [0, 1].map((i) => ({ id: i + 1, arm: i, n: 1, state: "done", lab: labs[i] })),
  });
  let s = 0;
  for (const repeat of [1, 2]) {
    for (const n of [1, 2]) {
      const at = { s: ++s, repeat, group: "app", n };
      store.applyRow({ ...at, k: "round", start_us: n * 1e6, wall_us: 100_000 });
      const throttled_us = repeat === 2 ? paused : null;
      const counters = { window_us: 1e6, usage_us: 160_000, throttled_us, run_delay_us: delay };
      store.applyRow({ ...at, s: ++s, k: "settled", ...counters });
    }
  }
  return { store, figures: (index) => armFigures(store, index) };
}

const of = ({ store, figures }, index) => disturbanceOf(store, store.arms[index], figures(index));

test("other work is what the machine used less the group's own", () => {
  const { store } = measuredRun();
  const seen = footprint(store, store.repeats[0]);
  assert.equal(seen.used, 0.16);
  assert.ok(Math.abs(seen.other - 0.04) < 1e-9);
  assert.equal(seen.steal, 0);
});

test("nothing is said of a footprint that was not taken", () => {
  const run = measuredRun({ labs: [null, { ...quiet, machine_busy_us: null, steal_us: null }] });
  assert.equal(footprint(run.store, run.store.repeats[0]), null);
  assert.equal(footprint(run.store, run.store.repeats[1]).other, null);
  assert.equal(disturbed(of(run, 1)), false);
  assert.match(runWords(run.store, run.figures).text, /not known/);
});

test("a quiet machine is said to be quiet", () => {
  const run = measuredRun();
  assert.equal(disturbed(of(run, 0)), false);
  const { level, text } = runWords(run.store, run.figures);
  assert.equal(level, "ok");
  assert.match(text, /at most 0\.0400 of 2 CPUs/);
  assert.equal(doubt(run.store, run.store.arms[1], run.store.arms[0], run.figures), "");
});

test("much other work names the arm and the figure, and forbids the comparison", () => {
  const run = measuredRun({ labs: [quiet, { ...quiet, machine_busy_us: 3_120_000 }] });
  const { level, text } = runWords(run.store, run.figures);
  assert.equal(level, "warn");
  assert.match(text, /1\.40 of 2 CPUs while limit 1 was measured: its walls hold waiting/);
  const { arms } = run.store;
  assert.match(doubt(run.store, arms[1], arms[0], run.figures), /1\.40 of 2 CPUs while it was/);
});

test("a disturbed arm without a limit forbids every comparison", () => {
  const run = measuredRun({ labs: [{ ...quiet, machine_busy_us: 3_120_000 }, quiet] });
  const { arms } = run.store;
  assert.match(doubt(run.store, arms[1], arms[0], run.figures), /while no limit was measured/);
});

test("steal above 5 % counts, below it does not", () => {
  const steal = (steal_us) => of(measuredRun({ labs: [quiet, { ...quiet, steal_us }] }), 1).steal;
  assert.equal(steal(240_000), 0.06);
  assert.equal(steal(160_000), null);
});

test("waiting counts beyond pauses and the threads' own sharing, and only under a limit", () => {
  assert.equal(of(measuredRun({ delay: 500_000 }), 1).waited, null); // 480 ms are their sharing
  assert.equal(of(measuredRun({ delay: 900_000 }), 1).waited, 420_000);
  assert.equal(of(measuredRun({ delay: 900_000 }), 0).waited, null);
  assert.equal(of(measuredRun({ delay: 900_000, paused: 100_000 }), 1).waited, null);
  assert.equal(of(measuredRun({ delay: null }), 1).waited, null);
});

test("notes of missed samples are kept with their repeat", () => {
  const run = measuredRun();
  const text = "The sampler missed 40 of 200 readings: the machine was busy.";
  run.store.applyRow({ s: 90, k: "note", repeat: 2, level: "info", text, at: 1 });
  assert.equal(disturbed(of(run, 1)), false);
  run.store.applyRow({ s: 91, k: "note", repeat: 2, level: "warning", text, at: 1 });
  assert.deepEqual(of(run, 1).missed, [text]);
  assert.match(runWords(run.store, run.figures).text, /Samples were missed in limit 1/);
});

test("a footprint comes with the event that ends the repeat", () => {
  const run = measuredRun({ labs: [null, null], status: "running" });
  assert.match(runWords(run.store, run.figures).text, /when the first arm is done/);
  run.store.applyRow({ s: 90, k: "repeat", repeat: 1, state: "done", lab: quiet, at: 1 });
  assert.equal(runWords(run.store, run.figures).level, "ok");
});

test("how much was measured: repeats of an arm are not arms", () => {
  const { store } = measuredRun();
  assert.equal(measured(store), "all 2 arms");
  store.repeats[1].state = "failed";
  assert.equal(measured(store), "1 of 2 arms");
  store.repeats.push({ ...store.repeats[0] }, { ...store.repeats[1] });
  assert.equal(measured(store), "2 of 4 repeats");
});

test("other work in each of many arms is a range", () => {
  const busy = { ...quiet, machine_busy_us: 3_120_000 };
  const run = measuredRun({ labs: [busy, { ...busy, machine_busy_us: 3_520_000 }] });
  const both = plain(runWords(run.store, run.figures).text);
  assert.match(both, /1\.40 of 2 CPUs while no limit was measured and 1\.60 while limit 1 was: their/);
  run.store.arms.push(arm(2, "limit 2", 200_000));
  run.store.repeats.push({ ...run.store.repeats[0], id: 3, arm: 2 });
  const all = plain(runWords(run.store, run.figures).text);
  assert.match(all, /1\.40 to 1\.60 of 2 CPUs while each of the 3 arms was measured: their/);
});
