// Figures of an arm as published ones are told: of each repeat by itself, then the median over
// the repeats. Pure.

import { armFigures } from "./figures.js";

/** The median, of an even number the mean of the two in the middle; null where a repeat lacks
 * the figure. */
function median(values) {
  if (values.some((value) => typeof value !== "number")) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const half = values.length >> 1;
  return values.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** The repeats that are told one by one: those that are done, else the newest with a round. */
function told(store, arm) {
  const repeats = store.repeatsOf(arm);
  const done = repeats.filter((repeat) => repeat.state === "done");
  if (done.length) return done;
  const begun = repeats.findLast((repeat) => store.measured(repeat)?.rounds.length);
  return begun ? [begun] : [];
}

/**
 * {figures, repeats}: each figure of `armFigures` is its median over so many repeats. What
 * failed is added up: a median would hide the one repeat in which requests failed. `whole` are
 * the figures over all repeats, to be used where there is only one.
 */
export function overRepeats(store, arm, whole) {
  const repeats = told(store, arm);
  if (repeats.length < 2 && store.repeatsOf(arm).length < 2) return { figures: whole, repeats: 1 };
  if (!repeats.length) return { figures: whole, repeats: 0 };
  const each = repeats.map(({ id }) => armFigures(store, arm, { only: id }));
  return { figures: each.length > 1 ? medianOf(each) : each[0], repeats: each.length };
}

function medianOf(each) {
  const [first] = each;
  const figures = { ...first };
  for (const [name, value] of Object.entries(first)) {
    if (value === null || typeof value === "number") figures[name] = median(each.map((f) => f[name]));
  }
  figures.counted = each.every((f) => f.counted);
  if (first.measures) {
    const names = new Set(each.flatMap((f) => Object.keys(f.measures)));
    figures.measures = Object.fromEntries(
      [...names].map((name) => [name, latenciesOf(each.map((f) => f.measures[name]))]),
    );
  }
  return figures;
}

const NONE = { n: 0, errors: {}, failed: 0 };

function latenciesOf(found) {
  const each = found.map((latencies) => latencies ?? NONE);
  const names = ["n", "p50", "p90", "p95", "p99", "p999", "max"];
  const medians = Object.fromEntries(names.map((name) => [name, median(each.map((m) => m[name] ?? null))]));
  const errors = {};
  for (const latencies of each) {
    for (const [kind, n] of Object.entries(latencies.errors)) errors[kind] = (errors[kind] ?? 0) + n;
  }
  return { ...medians, errors, failed: each.reduce((sum, { failed }) => sum + failed, 0) };
}

/** "median of 5 repeats"; "" of one. `counts` are those of the arms in a table. */
export function repeatWords(counts) {
  const known = counts.filter((n) => n > 0);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  if (!known.length || most === 1) return "";
  return `median of ${least === most ? most : `${least} to ${most}`} repeats`;
}
