// Draws a period strip on a canvas: cells, slices, the budget line, rounds below, a time axis.

import { fit, FONT, line, pauseHatch, unknownHatch } from "./canvas.js";
import { colours } from "./dom.js";
import { cpuTime, number } from "./format.js";

const TOKENS = [
  "ink",
  "soft",
  "line",
  "hair",
  "run",
  "run-soft",
  "pause",
  "pause-soft",
  "limit",
  "unknown",
  "card",
  "published",
];
const WORDS = { unknown: "unknown", open: "not known yet" };
const TOP = 22; // room above the highest bar for what is written on the budget line

export class StripPainter {
  constructor(canvas, { height = 188, compact = false } = {}) {
    this.canvas = canvas;
    this.height = height;
    this.compact = compact;
    this.g = canvas.getContext("2d");
    this.retheme();
    this.resize();
  }

  retheme() {
    this.c = colours(TOKENS);
    this.hatch = pauseHatch(this.c);
    this.cross = unknownHatch(this.c);
  }

  resize() {
    this.width = Math.max(200, this.canvas.parentElement.clientWidth);
    fit(this.canvas, this.width, this.height);
  }

  get base() {
    return this.height - (this.compact ? 4 : 54);
  }

  /** x of a time, and back. */
  x(t) {
    return ((t - this.from) / (this.to - this.from)) * this.width;
  }

  timeAt(x) {
    return this.from + (x / this.width) * (this.to - this.from);
  }

  /**
   * scene: {cells, from, to, budgetUs, limited, rounds: [{n, t0, t1, label, pauses}], focus,
   * ticks: [{t, text}], words}; rounds as strip-rounds.js makes them. budgetUs is what a full-height cell stands for.
   */
  draw(scene) {
    Object.assign(this, { from: scene.from, to: scene.to });
    const { g } = this;
    g.clearRect(0, 0, this.width, this.height);
    g.font = FONT;
    g.textBaseline = "alphabetic";
    const full = this.base - TOP - (this.base - TOP) * 0.2; // a cell may exceed its budget
    for (const cell of scene.cells) this.#cell(cell, scene, full);
    if (!this.compact) this.#unknowns(scene.cells, full);
    this.#budget(scene, full);
    if (this.compact) return;
    for (const round of scene.rounds) round.stretch ? this.#stretch(round) : this.#round(round);
    this.#axis(scene.ticks);
    if (scene.focus) this.#focus(scene.focus);
  }

