// What the panels of lines draw: latencies second by second, CPU report by report. Pure.

import { cpusOf, spinning } from "./cpu-reports.js";
import { keepExtremes } from "./decimate.js";
import { count, cpus, NOT_MEASURED, number, time } from "./format.js";
import { errorWords } from "./latencies.js";
import { besideWords } from "./rounds-data.js";

const MOST_POINTS = 280;
const LOG_FROM = 20; // the largest so many times the smallest: a linear axis would hide one

const ms = (us) => (us === null || us === undefined ? null : us / 1000);

/**
 * Latencies of every second: {p50, high, max, failed} in ms. `high` is the second's p99, and
 * its maximum where it has too few requests for one.
 */
export function latencyValues(rows, measure) {
  const values = { p50: [], high: [], max: [], failed: [] };
  let largest = null;
  let smallest = null;
  for (const { round } of rows) {
    const m = round.measures[measure] ?? {};
    const max = ms(m.max);
    const p50 = ms(m.p50);
    values.p50.push(p50);
    values.high.push(ms(m.p99) ?? max);
    values.max.push(max);
    values.failed.push(Object.values(m.errors ?? {}).reduce((a, b) => a + b, 0));
    if (max !== null && (largest === null || max > largest)) largest = max;
    if (p50 > 0 && (smallest === null || p50 < smallest)) smallest = p50;
  }
  return { values, largest, smallest };
}

/** The bottom of a logarithmic axis, a power of ten; null where a linear one shows it all. */
export function logFloor(smallest, largest) {
  if (!(smallest > 0) || largest / smallest < LOG_FROM) return null;
  return 10 ** Math.floor(Math.log10(smallest));
}

/** Of a range of the axis: x and the same rounds' values of each series, no extreme lost. */
export function latencyPoints(rows, { values }, range) {
  const from = range ? Math.max(0, Math.ceil(range[0]) - 1) : 0;
  const to = range ? Math.min(rows.length, Math.floor(range[1])) : rows.length;
  const part = values.max.slice(from, Math.max(from, to));
  const kept = keepExtremes(part, MOST_POINTS);
  // A second of failures only has no latency, and must not be lost.
  if (kept.length < part.length) {
    const there = new Set(kept);
    part.forEach((value, i) => value === null && values.failed[from + i] && there.add(i));
    kept.splice(0, kept.length, ...[...there].sort((a, b) => a - b));
  }
  const take = (name) => kept.map((k) => values[name][from + k]);
  return {
    x: kept.map((k) => from + k + 1),
    p50: take("p50"),
    high: take("high"),
    max: take("max"),
    failed: take("failed"),
    thinned: kept.length < part.length,
    total: part.length,
  };
}

/** CPUs of every unit that spins, report by report: [{label, y}], and the largest. */
export function cpuSeries(arm, rows) {
  let largest = null;
  const series = spinning(arm).map(({ name }) => {
    const y = rows.map(({ byUnit }) => (byUnit[name] ? cpusOf(byUnit[name]) : null));
    for (const value of y) if (value !== null && value > (largest ?? 0)) largest = value;
    return { label: name, y };
  });
  return { series, largest };
}

/** One second in a line. */
export function secondWords(row, measure, many) {
  const { repeat, round } = row;
  const m = round.measures[measure];
  const head = `${many ? `Repeat ${repeat.n}, second` : "Second"} ${round.n}`;
  if (!m) return `${head}: ${NOT_MEASURED}`;
  const failed = errorWords(m.errors, count);
  const parts = [
    `${head}: ${count(m.n)} requests, p50 ${time(m.p50)}`,
    m.p99 === null ? "too few for p99" : `p99 ${time(m.p99)}`,
    `max ${time(m.max)}${failed ? `, ${failed}` : ""}`,
  ];
  return `${parts.join(", ")}; ${besideWords(row)}`;
}

/** One report in a line, unit by unit. */
export function reportWords({ repeat, round, byUnit }, many) {
  const parts = Object.entries(byUnit).map(
    ([name, own]) => `${name} ${own ? cpus(cpusOf(own)) : NOT_MEASURED}`,
  );
  return `${many ? `Repeat ${repeat.n}, report` : "Report"} ${round.n}: ${parts.join(", ")}`;
}

/** A panel of latencies in words, for who cannot see it. */
export const latencyWords = (n, { largest }) => {
  if (!n) return "no second yet";
  const seconds = n === 1 ? "1 second" : `${count(n)} seconds`;
  return largest === null ? `${seconds}, no request answered` : `${seconds}, at most ${number(largest)} ms`;
};
