import assert from "node:assert/strict";
import { test } from "node:test";

import { roundsOf } from "../../static/js/arm-rows.js";
import { armFigures } from "../../static/js/figures.js";
import {
  axisOf,
  panelWords,
  pointsOf,
  topOf,
  valuesOf,
} from "../../static/js/rounds-data.js";
import { RunStore } from "../../static/js/run-store.js";
import { COUNTERS, random } from "./support.mjs";

const data = () => ({
  counters: COUNTERS,
  status: "running",
  arms: [{ index: 0, name: "one", rounds: 20, quota_us: 1 }],
  repeats: [1, 2].map((n) => ({ id: n, arm: 0, n, state: "measuring" })),
});

const counters = (n, extra = {}) => ({
  window_us: 1000 + n,
  usage_us: 10 * n,
  nr_periods: 4,
  nr_throttled: n % 3,
  throttled_us: (n % 3) * 1000,
  run_delay_us: 5,
  ...extra,
});

/** Rounds and their settled counters, repeat by repeat, some settled late and some never. */
function rows(next, rounds = 300) {
  const found = [];
  for (const repeat of [1, 2]) {
    let waiting = [];
    for (let n = 1; n <= rounds; n += 1) {
      const wall_us = Math.round(next() * 1e6);
      found.push({ k: "round", repeat, group: "app", n, start_us: n, wall_us, ...counters(n) });
      waiting.push(n);
      if (next() < 0.3) continue;
      const extra = next() < 0.002 ? { run_delay_us: null } : {};
      for (const late of waiting) {
        if (next() < 0.9)
          found.push({ k: "settled", repeat, group: "app", n: late, ...counters(late, extra) });
      }
      waiting = [];
    }
  }
  return found.map((row, i) => ({ s: i + 1, ...row }));
}

const whole = (all, upto) => {
  const store = new RunStore(data());
  for (const row of all.slice(0, upto)) store.applyRow(row);
  return store;
};

test("figures and rounds that grow with the rows equal those made at once", () => {
  for (let seed = 1; seed <= 5; seed += 1) {
    const all = rows(random(seed));
    const store = new RunStore(data());
    all.forEach((row, i) => {
      store.applyRow(row);
      if (i % 97 !== 0 && i !== all.length - 1) return;
      const fresh = whole(all, i + 1);
      assert.deepEqual(armFigures(store, 0), armFigures(fresh, 0));
      const keys = (of) => roundsOf(of, 0).map(({ repeat, round }) => `${repeat.n} ${round.n}`);
      assert.deepEqual(keys(store), keys(fresh));
    });
    assert.equal(roundsOf(store, 0).length, 600);
  }
});

test("an earlier repeat that gets a round later keeps the order of the repeats", () => {
  const store = new RunStore(data());
  const put = (s, repeat, n) =>
    store.applyRow({ s, k: "round", repeat, group: "app", n, start_us: n, wall_us: n });
  const seen = () => roundsOf(store, 0).map(({ repeat, round }) => `${repeat.n}.${round.n}`);
  put(1, 2, 1);
  assert.deepEqual(seen(), ["2.1"]);
  put(2, 1, 1);
  assert.deepEqual(seen(), ["1.1", "2.1"]);
  put(3, 1, 2);
  put(4, 2, 2);
  assert.deepEqual(seen(), ["1.1", "1.2", "2.1", "2.2"]);
  assert.deepEqual(
    axisOf(store, 0).splits.map(({ x, n }) => [x, n]),
    [
      [0.5, 1],
      [2.5, 2],
    ],
  );
});

test("points are the rounds of the range, thinned but never without their largest", () => {
  const store = whole(rows(random(9), 2000));
  const { rows: axis } = axisOf(store, 0);
  for (const measure of ["wall", "paused"]) {
    const { values, largest } = valuesOf(axis, measure);
    const points = pointsOf(axis, values, measure);
    assert.ok(points.thinned && points.x.length <= 280);
    assert.equal(points.total, 4000);
    assert.equal(Math.max(...points.y), largest);
    points.x.forEach((x, i) => assert.equal(points.y[i], values[x - 1]));
    const few = pointsOf(axis, values, measure, [10.5, 20.5]);
    assert.deepEqual(few.x, [11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    assert.deepEqual(few.y, values.slice(10, 20));
  }
});

test("what was not measured is no value and is said", () => {
  const store = whole([
    { s: 1, k: "round", repeat: 1, group: "app", n: 1, start_us: 1, wall_us: 2500 },
  ]);
  const { rows: axis } = axisOf(store, 0);
  assert.deepEqual(valuesOf(axis, "usage"), { values: [null], largest: null });
  assert.equal(panelWords(1, null, "usage"), "1 round, not measured");
  assert.equal(panelWords(0, null, "usage"), "no round yet");
  assert.equal(panelWords(12, 4, "throttled"), "12 rounds, at most 4 in a round");
  assert.equal(panelWords(12, 0, "paused"), "12 rounds, at most 0 CPU ms, summed over CPUs in a round");
  assert.equal(panelWords(1200, 12.5, "wall"), "1\u2009200 rounds, at most 12.5 ms in a round");
  assert.equal(topOf([null, null]), 1.12);
});
