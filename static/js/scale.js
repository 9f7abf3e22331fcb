// Where things lie in a per-round panel: its margins, its scales, its round ticks. Pure.

import { number } from "./format.js";

const MARGIN = { left: 46, right: 8, top: 6, bottom: 6, axis: 36 };
const STEPS = [1, 2, 5];

/** The height a panel needs with or without the axis of rounds under it. */
export const panelHeight = (inner, axis) =>
  inner + MARGIN.top + (axis ? MARGIN.axis : MARGIN.bottom);

/** The margins as a plot's layout takes them. */
export const plotMargin = (axis) => ({
  l: MARGIN.left,
  r: MARGIN.right,
  t: MARGIN.top,
  b: axis ? MARGIN.axis : MARGIN.bottom,
});

/** The smallest of 1, 2 and 5 times a power of ten that is not below `least`. */
export function niceStep(least) {
  const size = 10 ** Math.floor(Math.log10(least));
  return size * (STEPS.find((factor) => factor * size >= least * (1 - 1e-9)) ?? 10);
}

/** x and y in pixels of rounds and values, and the round under a pixel. With a `floor` above 0
 * the values are on a logarithmic scale from there. */
export function geometry({ width, height, axis, range: [from, to], top, floor = null }) {
  const left = MARGIN.left;
  const right = Math.max(left + 1, width - MARGIN.right);
  const ceiling = MARGIN.top;
  const base = Math.max(ceiling + 1, height - (axis ? MARGIN.axis : MARGIN.bottom));
  const perRound = (right - left) / (to - from);
  return {
    left,
    right,
    ceiling,
    base,
    x: (round) => left + (round - from) * perRound,
    y: (value) => base - share(value, top, floor) * (base - ceiling),
    roundAt: (px) => from + (Math.min(right, Math.max(left, px)) - left) / perRound,
  };
}

const share = (value, top, floor) =>
  floor === null ? value / top : Math.log(Math.max(value, floor) / floor) / Math.log(top / floor);

/** Powers of ten from the floor of a logarithmic scale; 2 and 5 between where there is room. */
export function logTicks(floor, top, height) {
  const decades = Math.log10(top / floor);
  const between = height / decades > 100 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil((decades * 24) / height));
  const ticks = [];
  for (let power = Math.round(Math.log10(floor)); 10 ** power <= top; power += every) {
    for (const factor of between) {
      const value = factor * 10 ** power;
      const text = power < 0 ? String(Number(value.toPrecision(1))) : number(value).replace(/\.0+$/, "");
      if (value <= top) ticks.push({ value, text });
    }
  }
  return ticks;
}

/** Few values at round steps from 0, written as everywhere; the labels have room. */
export function valueTicks(top, height) {
  const wanted = Math.max(2, Math.floor(height / 36));
  let step = niceStep(top / wanted);
  if (step > top) step = niceStep(top / wanted / 2);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let k = 0; k * step <= top * 1.0001; k += 1) {
    const value = k * step;
    const text = (digits ? value.toFixed(digits) : number(value)).replace(/\.00?$/, "");
    ticks.push({ value, text });
  }
  return ticks;
}

/** Whole rounds to write under the axis, at least `room` pixels apart. */
export function roundTicks([from, to], pixels, room = 45) {
  const most = Math.max(2, Math.floor(pixels / room));
  const step = Math.max(1, niceStep((to - from) / most));
  const ticks = [];
  for (let k = Math.max(1, Math.ceil(from / step)); k * step <= to; k += 1) ticks.push(k * step);
  return ticks;
}

/** Index of the value of `xs` (ascending) that is nearest to x; -1 where there is none. */
export function nearest(xs, x) {
  let low = 0;
  let high = xs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x) low = middle + 1;
    else high = middle;
  }
  if (low > 0 && (low === xs.length || x - xs[low - 1] <= xs[low] - x)) return low - 1;
  return low < xs.length ? low : -1;
}
