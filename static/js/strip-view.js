// The period strip on the page: follows a live repeat, or scrolls and zooms over a whole one.

import { all, attribute, find, onTheme, remember, recalled, write } from "./dom.js";
import { niceStep } from "./scale.js";
import { StripModel } from "./strip-model.js";
import { roundMarks } from "./strip-rounds.js";
import { budgetWords, StripPainter } from "./strip-paint.js";
import { cellWords, gridWords, stripWords } from "./strip-words.js";

const MOST_CELLS = 400;
const BUDGET_MS = 3; // for decoding, and for judging what was decoded
const REPAINT_MS = 200; // while a long repeat is being decoded

export class StripView {
  /** root holds canvas, [data-role=readout|words|grid|scroll|follow] and [data-span] buttons. */
  constructor(root, { cpus, touch }) {
    this.root = root;
    this.cpus = cpus;
    this.touch = touch;
    this.canvas = find("canvas", root);
    this.painter = new StripPainter(this.canvas);
    this.subject = null;
    this.models = new WeakMap(); // by series: a repeat's model is made once
    this.span = Number(recalled("span")) || 2; // seconds
    this.from = recalled("from") === null ? null : Number(recalled("from")) * 1e6;
    this.focus = null; // index of the cell since the grid's origin
    this.#listen();
  }

  /** subject: {key, series, rounds, arm, live, label}; null when there is nothing to show.
   * Drawn at the next draw(). */
  show(subject) {
    if (this.subject && subject?.key !== this.subject.key) {
      this.focus = null;
      this.from = null;
    }
    this.subject = subject;
  }

  /** Bring a round into view. */
  reveal(round) {
    const zero = this.subject?.series.firstT;
    if (zero === null || zero === undefined) return;
    this.#go(round.start_us - zero - (this.span * 1e6) / 4);
  }

  get model() {
    const { series, arm } = this.subject;
    let model = this.models.get(series);
    if (!model) {
      model = new StripModel({ periodUs: arm.period_us, quotaUs: arm.quota_us, cpus: this.cpus });
      this.models.set(series, model);
    }
    return model;
  }

  /** Draw; true when more is waiting to be decoded. */
  draw() {
    if (!this.subject) return this.#empty("Nothing measured yet for this arm.");
    const { model } = this;
    const whole = this.#take(model);
    const now = performance.now();
    if (!whole && this.scene?.model === model && now - this.drawnAt < REPAINT_MS) {
      this.touch();
      return true;
    }
    this.drawnAt = now;
    if (!model.span) return this.#empty("Waiting for the first sample.");
    const range = this.#range(model);
    const cells = model.cells({ ...range, live: this.subject.live });
    this.scene = this.#scene(model, cells, range);
    this.painter.draw(this.scene);
    this.#write(model, cells);
    if (!whole) this.touch();
    return !whole;
  }

