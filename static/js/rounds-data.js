// What the per-round charts draw, from the store. Pure.

import { roundsOf } from "./arm-rows.js";
import { keepExtremes, keepLargest } from "./decimate.js";
import { paused } from "./figures.js";
import { count, cpuTime, NOT_MEASURED, number, time } from "./format.js";

// About one for every other pixel of a panel: drawing more takes longer and shows no more.
const MOST_POINTS = 280;
const MOST_BARS = 140;

const counters = (round) => round.settled ?? round.burst;

/** The measures of a round; `of` gives the drawn value, null for what was not measured. */
export const MEASURES = {
  wall: { title: "Wall per round", unit: "ms", kind: "dots", of: (r) => r.wall_us / 1000 },
  throttled: {
    title: "Throttled periods",
    unit: "count",
    kind: "bars",
    colour: "pause",
    of: (r) => counters(r).nr_throttled,
  },
  paused: {
    title: "Throttled time",
    unit: "CPU ms, summed over CPUs",
    kind: "bars",
    colour: "pause",
    of: (r) => scaled(counters(r).throttled_us),
  },
  usage: {
    title: "CPU used",
    unit: "CPU ms",
    kind: "bars",
    colour: "run",
    of: (r) => scaled(counters(r).usage_us),
  },
};

const scaled = (us) => (us === null ? null : us / 1000);

/** All rounds of an arm along one axis: x counts rounds over its repeats, from 1. */
export function axisOf(store, arm) {
  const rows = roundsOf(store, arm);
  const splits = [];
  for (let i = 0; i < rows.length; i += 1) {
    const { repeat } = rows[i];
    if (i === 0 || rows[i - 1].repeat !== repeat) splits.push({ x: i + 0.5, n: repeat.n });
  }
  return { rows, splits };
}

/** Points of one measure within `range` of the axis, thinned to their extremes when too many. */
export function pointsOf(rows, measure, range = null) {
  const from = range ? Math.max(0, Math.ceil(range[0]) - 1) : 0;
  const to = range ? Math.min(rows.length, Math.floor(range[1])) : rows.length;
  const values = [];
  for (let i = from; i < to; i += 1) values.push(MEASURES[measure].of(rows[i].round));
  const bars = MEASURES[measure].kind === "bars";
  const kept = bars ? keepLargest(values, MOST_BARS) : keepExtremes(values, MOST_POINTS);
  const points = {
    x: [],
    y: [],
    marks: [],
    thinned: kept.length < values.length,
    total: values.length,
  };
  for (const k of kept) {
    const row = rows[from + k];
    points.x.push(from + k + 1);
    points.y.push(values[k]);
    points.marks.push(paused(row.round) === true);
  }
  return points;
}

/** One round in a line: what the charts' readout says of the point under the pointer. */
export function roundWords({ repeat, round }, many) {
  const c = counters(round);
  return [
    `${many ? `Repeat ${repeat.n}, round` : "Round"} ${round.n}: wall ${time(round.wall_us)}`,
    `throttled periods ${count(c.nr_throttled)} of ${count(c.nr_periods)}`,
    `throttled time ${cpuTime(c.throttled_us)}`,
    `used ${cpuTime(c.usage_us)}${round.settled ? "" : ", not settled yet"}`,
  ].join("; ");
}

/** A round top for an axis from 0: the largest value and some room. */
export function topOf(values, least = 1) {
  let largest = least;
  for (const value of values) if (value !== null && value > largest) largest = value;
  return largest * 1.12;
}

/** A panel in words, for who cannot see it: how many rounds, and the largest value. */
export function panelWords(rows, measure) {
  const { unit, of } = MEASURES[measure];
  if (!rows.length) return "no round yet";
  let largest = null;
  for (const { round } of rows) {
    const value = of(round);
    if (value !== null && (largest === null || value > largest)) largest = value;
  }
  const rounds = rows.length === 1 ? "1 round" : `${count(rows.length)} rounds`;
  if (largest === null) return `${rounds}, ${NOT_MEASURED}`;
  if (unit === "count") return `${rounds}, at most ${count(largest)} in a round`;
  return `${rounds}, at most ${largest === 0 ? "0" : number(largest)} ${unit} in a round`;
}
