import assert from "node:assert/strict";
import { test } from "node:test";

import { armFigures, armState, percentile, timeLeft } from "../../static/js/figures.js";
import { RunStore } from "../../static/js/run-store.js";
import { COUNTERS, random, row } from "./support.mjs";

const data = () => ({
  counters: COUNTERS,
  status: "queued",
  reason: "",
  started_at: null,
  finished_at: null,
  arms: [
    { index: 0, name: "none", rounds: 20, interval_us: 1e6, quota_us: null, period_us: 100_000 },
    { index: 1, name: "limit-1", rounds: 20, interval_us: 1e6, quota_us: 100_000, period_us: 100_000 },
  ],
  repeats: [
    { id: 11, arm: 0, n: 1, state: "waiting", reason: "" },
    { id: 12, arm: 1, n: 1, state: "waiting", reason: "" },
  ],
});

function history(next, rounds = 60) {
  const rows = [{ s: 1, k: "run", status: "running", reason: "", at: 5 }];
  for (const repeat of [11, 12]) {
    rows.push({
      k: "repeat",
      repeat,
      arm: repeat - 11,
      n: 1,
      state: "measuring",
      reason: "",
      at: 9,
      readback: null,
    });
    for (let n = 1; n <= rounds / 2; n += 1) {
      const t = repeat * 1e6 + n * 1000;
      rows.push(
        row(
          [
            [t, n, 0, 0, 0],
            [t + 500, n, 0, 0, 0],
          ],
          { repeat, group: "app" },
        ),
      );
      rows.push({
        k: "round",
        repeat,
        group: "app",
        n,
        start_us: t,
        wall_us: Math.floor(next() * 1e5),
        window_us: 9,
        usage_us: 1,
      });
      rows.push({
        k: "settled",
        repeat,
        group: "app",
        n,
        window_us: 1e6,
        usage_us: 160_000,
        nr_periods: 2,
        nr_throttled: 1,
        throttled_us: repeat === 12 ? 1000 : 0,
      });
    }
    rows.push({
      k: "repeat",
      repeat,
      arm: repeat - 11,
      n: 1,
      state: "done",
      reason: "",
      at: 99,
      readback: null,
    });
  }
  rows.push({ k: "run", status: "finished", reason: "", at: 100 });
  rows.forEach((r, i) => {
    r.s = i + 1;
  });
  return rows;
}

const snapshot = (store) => ({
  status: store.run.status,
  last: store.last,
  rounds: store.rounds,
  log: store.log.length,
  repeats: store.repeats.map((repeat) => {
    const group = store.measured(repeat);
    group?.samples.settle();
    return [
      repeat.state,
      group?.rounds ?? [],
      group ? Array.from(group.samples.t.subarray(0, group.samples.length)) : [],
    ];
  }),
});

const messagesFrom = (rows, since, next) => {
  const out = [];
  let prev = since;
  let rest = rows.filter((r) => r.s > since);
  while (rest.length) {
    const take = 1 + Math.floor(next() * 7);
    const part = rest.slice(0, take);
    rest = rest.slice(take);
    out.push({ t: "rows", prev, last: part.at(-1).s, rows: part });
    prev = part.at(-1).s;
  }
  return out;
};

test("the list equals the rows under dropped, doubled and reordered messages", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const next = random(seed);
    const rows = history(next);
    const truth = new RunStore(data());
    truth.apply({ t: "rows", last: rows.length, rows });
    const store = new RunStore(data());
    for (let connection = 0; connection < 500 && store.last < rows.length; connection += 1) {
      const messages = messagesFrom(rows, store.last, next);
      for (let i = 0; i < messages.length; i += 1) {
        if (next() < 0.1) messages.splice(i, 1);
        else if (next() < 0.1) messages.splice(i, 0, messages[i]);
        else if (i > 0 && next() < 0.1) [messages[i - 1], messages[i]] = [messages[i], messages[i - 1]];
      }
      for (const message of messages) {
        if (next() < 0.02) break; // the connection is lost
        if (store.apply(message)) break;
      }
      store.apply({ t: "beat", last: rows.length });
    }
    assert.deepEqual(snapshot(store), snapshot(truth));
  }
});

test("rows that are known change nothing", () => {
  const rows = history(random(3));
  const store = new RunStore(data());
  store.apply({ t: "rows", last: rows.length, rows });
  const before = JSON.stringify(snapshot(store));
  store.apply({ t: "rows", last: rows.length, rows });
  for (const r of rows) assert.equal(store.applyRow(r), false);
  assert.equal(JSON.stringify(snapshot(store)), before);
});

test("a beat ahead of us asks once for what is missing", () => {
  const store = new RunStore(data());
  assert.equal(store.apply({ t: "beat", last: 4 }), true);
  assert.equal(store.apply({ t: "beat", last: 4 }), false);
  assert.equal(store.apply({ t: "end", last: 0 }), false);
});

test("figures: sums of settled rounds, null stays null, p95 needs 20", () => {
  const rows = history(random(3), 60);
  const store = new RunStore(data());
  store.apply({ t: "rows", last: rows.length, rows });
  const limited = armFigures(store, 1);
  assert.equal(limited.n, 30);
  assert.equal(limited.paused, 30);
  assert.equal(armFigures(store, 0).paused, 0);
  assert.equal(limited.usage_us, 30 * 160_000);
  assert.equal(limited.cpus, 0.16);
  assert.equal(limited.run_delay_us, null);
  assert.equal(percentile([1, 2, 3], 95), null);
  assert.equal(
    percentile(
      Array.from({ length: 20 }, (_, i) => i),
      95,
    ),
    18,
  );
  assert.equal(percentile([4, 5, 6, 7], 50), 5);
});

test("states and time left follow the plan", () => {
  const store = new RunStore(data());
  assert.equal(armState(store, 0), "waiting");
  assert.equal(timeLeft(store, 0), null);
  store.applyRow({ s: 1, k: "run", status: "running", reason: "", at: 1000 });
  assert.equal(timeLeft(store, 1000), 2 * 20_800_000);
  store.applyRow({ s: 2, k: "repeat", repeat: 11, state: "failed", reason: "gone", at: 2000 });
  assert.equal(armState(store, 0), "failed");
  assert.equal(timeLeft(store, 2000), 20_800_000);
  store.applyRow({ s: 3, k: "run", status: "cancelled", reason: "gone", at: 3000 });
  assert.equal(armState(store, 0), "cancelled");
});
