import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { SampleSeries } from "../../static/js/samples.js";
import { StripModel } from "../../static/js/strip-model.js";
import { random, row, throttledGroup } from "./support.mjs";

const sum = (cells, name) => cells.reduce((total, cell) => total + cell[name], 0);

function feed(samples, options, chunk = samples.length) {
  const series = new SampleSeries();
  const model = new StripModel(options);
  for (let i = 0; i < samples.length; i += chunk) {
    series.add(row(samples.slice(i, i + chunk)));
    series.settle();
    model.feed(series);
  }
  return model;
}

const kindsAt = (model, t, live = false) => model.slices(t, t + 1, live)[0]?.kind;

test("used and paused over the cells are exactly last minus first", () => {
  const next = random(7);
  for (let round = 0; round < 300; round += 1) {
    const period = [5000, 10_000, 100_000, 1_000_000][Math.floor(next() * 4)];
    let t = Math.floor(next() * 1e12);
    let [usage, periods, throttled, paused] = [1, 2, 3, 4].map(() => Math.floor(next() * 1e9));
    const samples = [];
    for (let i = 0; i < 5 + next() * 300; i += 1) {
      samples.push([t, usage, periods, throttled, paused]);
      t += Math.floor(1 + (next() < 0.05 ? next() * 400_000 : 15_000 + next() * 10_000));
      if (next() < 0.5) usage += Math.floor(next() * 30_000);
      if (next() < 0.3) paused += Math.floor(next() * 200_000);
      if (next() < 0.3) throttled += 1;
      if (next() < 0.4) periods += 1;
    }
    const model = feed(
      samples,
      { periodUs: period, quotaUs: period / 2, cpus: 2 },
      1 + Math.floor(next() * 9),
    );
    const cells = model.cells();
    assert.equal(sum(cells, "used_us"), samples.at(-1)[1] - samples[0][1]);
    assert.equal(sum(cells, "paused_us"), samples.at(-1)[4] - samples[0][4]);
    for (const cell of cells) {
      assert.ok(cell.used_us >= 0 && cell.paused_us >= 0);
      for (let i = 1; i < cell.slices.length; i += 1)
        assert.ok(cell.slices[i].t0 >= cell.slices[i - 1].t1);
    }
  }
});

test("fed whole or sample by sample, the strip is the same", () => {
  const samples = throttledGroup({
    quota: 50_000,
    period: 100_000,
    cpus: 2,
    work: 160_000,
    every: 1e6,
    until: 3e6,
    dt: 20_000,
    phase: 37_000,
  });
  const options = { periodUs: 100_000, quotaUs: 50_000, cpus: 2 };
  assert.deepEqual(feed(samples, options, 1).cells(), feed(samples, options).cells());
});

test("samples taken a few at a time give the same cells as taken at once", () => {
  const quota = { quota: 50_000, period: 100_000, cpus: 2, work: 160_000, every: 1e6 };
  const samples = throttledGroup({ ...quota, until: 6e6, dt: 10_000 });
  const options = { periodUs: 100_000, quotaUs: 50_000, cpus: 2 };
  const series = new SampleSeries();
  series.add(row(samples));
  series.settle();
  const model = new StripModel(options);
  let slices = 1;
  while (!model.feed(series, () => false)) slices += 1;
  assert.ok(slices > 5);
  assert.deepEqual(model.cells(), feed(samples, options).cells());
});

test("pauses are drawn where the group stood still, and idle stays idle", () => {
  const samples = throttledGroup({
    quota: 50_000,
    period: 100_000,
    cpus: 2,
    work: 160_000,
    every: 1e6,
    until: 2e6,
    dt: 20_000,
  });
  const model = feed(samples, { periodUs: 100_000, quotaUs: 50_000, cpus: 2 });
  const start = samples[0][0];
  assert.equal(kindsAt(model, start + 10_000), "running");
  assert.equal(kindsAt(model, start + 70_000), "paused");
  assert.equal(kindsAt(model, start + 170_000), "paused");
  assert.equal(kindsAt(model, start + 700_000), "idle");
  assert.equal(kindsAt(model, start + 990_000), "idle");
});

test("a period quota far above its use never pauses", () => {
  const samples = throttledGroup({
    quota: 200_000,
    period: 100_000,
    cpus: 2,
    work: 100_000,
    every: 1e6,
    until: 2e6,
    dt: 20_000,
  });
  const model = feed(samples, { periodUs: 100_000, quotaUs: 200_000, cpus: 2 });
  assert.ok(!model.cells().some((cell) => cell.state === "paused"));
});

test("the flat tail is open until usage moves, a booking comes or the timer has stopped", () => {
  const samples = throttledGroup({
    quota: 50_000,
    period: 100_000,
    cpus: 2,
    work: 160_000,
    every: 1e6,
    until: 80_000,
    dt: 20_000,
  });
  const options = { periodUs: 100_000, quotaUs: 50_000, cpus: 2 };
  const model = feed(samples, options);
  const tail = samples.at(-1)[0] - 5000;
  assert.equal(kindsAt(model, tail, true), "open");
  assert.equal(kindsAt(model, tail, false), "unknown");
  assert.equal(model.cells({ live: true })[0].state, "open");
  const last = samples.at(-1);
  const later = [...samples];
  for (let i = 1; i <= 12; i += 1) later.push([last[0] + i * 20_000, ...last.slice(1)]);
  assert.equal(kindsAt(feed(later, options), last[0] + 1, true), "idle");
  assert.equal(kindsAt(feed(later, options), last[0] + 230_000, true), "idle");
});

