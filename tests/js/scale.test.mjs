import assert from "node:assert/strict";
import { test } from "node:test";

import {
  geometry,
  nearest,
  niceStep,
  panelHeight,
  roundTicks,
  valueTicks,
} from "../../static/js/scale.js";

const PANEL = { width: 500, height: panelHeight(56, false), axis: "", range: [0.4, 20.6], top: 10 };

test("steps are round numbers that are not too small", () => {
  assert.deepEqual([0.011, 1, 1.1, 2, 30, 70].map(niceStep), [0.02, 1, 2, 2, 50, 100]);
});

test("a pixel leads back to its round, and never out of the plot", () => {
  const at = geometry(PANEL);
  for (const round of [1, 7.5, 20]) assert.ok(Math.abs(at.roundAt(at.x(round)) - round) < 1e-9);
  assert.deepEqual([at.roundAt(-50), at.roundAt(5000)], PANEL.range);
  assert.equal(at.y(0), at.base);
  assert.equal(at.y(10), at.ceiling);
});

test("panels with and without an axis have plots of one size on one scale", () => {
  const bare = geometry(PANEL);
  const ruled = geometry({ ...PANEL, axis: "round", height: panelHeight(56, true) });
  assert.equal(ruled.base - ruled.ceiling, bare.base - bare.ceiling);
  assert.equal(ruled.x(9), bare.x(9));
});

test("every scale has 0 and one more value at least, none above its top", () => {
  for (const top of [1.12, 2.24, 3, 26, 73, 219, 1999, 2.1e6]) {
    for (const height of [68, 98, 144]) {
      const ticks = valueTicks(top, height);
      assert.ok(ticks.length >= 2 && ticks.length <= 9, `${top} ${height}: ${ticks.length}`);
      assert.equal(ticks[0].text, "0");
      assert.ok(ticks.at(-1).value <= top * 1.001);
    }
  }
  assert.deepEqual(
    valueTicks(2240, 144).map(({ text }) => text),
    ["0", "1\u2009000", "2\u2009000"],
  );
  assert.deepEqual(
    valueTicks(1.12, 68).map(({ text }) => text),
    ["0", "1"],
  );
});

test("round ticks are whole rounds from 1 on, with room between them", () => {
  assert.deepEqual(roundTicks([0.4, 20.6], 440), [5, 10, 15, 20]);
  assert.deepEqual(roundTicks([4, 6.2], 440), [4, 5, 6]);
  assert.deepEqual(roundTicks([0.4, 1.6], 440), [1]);
  const many = roundTicks([0.4, 10_000.6], 440);
  assert.ok(many.length <= 10 && many.every((n) => Number.isInteger(n) && n >= 1));
});

test("the nearest of ascending values is found", () => {
  assert.equal(nearest([], 3), -1);
  assert.equal(nearest([4], -100), 0);
  const xs = [1, 4, 9, 20];
  for (const x of [-5, 1, 2.4, 2.6, 8, 14, 15, 99]) {
    const best = Math.min(...xs.map((value) => Math.abs(value - x)));
    assert.equal(Math.abs(xs[nearest(xs, x)] - x), best);
  }
});
