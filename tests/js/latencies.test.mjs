import assert from "node:assert/strict";
import { test } from "node:test";

import { addFacts, addServers, errorWords, Latencies } from "../../static/js/latencies.js";
import { random } from "./support.mjs";

const pairs = (values) => {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => a - b);
};

test("added up in any parts, percentiles are the nearest ranks of all values", () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const next = random(seed);
    const all = [];
    const whole = new Latencies();
    for (let part = 0; part < 8; part += 1) {
      const values = Array.from({ length: Math.floor(next() * 400) }, () => 1 + Math.floor(next() ** 4 * 5000));
      all.push(...values);
      whole.add({ counts: pairs(values), max: values.length ? Math.max(...values) : null, errors: {} });
    }
    all.sort((a, b) => a - b);
    const summary = whole.summary();
    assert.equal(summary.n, all.length);
    assert.equal(summary.max, all.at(-1));
    for (const [name, p] of [["p50", 50], ["p90", 90], ["p95", 95], ["p99", 99]]) {
      assert.equal(summary[name], all[Math.ceil((p * all.length) / 100) - 1], `${seed} ${name}`);
    }
    const rank = Math.ceil((999 * all.length) / 1000);
    assert.equal(summary.p999, all.length < 1000 ? null : all[rank - 1]);
  }
});

test("a percentile needs so many values that it differs from the maximum", () => {
  const of = (n) => {
    const latencies = new Latencies();
    latencies.add({ counts: [[5, n]], max: 5, errors: {} });
    return latencies.summary();
  };
  assert.deepEqual([of(9).p90, of(10).p90], [null, 5]);
  assert.deepEqual([of(19).p95, of(20).p95], [null, 5]);
  assert.deepEqual([of(99).p99, of(100).p99], [null, 5]);
  assert.deepEqual([of(999).p999, of(1000).p999], [null, 5]);
  const none = new Latencies().summary();
  assert.deepEqual([none.n, none.p50, none.max], [0, null, null]);
});

test("a value is that of its bucket, and never above the exact largest", () => {
  const latencies = new Latencies();
  latencies.add({ counts: [[10_007, 3]], max: 10_003, errors: {} });
  assert.equal(latencies.percentile(50), 10_003);
});

test("failures are counted by kind, outside the latencies", () => {
  const latencies = new Latencies();
  latencies.add({ counts: [[9, 2]], max: 9, errors: { timeout: 1 } });
  latencies.add({ counts: [], max: null, errors: { timeout: 2, refused: 4 } });
  const { n, max, errors, failed } = latencies.summary();
  assert.deepEqual([n, max, errors, failed], [2, 9, { timeout: 3, refused: 4 }, 7]);
  assert.equal(errorWords(errors), "4 refused, 3 timed out");
  assert.equal(errorWords({ odd_kind: 1, reset: 0 }), "1 odd kind");
  assert.equal(errorWords({}), "");
});

test("facts add up, but for the largest of some; servers add up", () => {
  const facts = {};
  addFacts(facts, { gc_count: 3, heap_bytes_max: 50 });
  addFacts(facts, { gc_count: 4, heap_bytes_max: 40, sent_count: 0 });
  assert.deepEqual(facts, { gc_count: 7, heap_bytes_max: 50, sent_count: 0 });
  const servers = {};
  addServers(servers, { one: { responses: 5, connections: 2 } });
  addServers(servers, { one: { responses: 1, connections: 0 }, two: { responses: 3, connections: 1 } });
  assert.deepEqual(servers, {
    one: { responses: 6, connections: 2 },
    two: { responses: 3, connections: 1 },
  });
});