test("a long freeze of a long period stays open while throttled periods are counted", () => {
  const samples = [];
  for (let i = 0; i < 10; i += 1) samples.push([i * 20_000, i * 40_000, 1, 0, 0]);
  for (let i = 10; i < 60; i += 1)
    samples.push([i * 20_000, 360_000, 1 + Math.floor(i / 15), Math.floor(i / 15), 0]);
  const model = feed(samples, { periodUs: 300_000, quotaUs: 200_000, cpus: 2 });
  assert.equal(kindsAt(model, 1_100_000, true), "open");
});

test("without a quota nothing is paused or open", () => {
  const samples = Array.from({ length: 30 }, (_, i) => [
    i * 20_000,
    i < 5 ? i * 20_000 : 80_000,
    null,
    null,
    null,
  ]);
  const model = feed(samples, { periodUs: 100_000, quotaUs: null, cpus: 2 });
  assert.equal(kindsAt(model, 500_000, true), "idle");
  assert.equal(model.cells()[0].paused_us, null);
  assert.equal(sum(model.cells(), "used_us"), 80_000);
});

test("a gap in the samples is unknown, never running or idle", () => {
  const samples = [];
  for (let i = 0; i < 20; i += 1) samples.push([i * 20_000, i * 10_000, 0, 0, 0]);
  for (let i = 30; i < 50; i += 1) samples.push([i * 20_000, i * 10_000, 0, 0, 0]);
  const model = feed(samples, { periodUs: 100_000, quotaUs: 100_000, cpus: 2 });
  for (let t = 381_000; t < 599_000; t += 7000) assert.equal(kindsAt(model, t), "unknown");
  assert.equal(kindsAt(model, 620_000), "running");
  assert.equal(sum(model.cells(), "used_us"), 490_000);
});

test("a paused counter that is missing under a quota makes stillness unknown", () => {
  const samples = Array.from({ length: 30 }, (_, i) => [
    i * 20_000,
    i < 5 ? i * 20_000 : 80_000,
    null,
    null,
    null,
  ]);
  const model = feed(samples, { periodUs: 100_000, quotaUs: 50_000, cpus: 2 });
  assert.equal(kindsAt(model, 300_000), "unknown");
  assert.equal(model.cells()[0].paused_us, null);
});

test("a usage that is missing everywhere is not measured", () => {
  const samples = Array.from({ length: 5 }, (_, i) => [i * 20_000, null, null, null, null]);
  assert.deepEqual(feed(samples, { periodUs: 100_000, quotaUs: 50_000 }).cells(), []);
});

test("a reset of the counters is unknown and adds nothing negative", () => {
  const samples = [];
  for (let i = 0; i < 10; i += 1) samples.push([i * 20_000, 1e6 + i * 10_000, 1, 1, 1]);
  for (let i = 10; i < 20; i += 1) samples.push([i * 20_000, (i - 10) * 10_000, 0, 0, 0]);
  const model = feed(samples, { periodUs: 100_000, quotaUs: 50_000, cpus: 2 });
  assert.equal(model.resets, 1);
  assert.equal(kindsAt(model, 190_000), "unknown");
  assert.equal(sum(model.cells(), "used_us"), 180_000);
});

test("the grid follows the kernel's period timer, with its uncertainty", () => {
  const samples = throttledGroup({
    quota: 50_000,
    period: 100_000,
    cpus: 2,
    work: 160_000,
    every: 1e6,
    until: 3e6,
    dt: 20_000,
    phase: 37_000,
  });
  const { phase, uncertainty } = feed(samples, { periodUs: 100_000, quotaUs: 50_000, cpus: 2 }).grid;
  assert.ok(Math.abs(phase - 37_000) <= uncertainty, `phase ${phase}`);
  assert.equal(uncertainty, 10_000);
  const still = Array.from({ length: 5 }, (_, i) => [777 + i * 20_000, 0, 0, 0, 0]);
  assert.deepEqual(feed(still, { periodUs: 100_000, quotaUs: 1000 }).grid, {
    phase: 777,
    uncertainty: null,
  });
});

test("a recording of a real kernel adds up to the arm's totals", () => {
  const recorded = JSON.parse(readFileSync(new URL("recorded-limit-500m.json", import.meta.url)));
  const series = new SampleSeries();
  for (const part of recorded.rows) series.add(part);
  assert.equal(series.settle(), true);
  const model = new StripModel({
    periodUs: recorded.period_us,
    quotaUs: recorded.quota_us,
    cpus: recorded.cpus,
  });
  model.feed(series);
  const cells = model.cells();
  assert.equal(sum(cells, "used_us"), recorded.totals.usage_us);
  assert.equal(sum(cells, "paused_us"), recorded.totals.throttled_us);
  assert.equal(model.totals.periods, recorded.totals.nr_periods);
  assert.equal(model.totals.throttled, recorded.totals.nr_throttled);
  assert.equal(model.span.t1 - model.span.t0, recorded.totals.window_us);
  assert.ok(cells.some((cell) => cell.state === "paused"));
});