  #cell(cell, scene, full) {
    const { g, c } = this;
    const x0 = this.x(cell.t0);
    const width = this.x(cell.t1) - x0;
    const gap = width > 8 ? 1 : width > 3 ? 0.5 : 0;
    g.fillStyle = c.hair;
    g.fillRect(x0 + gap, this.base - full, Math.max(0.5, width - 2 * gap), full);
    const share = cell.used_us === null ? 0 : cell.used_us / scene.budgetUs;
    const height = Math.min(full * 1.2, full * share);
    for (const slice of cell.slices) {
      const left = Math.max(x0 + gap, this.x(slice.t0));
      const right = Math.min(x0 + width - gap, this.x(slice.t1));
      if (right > left) this.#slice(slice.kind, left, right - left, full, height);
    }
  }

  #slice(kind, x, width, full, height) {
    const { g, c } = this;
    const top = this.base - full;
    if (kind === "running") {
      g.fillStyle = c.run;
      const shown = Math.max(height, 1.5);
      g.fillRect(x, this.base - shown, Math.max(width, 1), shown);
    } else if (kind === "paused") {
      g.fillStyle = this.hatch;
      g.fillRect(x, top, width, full);
      this.#frame(x, top, width, full, c.pause, []);
    } else if (kind === "unknown") {
      g.fillStyle = this.cross;
      g.fillRect(x, top, width, full);
    } else if (kind === "open") {
      this.#frame(x, top, width, full, c.soft, [3, 2]);
    }
  }

  // One word for a stretch of them, however many cells it has.
  #unknowns(cells, full) {
    const runs = [];
    for (const { slices } of cells) {
      for (const { kind, t0, t1 } of slices) {
        if (!WORDS[kind]) continue;
        const last = runs.at(-1);
        if (last && last.kind === kind && last.t1 === t0) last.t1 = t1;
        else runs.push({ kind, t0, t1 });
      }
    }
    for (const { kind, t0, t1 } of runs) {
      const left = Math.max(0, this.x(t0));
      const right = Math.min(this.width, this.x(t1));
      this.#word(WORDS[kind], left, right - left, this.base - full / 2, full);
    }
  }

  #frame(x, y, width, height, colour, dash) {
    if (width < 2) return;
    this.g.setLineDash(dash);
    this.g.strokeStyle = colour;
    this.g.lineWidth = 1;
    this.g.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    this.g.setLineDash([]);
  }

  #word(text, x, width, y, room) {
    const { g, c } = this;
    const needs = g.measureText(text).width;
    g.save();
    g.translate(x + width / 2, y);
    if (needs + 8 > width) {
      if (width < 15 || needs + 6 > room) return g.restore();
      g.rotate(-Math.PI / 2);
    }
    g.fillStyle = c.card;
    g.fillRect(-needs / 2 - 3, -8, needs + 6, 15);
    g.fillStyle = c.soft;
    g.textAlign = "center";
    g.fillText(text, 0, 4);
    return g.restore();
  }

  #budget(scene, full) {
    const { g, c } = this;
    const y = Math.round(this.base - full) + 0.5;
    g.strokeStyle = c.limit;
    g.lineWidth = scene.limited ? 1.5 : 1;
    g.setLineDash(scene.limited ? [] : [2, 4]);
    line(g, 0, y, this.width, y);
    g.setLineDash([]);
    g.strokeStyle = c.line;
    line(g, 0, this.base + 0.5, this.width, this.base + 0.5);
    if (this.compact) return;
    g.fillStyle = c.ink;
    g.textAlign = "left";
    g.fillText(scene.words, 1, TOP - 9); // above the highest bar there can be
  }

  #round({ t0, t1, label, pauses }) {
    const { g, c } = this;
    const x0 = this.x(t0);
    const width = Math.max(2, this.x(t1) - x0);
    const y = this.base + 8;
    g.beginPath();
    g.roundRect(x0, y, width, 9, Math.min(4, width / 2));
    g.fillStyle = c["run-soft"];
    g.fill();
    g.save();
    g.clip();
    g.fillStyle = this.hatch;
    for (const pause of pauses) g.fillRect(this.x(pause.t0), y, this.x(pause.t1) - this.x(pause.t0), 9);
    g.restore();
    g.strokeStyle = c.run;
    g.lineWidth = 1;
    g.stroke();
    this.#label(label, x0, y + 21);
  }

  // A stretch of time that holds many requests is a bracket, not a span of its own; its words
  // stay inside it.
  #stretch({ t0, t1, label }) {
    const { g, c } = this;
    const [x0, x1] = [this.x(t0), this.x(t1)];
    const y = this.base + 8;
    g.strokeStyle = c.soft;
    g.lineWidth = 1;
    line(g, x0 + 1, y + 4.5, x1 - 1, y + 4.5);
    for (const x of [x0 + 1, x1 - 1]) line(g, Math.round(x) + 0.5, y, Math.round(x) + 0.5, y + 9);
    const left = Math.max(0, x0 + 2);
    if (g.measureText(label).width + 8 > Math.min(this.width, x1) - left) return;
    this.#label(label, left, y + 21);
  }

  #label(label, x0, y) {
    const { g, c } = this;
    if (!label) return;
    g.fillStyle = c.soft;
    const needs = g.measureText(label).width;
    g.textAlign = x0 + needs > this.width ? "right" : "left";
    g.fillText(label, g.textAlign === "right" ? this.width - 1 : Math.max(0, x0), y);
  }

  #axis(ticks) {
    const { g, c } = this;
    g.fillStyle = c.soft;
    for (const { t, text } of ticks) {
      const x = this.x(t);
      if (x < -1 || x > this.width + 1) continue;
      const needs = g.measureText(text).width / 2;
      g.textAlign = "center";
      g.fillText(text, Math.min(this.width - needs, Math.max(needs, x)), this.height - 4);
    }
  }

  #focus(cell) {
    const x = this.x(cell.t0);
    this.g.strokeStyle = this.c.ink;
    this.g.lineWidth = 1.5;
    this.g.strokeRect(x + 0.75, TOP - 12, Math.max(3, this.x(cell.t1) - x - 1.5), this.base - TOP + 13);
  }
}

/** What is written on the line at the cell's full height. */
export function budgetWords({ quotaUs, periodUs, cpus }) {
  if (quotaUs === null) {
    return `no limit; the line is ${cpus} CPUs, ${cpuTime(cpus * periodUs)} a period`;
  }
  return `budget ${cpuTime(quotaUs)} per ${number(periodUs / 1000)} ms period`;
}
