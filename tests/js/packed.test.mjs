import assert from "node:assert/strict";
import { test } from "node:test";

import { decode } from "../../static/js/packed.js";
import { SampleSeries } from "../../static/js/samples.js";
import { pack, random, row } from "./support.mjs";

const asRows = (columns) =>
  Array.from({ length: columns.count }, (_, i) =>
    ["t", "usage", "periods", "throttled", "paused"].map((name) =>
      Number.isNaN(columns[name][i]) ? null : columns[name][i],
    ),
  );

test("packing and unpacking gives the same samples, nulls included", () => {
  const next = random(1);
  for (let round = 0; round < 200; round += 1) {
    const samples = Array.from({ length: Math.floor(next() * 40) }, () =>
      Array.from({ length: 5 }, () => (next() < 0.15 ? null : Math.floor(next() * 2 ** (next() * 51)))),
    );
    assert.deepEqual(asRows(decode(pack(samples))), samples);
  }
});

test("values above 32 bits survive", () => {
  const samples = [
    [2 ** 50 + 1, 2 ** 40, 0, null, 2 ** 33],
    [2 ** 50 + 20_001, 2 ** 40 + 3, 1, 4, 5],
  ];
  assert.deepEqual(asRows(decode(pack(samples))), samples);
});

test("a truncated, padded or boastful block is refused", () => {
  const bytes = Buffer.from(
    pack([
      [1, 2, 3, 4, 5],
      [6, 7, 8, 9, 10],
    ]),
    "base64",
  );
  assert.throws(() => decode(bytes.subarray(0, bytes.length - 1).toString("base64")), RangeError);
  assert.throws(() => decode(Buffer.concat([bytes, Buffer.from([0])]).toString("base64")), RangeError);
  assert.throws(() => decode(Buffer.from([255, 255, 255, 127]).toString("base64")), RangeError);
});

test("a block that repeats frames adds only what is new", () => {
  const all = Array.from({ length: 50 }, (_, i) => [1000 + i * 20, i, i, i, i]);
  const series = new SampleSeries();
  series.add(row(all.slice(0, 5)));
  series.add(row(all.slice(5, 10)));
  assert.equal(series.add(row(all.slice(2, 8))), false);
  assert.equal(series.add(row(all.slice(0, 50))), true);
  assert.equal(series.settle(), true);
  assert.deepEqual(
    Array.from(series.t.subarray(0, series.length)),
    all.map((s) => s[0]),
  );
});

test("an unreadable block leaves a hole and is counted", () => {
  const series = new SampleSeries();
  series.add({ t0: 1, t1: 2, count: 2, data: "////" });
  series.add(row([[40, 1, 1, 1, 1]]));
  series.settle();
  assert.equal(series.problems, 1);
  assert.equal(series.length, 1);
});
