// The card of per-round charts: the chosen arm in a few panels, or all arms side by side. The
// wall of rounds is a plot of Plotly's; every other panel is painted here. What a panel shows
// by the arm's result is in chart-panels.js.

import { find, make, onTheme, remember, recalled, write } from "./dom.js";
import { BarPanel } from "./bar-panel.js";
import { PlotPanel } from "./chart.js";
import { layoutOf, PanelData } from "./chart-panels.js";
import { count } from "./format.js";
import { axisOf } from "./rounds-data.js";
import { panelHeight } from "./scale.js";
import { nounOf } from "./units.js";

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
    const layout = (index) => layoutOf(this.store.arms[index]);
    const one = arm !== null && this.arm !== null && this.slots.length > 0;
    const reuse = one && layout(arm) === layout(this.arm);
    this.arm = arm;
    const shown = arm === null ? this.store.arms.some((a) => layoutOf(a).one.length) : layout(arm).one.length;
    this.root.hidden = !shown;
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
    for (const arm of this.#comparable(slot)) {
      if (performance.now() > until) return false;
      this.#data(slot.measure, arm);
    }
    return performance.now() > until ? false : this.#draw(slot);
  }

  // Small multiples are comparable: one scale for a measure over all arms that have it.
  #comparable({ measure, arm }) {
    if (this.arm !== null) return [arm];
    const has = (each) => layoutOf(each).small.some(([name]) => name === measure);
    return this.store.arms.filter(has).map((each) => each.index);
  }

  #oneSlots() {
    const { one } = layoutOf(this.store.arms[this.arm]);
    return one.map(([measure, inner], i) =>
      this.#slot({ measure, inner, arm: this.arm, axis: i === one.length - 1 }),
    );
  }

  #allSlots() {
    const slots = [];
    for (const arm of this.store.arms) {
      const { small } = layoutOf(arm);
      if (!small.length) continue;
      const into = make("div", { className: "column" }, make("h3", {}, arm.label));
      this.body.append(into);
      small.forEach(([measure, inner], i) => {
        const axis = i === small.length - 1;
        slots.push(this.#slot({ measure, inner, arm: arm.index, axis, into }));
      });
    }
    return slots;
  }

  #slot({ measure, inner, arm, axis, into = this.body }) {
    const { title, unit, kind } = PanelData.describe(measure);
    const plot = make("div", { className: "plot" });
    const figure = make("figure", { className: "panel" });
    const beside = make("span", { className: "beside" });
    const scale = make("span", { className: "u" }, unit);
    figure.append(make("figcaption", {}, title, " ", scale, beside), plot);
    plot.style.height = `${panelHeight(inner, axis)}px`;
    into.append(figure);
    const panel = new (kind === "dots" ? PlotPanel : BarPanel)(plot, {
      onPick: (found) => found && this.onPick(found),
      onHover: (found) => this.#read(found),
      onRange: (range) => this.#zoom(range),
    });
    return { measure, inner, arm, axis, plot, panel, beside, scale, unit };
  }

  #axis(arm) {
    if (!this.axes.has(arm)) this.axes.set(arm, axisOf(this.store, arm));
    return this.axes.get(arm);
  }

  #data(measure, arm) {
    const key = `${measure} ${arm}`;
    if (!this.values.has(key)) {
      const data = new PanelData(measure, this.store.arms[arm], this.#axis(arm).rows);
      this.values.set(key, data);
    }
    return this.values.get(key);
  }

  #draw(slot) {
    const { measure, inner, arm: index, axis, plot, panel, beside, scale, unit } = slot;
    const arm = this.store.arms[index];
    const data = this.#data(measure, index);
    const { top, floor } = PanelData.scaleOf(this.#comparable(slot).map((i) => this.#data(measure, i)));
    write(beside, data.publishedWords(this.arm === null));
    write(scale, floor === null ? unit : `${unit}, logarithmic`);
    const { rows, splits } = this.#axis(index);
    const repeats = this.store.repeatsOf(index).length;
    const many = repeats > 1;
    const total = Math.max(arm.rounds * repeats, rows.length, 1);
    const range = this.range ?? [0.4, total + 0.6];
    const points = data.points(this.range);
    const inside = Math.max(60, plot.clientWidth - 54);
    const noun = nounOf(arm);
    const first = measure === layoutOf(arm).one[0][0];
    panel.draw({
      ...data.look,
      range,
      top,
      floor,
      ...points,
      width: plot.clientWidth,
      height: panelHeight(inner, axis),
      axis: axis ? (many ? `${noun}, over all repeats` : noun) : "",
      lines: data.lines(),
      splits: many
        ? splits.map(({ x, n }) => ({ x, text: first && splits.length < 9 ? `repeat ${n}` : "" }))
        : [],
      ids: (x) => rows[Math.round(x) - 1] ?? null,
      name: `${PanelData.describe(measure).title}, ${arm.label}`,
      planned: total,
      words: data.words(),
      say: (row) => data.say(row, many),
      barWidth: Math.max(1, Math.min(8, (inside / (range[1] - range[0])) * 0.6)),
    });
    if (first) this.#say(points, noun);
  }

  #say({ thinned, total, x }, noun) {
    const zoomed = this.range
      ? `${noun}s ${Math.ceil(this.range[0])} to ${Math.floor(this.range[1])}; `
      : "";
    const thin = thinned
      ? `${count(x.length)} of ${count(total)} ${noun}s drawn: the smallest and largest of each stretch`
      : "";
    write(this.note, `${zoomed}${thin}`.replace(/; $/, ""));
    find("[data-role=unzoom]", this.root).hidden = !this.range;
  }

  #read(row) {
    write(find("[data-role=point]", this.root), row ? this.#words(row) : this.#hint());
  }

  #words(row) {
    const { arm } = row.repeat;
    const [measure] = layoutOf(this.store.arms[arm]).one[0];
    return this.#data(measure, arm).say(row, this.store.repeatsOf(arm).length > 1);
  }

  #hint() {
    const noun = nounOf(this.store.arms[this.arm ?? 0]);
    return `Drag to zoom; click a ${noun} to see its periods.`;
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