  // Every draw takes some, or it would never end.
  #take(model) {
    const { series } = this.subject;
    const soon = () => {
      const until = performance.now() + BUDGET_MS;
      return () => performance.now() < until;
    };
    const decoded = series.settle(soon());
    return model.feed(series, soon()) && decoded;
  }

  #empty(words) {
    this.scene = null;
    this.painter.draw({
      cells: [],
      from: 0,
      to: 1,
      budgetUs: 1,
      limited: false,
      rounds: [],
      ticks: [],
      words: "",
    });
    write(find("[data-role=readout]", this.root), words);
    return false;
  }

  // Following, the view ends with the period that is open now, so it moves by whole periods
  // and stands still in between.
  #range(model) {
    const period = model.periodUs;
    const { t0, t1 } = model.span;
    const length = Math.min(this.span * 1e6, MOST_CELLS * period);
    this.zero = this.subject.series.firstT;
    if (this.#follows()) {
      const { phase } = model.grid;
      const to = phase + Math.ceil((t1 - phase) / period) * period;
      return { from: to - length, to };
    }
    const latest = Math.max(0, t1 - t0 - length);
    const opens = Math.max(0, (this.subject.opensAt ?? this.zero) - this.zero - length / 8);
    const start = this.from ?? (this.subject.live ? latest : opens);
    const from = this.zero + Math.max(0, Math.min(latest, start));
    return { from, to: from + length };
  }

  #follows() {
    return this.subject.live && this.from === null;
  }

  #scene(model, cells, { from, to }) {
    const { arm } = this.subject;
    return {
      model,
      cells,
      from,
      to,
      limited: arm.quota_us !== null,
      budgetUs: arm.quota_us ?? this.cpus * model.periodUs,
      words: budgetWords({ quotaUs: arm.quota_us, periodUs: model.periodUs, cpus: this.cpus }),
      rounds: roundMarks(this.subject, model, from, to),
      ticks: this.#ticks(from, to),
      focus: this.focus === null ? null : cells[this.#focused(cells)],
    };
  }

  #ticks(from, to) {
    const zero = this.#follows() ? to : this.zero;
    const step = niceStep((to - from) / Math.max(3, Math.min(10, this.painter.width / 90)));
    const digits = step >= 1e6 ? 0 : step >= 100_000 ? 1 : step >= 10_000 ? 2 : 3;
    const ticks = [];
    for (let k = Math.ceil((from - zero) / step); zero + k * step <= to; k += 1) {
      const text = `${((k * step) / 1e6).toFixed(digits).replace("-", "\u2212")} s`;
      ticks.push({ t: zero + k * step, text });
    }
    return ticks;
  }

  #write(model, cells) {
    const { arm, label, live } = this.subject;
    const facts = { zero: this.zero, quotaUs: arm.quota_us, label };
    const index = this.focus === null ? -1 : this.#focused(cells);
    const words = stripWords(cells, facts);
    const readout = index < 0 ? words : cellWords(cells[index], facts);
    write(find("[data-role=readout]", this.root), readout);
    attribute(this.canvas, "aria-label", `Period strip of ${label}`);
    attribute(this.canvas, "aria-valuemax", String(Math.max(0, cells.length - 1)));
    attribute(this.canvas, "aria-valuenow", String(Math.max(0, index)));
    // While it follows, the words would be read out ten times a second.
    if (!this.#follows() || index >= 0) attribute(this.canvas, "aria-valuetext", readout);
    write(find("[data-role=grid]", this.root), gridWords(model.grid, model.periodUs));
    this.#controls(model, live);
  }

  #controls(model, live) {
    const { t0, t1 } = model.span;
    const scroll = find("[data-role=scroll]", this.root);
    const length = Math.min(this.span * 1e6, MOST_CELLS * model.periodUs);
    const max = Math.max(0, Math.ceil((t1 - t0 - length) / 1000));
    attribute(scroll, "max", max);
    attribute(scroll, "step", Math.max(1, Math.round(model.periodUs / 1000)));
    scroll.disabled = max === 0;
    if (document.activeElement !== scroll || this.#follows()) {
      scroll.value = String(Math.round((this.scene.from - this.zero) / 1000));
    }
    const follow = find("[data-role=follow]", this.root);
    follow.hidden = !live;
    attribute(follow, "aria-pressed", String(this.#follows()));
    for (const button of all("[data-span]", this.root)) {
      attribute(button, "aria-pressed", String(Number(button.dataset.span) === this.span));
    }
  }

  #focused(cells) {
    return Math.max(0, Math.min(cells.length - 1, this.focus));
  }

  #go(from) {
    const span = from === null || !this.subject ? null : this.model.span;
    const latest = span ? span.t1 - span.t0 - this.span * 1e6 : Infinity;
    this.from = from === null ? null : Math.max(0, Math.round(Math.min(from, latest)));
    remember({ from: this.from === null ? null : String(Math.round(this.from / 1000) / 1000) });
    this.touch();
  }

  #zoom(seconds) {
    const middle = this.scene ? (this.scene.from + this.scene.to) / 2 - this.zero : 0;
    const follows = !this.subject || this.#follows();
    this.span = seconds;
    remember({ span: seconds === 2 ? null : String(seconds) });
    this.#go(follows ? null : middle - (seconds * 1e6) / 2);
  }

  #listen() {
    const { canvas, root } = this;
    canvas.addEventListener("pointermove", (event) => this.#point(event));
    canvas.addEventListener("pointerleave", () => {
      if (document.activeElement !== canvas) this.#setFocus(null);
    });
    canvas.addEventListener("focus", () => this.#setFocus(this.focus ?? 0));
    canvas.addEventListener("blur", () => this.#setFocus(null));
    canvas.addEventListener("keydown", (event) => this.#key(event));
    find("[data-role=scroll]", root).addEventListener("input", (event) => {
      this.#go(Number(event.target.value) * 1000);
    });
    find("[data-role=follow]", root).addEventListener("click", () => this.#go(null));
    for (const button of all("[data-span]", root)) {
      button.addEventListener("click", () => this.#zoom(Number(button.dataset.span)));
    }
    new ResizeObserver(() => {
      if (this.painter.width === Math.max(200, canvas.parentElement.clientWidth)) return;
      this.painter.resize(); // empties the canvas: drawn again before the next frame
      if (this.scene) this.painter.draw(this.scene);
      this.touch();
    }).observe(canvas.parentElement);
    onTheme(() => {
      this.painter.retheme();
      this.touch();
    });
  }

  #setFocus(index) {
    if (this.focus === index) return;
    this.focus = index;
    this.touch();
  }

  #point(event) {
    if (!this.scene) return;
    const t = this.painter.timeAt(event.offsetX);
    const index = this.scene.cells.findIndex((cell) => t >= cell.t0 && t < cell.t1);
    this.#setFocus(index < 0 ? null : index);
  }

  #key(event) {
    if (!this.scene) return;
    const last = this.scene.cells.length - 1;
    const length = this.scene.to - this.scene.from;
    const at = this.focus ?? 0;
    const page = (sign) => this.#go(this.scene.from - this.zero + sign * length * 0.8);
    const step = (sign) => {
      if (at + sign < 0 || at + sign > last)
        this.#go(this.scene.from - this.zero + (sign * length) / 2);
      this.#setFocus(Math.max(0, Math.min(last, at + sign)));
    };
    const acts = {
      ArrowLeft: () => step(-1),
      ArrowRight: () => step(1),
      ArrowDown: () => step(-1),
      ArrowUp: () => step(1),
      PageUp: () => page(-1),
      PageDown: () => page(1),
      Home: () => {
        this.#go(0);
        this.#setFocus(0);
      },
      End: () => {
        this.#go(this.subject.live ? null : Number.MAX_SAFE_INTEGER);
        this.#setFocus(last);
      },
      "+": () => this.#zoomBy(-1),
      "-": () => this.#zoomBy(1),
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[event.key]();
  }

  #zoomBy(step) {
    const spans = all("[data-span]", this.root).map((button) => Number(button.dataset.span));
    const next = spans[spans.indexOf(this.span) + step];
    if (next) this.#zoom(next);
  }
}
