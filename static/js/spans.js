// Searching and reading lists of spans and knots in the order of time. Pure.

export const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** One word for a cell, from the kinds of its slices: what matters most comes first. */
export function stateOf(slices) {
  for (const kind of ["paused", "open", "unknown", "running", "idle"]) {
    if (slices.some((slice) => slice.kind === kind)) return kind;
  }
  return "not measured";
}

/** Index of the last span that begins at or before t; -1 where none does. */
export function lastAtOrBefore(spans, t) {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].t0 <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The value at x of a line through (xs, ys); 0 before it, its last value after it. */
export function interpolate(xs, ys, x) {
  if (!xs.length || x <= xs[0]) return 0;
  if (x >= xs.at(-1)) return ys.at(-1);
  let low = 0;
  let high = xs.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle;
    else high = middle;
  }
  return ys[low] + ((ys[high] - ys[low]) * (x - xs[low])) / (xs[high] - xs[low]);
}

/** The rounds, in order of their start, that touch [from, to). */
export function roundsWithin(rounds, from, to) {
  let low = 0;
  let high = rounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rounds[middle].start_us + rounds[middle].wall_us < from) low = middle + 1;
    else high = middle;
  }
  const found = [];
  for (let i = low; i < rounds.length && rounds[i].start_us < to; i += 1) found.push(rounds[i]);
  return found;
}
