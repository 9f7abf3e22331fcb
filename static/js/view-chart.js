// The card of per-round charts: the chosen arm in four panels, or all arms side by side. The
// wall of rounds is a plot of Plotly's; the small panels of bars are painted here.

import { find, make, onTheme, remember, recalled, write } from "./dom.js";
import { BarPanel } from "./bar-panel.js";
import { PlotPanel } from "./chart.js";
import { count, number } from "./format.js";
import {
  axisOf,
  MEASURES,
  panelWords,
  pointsOf,
  roundWords,
  topOf,
  valuesOf,
} from "./rounds-data.js";
import { panelHeight } from "./scale.js";

const ONE = [
  ["wall", 132],
  ["throttled", 56],
  ["paused", 56],
  ["usage", 56],
];
const SMALL = [
  ["wall", 92],
  ["paused", 56],
];

const LOOK_MS = 4;
const PANEL_MS = 800; // a panel is drawn at most so often; rounds come about once a second

export class ChartView {
  constructor(root, { store, painter, onPick }) {
    Object.assign(this, { root, store, painter, onPick });
    this.body = find("[data-role=panels]", root);
    this.note = find("[data-role=thinned]", root);
    this.slots = [];
    this.range = readRange();
    onTheme(() => {
      for (const slot of this.slots) slot.panel.retheme();
      this.touch();
    });
    this.width = this.body.clientWidth;
    new ResizeObserver(() => {
      if (Math.abs(this.body.clientWidth - this.width) < 2) return;
      this.width = this.body.clientWidth;
      this.touch();
    }).observe(this.body);
    find("[data-role=unzoom]", root).addEventListener("click", () => this.#zoom(null));
  }

  /** Choose what is shown: an arm's index, or null for all arms. */
  choose(arm) {
    if (this.arm === arm) return;
    if (this.arm !== undefined) this.range = null;
    const reuse = arm !== null && this.arm !== null && this.slots.length > 0;
    this.arm = arm;
    if (reuse) {
      for (const slot of this.slots) slot.arm = arm;
      this.touch();
      return;
    }
    for (const slot of this.slots) slot.panel.clear();
    this.body.replaceChildren();
    this.body.classList.toggle("all", arm === null);
    this.slots = arm === null ? this.#allSlots() : this.#oneSlots();
    this.painter.remove("chart-");
    this.slots.forEach((slot, i) => {
      const apart = slot.panel instanceof PlotPanel;
      this.painter.add(`chart-${i}`, () => this.#paint(slot), PANEL_MS, { apart });
    });
    this.touch();
  }

  /** Redraw if rows of what is shown have come since. */
  refresh() {
    const versions = this.store.repeats
      .filter((repeat) => this.arm === null || repeat.arm === this.arm)
      .map((repeat) => repeat.version)
      .join(" ");
    if (versions === this.versions) return;
    this.versions = versions;
    this.touch();
  }

  /** Draw every panel now: done once, while the page loads, so that later draws are changes. */
  prime() {
    this.#forget();
    for (const slot of this.slots) this.#draw(slot);
    this.painter.drawn(...this.slots.map((_, i) => `chart-${i}`));
  }

  #forget() {
    this.axes = new Map();
    this.values = new Map();
  }

  touch() {
    this.#forget();
    if (!this.slots.length) return;
    this.painter.touch(...this.slots.map((_, i) => `chart-${i}`));
  }

  // What a panel draws is looked up first, in frames of its own where rounds are many.
  #paint(slot) {
    const until = performance.now() + LOOK_MS;
    for (const arm of this.arm === null ? this.store.arms.map((a) => a.index) : [slot.arm]) {
      if (performance.now() > until) return false;
      this.#values(slot.measure, arm);
    }
    return performance.now() > until ? false : this.#draw(slot);
  }

