import assert from "node:assert/strict";
import { test } from "node:test";

import { cellWords, stripWords } from "../../static/js/strip-words.js";

const cell = (t0, state, used_us = 10_000, paused_us = 0) => ({
  t0,
  t1: t0 + 100_000,
  state,
  used_us,
  paused_us,
  slices: [{ t0, t1: t0 + 100_000, kind: state }],
});
const facts = { zero: 1e6, quotaUs: 50_000, label: "limit 500m" };
const plain = (text) => text.replace(/\u00a0/g, " ");

test("periods before the first sample are not counted", () => {
  const cells = [cell(700_000, "idle"), cell(800_000, "idle"), cell(1e6, "running")];
  const words = plain(stripWords(cells, facts));
  assert.equal(
    words,
    "limit 500m, 0.000 s to 0.100 s, 1 period: 1 running. Used 10.0 CPU ms. Paused 0 CPU ms summed over CPUs.",
  );
});

test("with unknown periods the sums are at least that", () => {
  const cells = [cell(1e6, "paused", 50_000, 60_000), cell(1.1e6, "unknown", 9, 9)];
  const words = plain(stripWords(cells, facts));
  assert.match(words, /2 periods: 1 paused, 1 unknown/);
  assert.match(words, /Used at least 50\.0 CPU ms\. Paused at least 60\.0 CPU ms summed/);
});

test("what was not measured is no sum", () => {
  const words = stripWords([cell(1e6, "running", null, null)], facts);
  assert.match(words, /Used not measured\. Paused not measured\./);
});

test("a cell at the start of an arm says that its beginning is not known", () => {
  const words = plain(cellWords(cell(950_000, "running"), facts));
  assert.match(words, /^Period from before the first sample to 0\.050 s: used at least 10\.0 CPU ms/);
  assert.equal(cellWords(cell(800_000, "idle"), facts), "Before the first sample.");
});
