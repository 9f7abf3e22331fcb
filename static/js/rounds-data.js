// What the per-round charts draw, from the store. Pure.

import { roundsOf } from "./arm-rows.js";
import { countersOf } from "./beside.js";
import { reportRows } from "./cpu-reports.js";
import { keepExtremes, keepLargest } from "./decimate.js";
import { paused } from "./figures.js";
import { count, cpuTime, NOT_MEASURED, number, time } from "./format.js";
import { resultOf } from "./units.js";

// About one for every other pixel of a panel: drawing more takes longer and shows no more.
const MOST_POINTS = 280;
const MOST_BARS = 140;

const NOTHING = { nr_throttled: null, nr_periods: null, throttled_us: null, usage_us: null };

/** The counters that stand by a row: its own round's, or those of the unit that was loaded. */
const counters = (row) =>
  row.counters === undefined ? (row.round.settled ?? row.round.burst) : (row.counters ?? NOTHING);

const scaled = (us) => (us === null || us === undefined ? null : us / 1000);

/** The measures of a row; `of` gives the drawn value, null for what was not measured. */
export const MEASURES = {
  wall: { title: "Wall per round", unit: "ms", kind: "dots", of: ({ round }) => round.wall_us / 1000 },
  throttled: {
    title: "Throttled periods",
    unit: "count",
    kind: "bars",
    colour: "pause",
    of: (row) => counters(row).nr_throttled,
  },
  paused: {
    title: "Throttled time",
    unit: "CPU ms, summed over CPUs",
    kind: "bars",
    colour: "pause",
    of: (row) => scaled(counters(row).throttled_us),
  },
  usage: {
    title: "CPU used",
    unit: "CPU ms",
    kind: "bars",
    colour: "run",
    of: (row) => scaled(counters(row).usage_us),
  },
};

/** All rounds of an arm along one axis: x counts rounds over its repeats, from 1. */
export function axisOf(store, arm) {
  const rows = rowsOf(store, arm);
  const splits = [];
  for (let i = 0; i < rows.length; i += 1) {
    const { repeat } = rows[i];
    if (i === 0 || rows[i - 1].repeat !== repeat) splits.push({ x: i + 0.5, n: repeat.n });
  }
  return { rows, splits };
}

// A load has no limit of its own: what its server's counters say of a second stands beside it.
function rowsOf(store, arm) {
  const result = resultOf(store.arms[arm]);
  if (result === "cpu") return reportRows(store, store.arms[arm]);
  const rows = roundsOf(store, arm);
  if (result !== "work_us") return rows;
  return rows.map((row) => ({ ...row, counters: countersOf(store, row.repeat, row.round) }));
}

/** A measure of every round in `rows` and the largest of them; null is "not measured". */
export function valuesOf(rows, measure) {
  const { of } = MEASURES[measure];
  const values = new Array(rows.length);
  let largest = null;
  for (let i = 0; i < rows.length; i += 1) {
    const value = of(rows[i]) ?? null;
    values[i] = value;
    if (value !== null && (largest === null || value > largest)) largest = value;
  }
  return { values, largest };
}

/** Points of one measure within `range` of the axis, thinned to their extremes when too many;
 * `all` are its values. */
export function pointsOf(rows, all, measure, range = null) {
  const from = range ? Math.max(0, Math.ceil(range[0]) - 1) : 0;
  const to = range ? Math.min(rows.length, Math.floor(range[1])) : rows.length;
  const values = range ? all.slice(from, Math.max(from, to)) : all;
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
export function roundWords(row, many) {
  const { repeat, round } = row;
  const c = counters(row);
  return [
    `${many ? `Repeat ${repeat.n}, round` : "Round"} ${round.n}: wall ${time(round.wall_us)}`,
    ...counterWords(c),
    `used ${cpuTime(c.usage_us)}${round.settled ? "" : ", not settled yet"}`,
  ].join("; ");
}

const counterWords = (c) => [
  `throttled periods ${count(c.nr_throttled)} of ${count(c.nr_periods)}`,
  `throttled time ${cpuTime(c.throttled_us)}`,
];

/** What the counters say beside a second of requests. */
export function besideWords(row) {
  const c = counters(row);
  return [...counterWords(c), `used ${cpuTime(c.usage_us)}`].join("; ");
}

/** The top of an axis from 0: the largest value (null are passed over) and some room. */
export function topOf(values, least = 1) {
  let largest = least;
  for (const value of values) if (value !== null && value > largest) largest = value;
  return largest * 1.12;
}

/** A panel in words, for who cannot see it: how many rounds, and the largest value. */
export function panelWords(n, largest, measure, noun = "round") {
  const { unit } = MEASURES[measure];
  if (!n) return `no ${noun} yet`;
  const rounds = n === 1 ? `1 ${noun}` : `${count(n)} ${noun}s`;
  if (largest === null) return `${rounds}, ${NOT_MEASURED}`;
  const value = unit === "count" || largest === 0 ? count(largest) : number(largest);
  return `${rounds}, at most ${value}${unit === "count" ? "" : ` ${unit}`} in a ${noun}`;
}