  #oneSlots() {
    return ONE.map(([measure, inner], i) => {
      const { title, unit } = MEASURES[measure];
      return this.#slot({
        measure,
        inner,
        arm: this.arm,
        axis: i === ONE.length - 1,
        head: title,
        unit,
      });
    });
  }

  #allSlots() {
    const slots = [];
    for (const arm of this.store.arms) {
      const column = make("div", { className: "column" }, make("h3", {}, arm.label));
      this.body.append(column);
      SMALL.forEach(([measure, inner], i) => {
        const { title, unit } = MEASURES[measure];
        slots.push(
          this.#slot({
            measure,
            inner,
            arm: arm.index,
            axis: i === SMALL.length - 1,
            head: title,
            unit,
            into: column,
          }),
        );
      });
    }
    return slots;
  }

  #slot({ measure, inner, arm, axis, head, unit, into = this.body }) {
    const plot = make("div", { className: "plot" });
    const figure = make("figure", { className: "panel" });
    const beside = make("span", { className: "beside" });
    const caption = make("figcaption", {}, head, " ", make("span", { className: "u" }, unit), beside);
    figure.append(caption, plot);
    plot.style.height = `${panelHeight(inner, axis)}px`;
    into.append(figure);
    const kind = MEASURES[measure].kind === "bars" ? BarPanel : PlotPanel;
    const panel = new kind(plot, {
      onPick: (found) => found && this.onPick(found),
      onHover: (found) => this.#read(found),
      onRange: (range) => this.#zoom(range),
    });
    return { measure, inner, arm, axis, plot, panel, beside };
  }

  #axis(arm) {
    if (!this.axes.has(arm)) this.axes.set(arm, axisOf(this.store, arm));
    return this.axes.get(arm);
  }

  #values(measure, arm) {
    const key = `${measure} ${arm}`;
    if (!this.values.has(key)) this.values.set(key, valuesOf(this.#axis(arm).rows, measure));
    return this.values.get(key);
  }

  // Small multiples are comparable: one scale for a measure over all arms.
  #top(measure, arm) {
    const arms = this.arm === null ? this.store.arms.map((a) => a.index) : [arm];
    const largest = arms.map((index) => this.#values(measure, index).largest);
    const lines = arms.flatMap((index) => this.#lines(measure, index).map((line) => line.y));
    return topOf([...largest, ...lines]);
  }

  #lines(measure, index) {
    const arm = this.store.arms[index];
    const lines = [];
    const p50 = arm.published?.wall_us_p50;
    if (measure === "wall" && p50) {
      lines.push({
        y: p50 / 1000,
        look: "published",
        text: "", // the caption says it: on the line it would lie over points
      });
    }
    return lines;
  }

  /** What the grey line stands for, beside the panel's title. */
  #beside(measure, index) {
    const p50 = this.store.arms[index].published?.wall_us_p50;
    if (measure !== "wall" || !p50) return "";
    return `${this.arm === null ? "" : "grey line: "}published${this.arm === null ? "" : " median"} ${number(p50 / 1000)} ms`;
  }

  #draw({ measure, inner, arm, axis, plot, panel, beside }) {
    write(beside, this.#beside(measure, arm));
    const { rows, splits } = this.#axis(arm);
    const planned = this.store.arms[arm].rounds * this.store.repeatsOf(arm).length;
    const total = Math.max(planned, rows.length, 1);
    const range = this.range ?? [0.4, total + 0.6];
    const { values, largest } = this.#values(measure, arm);
    const points = pointsOf(rows, values, measure, this.range);
    const { kind, colour, title } = MEASURES[measure];
    const many = this.store.repeatsOf(arm).length > 1;
    const span = range[1] - range[0];
    const inside = Math.max(60, plot.clientWidth - 54);
    panel.draw({
      kind,
      colour,
      range,
      top: this.#top(measure, arm),
      ...points,
      width: plot.clientWidth,
      height: panelHeight(inner, axis),
      axis: axis ? (many ? "round, over all repeats" : "round") : "",
      lines: this.#lines(measure, arm),
      splits: many
        ? splits.map(({ x, n }) => ({
            x,
            text: measure === "wall" && splits.length < 9 ? `repeat ${n}` : "",
          }))
        : [],
      ids: (x) => rows[Math.round(x) - 1] ?? null,
      name: `${title}, ${this.store.arms[arm].label}`,
      planned: total,
      words: panelWords(rows.length, largest, measure),
      say: (row) => roundWords(row, many),
      barWidth: Math.max(1, Math.min(8, (inside / span) * 0.6)),
    });
    if (measure === "wall") this.#say(points);
  }

  #say({ thinned, total, x }) {
    const zoomed = this.range
      ? `rounds ${Math.ceil(this.range[0])} to ${Math.floor(this.range[1])}; `
      : "";
    const thin = thinned
      ? `${count(x.length)} of ${count(total)} rounds drawn: the smallest and largest of each stretch`
      : "";
    write(this.note, `${zoomed}${thin}`.replace(/; $/, ""));
    find("[data-role=unzoom]", this.root).hidden = !this.range;
  }

  #read(row) {
    const many = row && this.store.repeatsOf(row.repeat.arm).length > 1;
    const words = row ? roundWords(row, many) : "Drag to zoom; click a round to see its periods.";
    write(find("[data-role=point]", this.root), words);
  }

  #zoom(range) {
    this.range = range && range[1] - range[0] > 0.5 ? range : null;
    remember({ rounds: this.range ? this.range.map((v) => v.toFixed(1)).join("-") : null });
    this.touch();
  }
}

function readRange() {
  const found = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(recalled("rounds") ?? "");
  return found && Number(found[2]) > Number(found[1]) ? [Number(found[1]), Number(found[2])] : null;
}
