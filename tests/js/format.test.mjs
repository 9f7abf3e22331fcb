import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as format from "../../static/js/format.js";
import { keepExtremes, keepLargest } from "../../static/js/decimate.js";

// The same table is read by tests/web/test_quantities.py: one rule on both sides.
const table = JSON.parse(readFileSync(new URL("numbers.json", import.meta.url)));
const plain = (text) => text.replaceAll("\u00a0", " ").replaceAll("\u2009", "_");

for (const [name, cases] of Object.entries(table)) {
  test(`format ${name}`, () => {
    for (const [value, expected] of cases)
      assert.equal(plain(format[name](value)), expected, `${value}`);
  });
}

test("extremes survive decimation", () => {
  const values = Array.from({ length: 10_000 }, (_, i) => Math.sin(i) * 10);
  values[1234] = 999;
  values[8765] = -999;
  values[5] = null;
  const kept = keepExtremes(values, 2000);
  assert.ok(kept.length <= 2000);
  assert.ok(kept.includes(1234) && kept.includes(8765));
  assert.deepEqual(
    kept,
    [...kept].sort((a, b) => a - b),
  );
  assert.deepEqual(keepExtremes([3, 1], 10), [0, 1]);
});

test("bars keep the largest of each stretch", () => {
  const values = Array.from({ length: 1000 }, (_, i) => (i === 777 ? 9 : i % 3 === 0 ? null : 1));
  const kept = keepLargest(values, 100);
  assert.equal(kept.length, 100);
  assert.ok(kept.includes(777));
  assert.deepEqual(keepLargest([1, null], 5), [0, 1]);
});
