// Latencies of many requests: counts by value (microseconds), added up exactly, and their
// nearest-rank percentiles. Pure. The same rules as core/latencies.py on the server.

const NEEDED = { 50: 1, 90: 10, 95: 20, 99: 100, 99.9: 1000 };

export class Latencies {
  constructor() {
    this.counts = new Map(); // value in us -> how many
    this.n = 0;
    this.max = null;
    this.errors = {}; // kind -> how many failed; they are not among the n
    this.failed = 0;
  }

  /** Take {counts: [[us, n], ...], max, errors} or another one. */
  add({ counts, max, errors }) {
    for (const [value, count] of counts ?? []) {
      this.counts.set(value, (this.counts.get(value) ?? 0) + count);
      this.n += count;
    }
    if (max !== null && max !== undefined) this.max = Math.max(this.max ?? 0, max);
    for (const [kind, count] of Object.entries(errors ?? {})) {
      this.errors[kind] = (this.errors[kind] ?? 0) + count;
      this.failed += count;
    }
    this.sorted = null;
  }

  /** Null where n is too small to tell it from the maximum. */
  percentile(p) {
    if (!this.n || this.n < NEEDED[p]) return null;
    // In thousandths, so that the rank of 99.9 is exact.
    const rank = Math.ceil((Math.round(p * 1000) * this.n) / 100_000);
    this.sorted ??= [...this.counts.keys()].sort((a, b) => a - b);
    let seen = 0;
    for (const value of this.sorted) {
      seen += this.counts.get(value);
      if (seen >= rank) return this.max === null ? value : Math.min(value, this.max);
    }
    return this.max;
  }

  /** {n, p50, p90, p95, p99, p999, max, errors, failed}. */
  summary() {
    const { n, max, errors, failed } = this;
    const of = (p) => this.percentile(p);
    return { n, p50: of(50), p90: of(90), p95: of(95), p99: of(99), p999: of(99.9), max, errors, failed };
  }
}

/** Add facts up: names that end in _max keep the largest, all others are sums. */
export function addFacts(into, facts) {
  for (const [name, value] of Object.entries(facts ?? {})) {
    if (value === null) continue;
    if (!(name in into)) into[name] = value;
    else into[name] = name.endsWith("_max") ? Math.max(into[name], value) : into[name] + value;
  }
}

/** Add up who answered: {name: {responses, connections}}. */
export function addServers(into, servers) {
  for (const [name, { responses, connections }] of Object.entries(servers ?? {})) {
    const known = (into[name] ??= { responses: 0, connections: 0 });
    known.responses += responses;
    known.connections += connections;
  }
}

const WORDS = {
  timeout: "timed out",
  refused: "refused",
  reset: "reset",
  closed: "closed early",
  status_4xx: "answered 4xx",
  status_5xx: "answered 5xx",
  other: "failed otherwise",
};

/** "12 timed out, 3 refused"; "" for none. */
export const errorWords = (errors, count = String) =>
  Object.entries(errors ?? {})
    .filter(([, n]) => n > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, n]) => `${count(n)} ${WORDS[kind] ?? kind.replaceAll("_", " ")}`)
    .join(", ");
