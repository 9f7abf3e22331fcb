// Fewer points that still show every extreme. Pure.

/**
 * Indices to draw: all of them up to `limit`, else in each of limit/2 equal stretches the
 * smallest and the largest value, in order. Null values are passed over.
 */
export function keepExtremes(values, limit) {
  if (values.length <= limit) return Array.from(values, (_, i) => i);
  const stretches = Math.max(1, Math.floor(limit / 2));
  const kept = [];
  for (let k = 0; k < stretches; k += 1) {
    const from = Math.floor((k * values.length) / stretches);
    const to = Math.floor(((k + 1) * values.length) / stretches);
    let low = -1;
    let high = -1;
    for (let i = from; i < to; i += 1) {
      if (values[i] === null) continue;
      if (low < 0 || values[i] < values[low]) low = i;
      if (high < 0 || values[i] > values[high]) high = i;
    }
    if (low < 0) continue;
    if (low === high) kept.push(low);
    else kept.push(Math.min(low, high), Math.max(low, high));
  }
  return kept;
}

/** Indices of the largest value of each of `limit` stretches: enough for bars that begin at 0. */
export function keepLargest(values, limit) {
  if (values.length <= limit) return Array.from(values, (_, i) => i);
  const kept = [];
  for (let k = 0; k < limit; k += 1) {
    const to = Math.floor(((k + 1) * values.length) / limit);
    let high = Math.floor((k * values.length) / limit);
    for (let i = high + 1; i < to; i += 1) if ((values[i] ?? -1) > (values[high] ?? -1)) high = i;
    kept.push(high);
  }
  return kept;
}
