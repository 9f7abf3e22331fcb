// Which panels an arm's chart has, by what it is judged by, and what each of them draws. Pure.

import { number } from "./format.js";
import {
  cpuSeries,
  latencyPoints,
  latencyValues,
  latencyWords,
  logFloor,
  reportWords,
  secondWords,
} from "./line-data.js";
import { MEASURES, panelWords, pointsOf, roundWords, topOf, valuesOf } from "./rounds-data.js";
import { hasLatencies, nounOf, resultOf } from "./units.js";

const BARS = [
  ["throttled", 56],
  ["paused", 56],
  ["usage", 56],
];
const NONE = { one: [], small: [] };
const LATENCY = {
  one: [["latency", 132], ...BARS],
  small: [
    ["latency", 92],
    ["paused", 56],
  ],
};

/** By result: the panels of one arm, and of one among many; each a measure and its height. */
const LAYOUTS = {
  wall_us: {
    one: [["wall", 132], ...BARS],
    small: [
      ["wall", 92],
      ["paused", 56],
    ],
  },
  work_us: LATENCY,
  request_us: LATENCY,
  cpu: { one: [["cpu", 300]], small: [["cpu", 120]] },
};

export const layoutOf = (arm) => LAYOUTS[resultOf(arm)] ?? NONE;

const LINES = {
  latency: { title: "Latency per second", unit: "ms", kind: "latency" },
  cpu: { title: "CPU per report", unit: "CPU", kind: "series" },
};

const ms = (us) => us / 1000;
const listed = (values) => values.filter((value) => value !== null && value !== undefined);

/** The values of one measure of one arm, and how they are drawn and told. */
export class PanelData {
  static describe(measure) {
    return LINES[measure] ?? MEASURES[measure];
  }

  /** One scale for all of these: {top, floor}; a floor above 0 is a logarithmic one. */
  static scaleOf(parts) {
    const values = parts.flatMap((part) => [part.largest, ...part.lines().map(({ y }) => y)]);
    const small = listed(parts.map((part) => part.smallest));
    const floor = small.length ? logFloor(Math.min(...small), Math.max(...listed(values))) : null;
    const least = parts[0]?.measure === "cpu" ? 0.1 : 1;
    return { top: topOf(values, least) * (floor === null ? 1 : 1.5), floor };
  }

  constructor(measure, arm, rows) {
    Object.assign(this, { measure, arm, rows, smallest: null });
    this.result = resultOf(arm);
    if (measure === "latency") Object.assign(this, { data: latencyValues(rows, this.result) });
    else if (measure === "cpu") Object.assign(this, { data: cpuSeries(arm, rows) });
    else this.data = valuesOf(rows, measure);
    this.largest = this.data.largest;
    this.smallest = this.data.smallest ?? null;
  }

  get look() {
    const { kind, colour } = PanelData.describe(this.measure);
    return { kind, colour };
  }

  /** What is drawn of a range of the axis: as line-paint.js and bar-panel.js take it. */
  points(range) {
    const { measure, rows, data } = this;
    if (measure === "latency") return latencyPoints(rows, data, range);
    if (measure !== "cpu") return pointsOf(rows, data.values, measure, range);
    const x = rows.map((_, i) => i + 1);
    return { x, series: data.series, thinned: false, total: x.length };
  }

  /** The published figures of this measure, one a published repeat: {text, values in us}. */
  #published() {
    const { published } = this.arm;
    if (this.measure === "wall" && published?.wall_us_p50) {
      return [{ text: "", word: "median", values: [published.wall_us_p50] }];
    }
    const own = this.measure === "latency" ? published?.measures?.[this.result] : null;
    return ["p50", "p99"]
      .map((word) => ({ text: word, word, values: listed(own?.[`${word}_us`] ?? []) }))
      .filter(({ values }) => values.length);
  }

  /** Grey lines for what was published; the caption tells their values. */
  lines() {
    return this.#published().flatMap(({ text, values }) =>
      values.map((us, i) => ({ y: ms(us), look: "published", text: i === 0 ? text : "" })),
    );
  }

  /** What the grey lines stand for, beside the panel's title. */
  publishedWords(short) {
    const parts = this.#published().map(({ word, values }) => {
      const figures = values.map((us) => number(ms(us))).join(" and ");
      return short && word === "median" ? figures : `${word} ${figures}`;
    });
    return parts.length ? `${short ? "" : "grey: "}published ${parts.join(", ")} ms` : "";
  }

  words() {
    const { measure, rows, largest } = this;
    if (measure === "latency") return latencyWords(rows.length, this.data);
    const noun = nounOf(this.arm);
    if (measure !== "cpu") return panelWords(rows.length, largest, measure, noun);
    if (!rows.length) return "no report yet";
    return `${rows.length} reports, at most ${largest === null ? "not measured" : number(largest)} CPU`;
  }

  say(row, many) {
    if (hasLatencies(this.arm)) return secondWords(row, this.result, many);
    return this.result === "cpu" ? reportWords(row, many) : roundWords(row, many);
  }
}
