// Stores of runs whose arms are services or pods, for tests.

import { RunStore } from "../../static/js/run-store.js";
import { COUNTERS } from "./support.mjs";

export const unit = (name, more = {}) => ({
  name,
  group: name.split(".")[0],
  role: "measured",
  container: "app",
  replica: 1,
  inside: false,
  kind: "spin",
  result: false,
  counted: false,
  quota_us: null,
  period_us: 100_000,
  ...more,
});

export const storeOf = (arm) =>
  new RunStore({
    status: "running",
    counters: COUNTERS,
    cpus: 2,
    arms: [{ index: 0, name: "a", label: "a", rounds: 3, period_us: 100_000, quota_us: null, ...structuredClone(arm) }],
    repeats: [{ id: 1, arm: 0, n: 1, state: "measuring" }],
  });

export const counters = (usage_us, more = {}) => ({
  window_us: 1e6,
  usage_us,
  nr_periods: 10,
  nr_throttled: 4,
  throttled_us: 90_000,
  run_delay_us: 100,
  ...more,
});

export const SERVICE = {
  result: "work_us",
  kind: "load",
  units: [
    unit("server", { kind: "serve", counted: true, quota_us: 200_000 }),
    unit("server.2", { group: "server", replica: 2, kind: "serve", counted: true, quota_us: 200_000 }),
    unit("load", { kind: "load", role: "load", result: true }),
  ],
};

/** A load of three seconds on two replicas whose own seconds began 0.3 s and 2.3 s earlier. */
export function served() {
  const store = storeOf(SERVICE);
  let s = 0;
  const put = (row) => store.applyRow({ s: ++s, repeat: 1, ...row });
  for (const group of ["server", "server.2"]) {
    for (let n = 1; n <= 6; n += 1) {
      const at = { group, n, start_us: 700_000 + (n - 3) * 1e6, wall_us: 1e6 };
      put({ k: "round", ...at, ...counters(n * 1000), facts: { gc_count: 1 } });
      put({ k: "settled", group, n, ...counters(n * 1000) });
    }
  }
  for (let n = 1; n <= 3; n += 1) {
    const work_us = { n: 50, p50: 5000, p90: 9000, p95: 9000, p99: null, p999: null, max: 9100 + n };
    const errors = n === 2 ? { timeout: 2 } : {};
    const counts = [[5000, 40], [9200, 10]];
    put({
      k: "round",
      group: "load",
      n,
      start_us: n * 1e6,
      wall_us: 1e6,
      ...counters(7),
      measures: { work_us: { ...work_us, errors, counts } },
      facts: { sent_count: 52, in_flight_max: n },
      servers: { "server.1": { responses: 30, connections: n === 1 ? 2 : 0 } },
    });
  }
  return { store, put };
}
