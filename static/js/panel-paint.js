// Paints a per-round panel on a canvas: grid, values, limit and published lines, bounds of
// repeats, bars, the axis of rounds. What Plotly draws lies over it, on the same scales.

import { fit, FONT, line, pauseHatch } from "./canvas.js";
import { colours } from "./dom.js";
import { count } from "./format.js";
import { paintLatencies, paintSeries } from "./line-paint.js";
import { geometry, logTicks, roundTicks, valueTicks } from "./scale.js";

const TOKENS = [
  "ink",
  "soft",
  "line",
  "hair",
  "run",
  "run-soft",
  "pause",
  "pause-soft",
  "pause-ink",
  "limit",
  "published",
  "published-ink",
  "card",
  "bad",
];
const HATCHED = 5; // a bar narrower than this has no room for the hatch

export class PanelPainter {
  constructor(canvas) {
    this.canvas = canvas;
    this.g = canvas.getContext("2d");
    this.retheme();
  }

  retheme() {
    this.c = colours(TOKENS);
    this.hatch = pauseHatch(this.c);
  }

  /** panel as in bar-panel.js; `drag` is [from, to] in pixels, `focus` the round looked at. */
  draw(panel, { drag = null, focus = null } = {}) {
    const { width, height } = panel;
    if (this.width !== width || this.height !== height) fit(this.canvas, width, height);
    Object.assign(this, { width, height, at: geometry(panel) });
    const { g } = this;
    g.clearRect(0, 0, width, height);
    g.font = FONT;
    if (drag) this.#drag(drag);
    this.#values(panel);
    for (const split of panel.splits) this.#split(split);
    if (panel.kind === "bars") this.#bars(panel);
    this.#lines(panel);
    if (panel.kind === "latency") paintLatencies(this, panel);
    if (panel.kind === "series") paintSeries(this, panel);
    if (focus !== null) this.#focus(focus);
    if (panel.axis) this.#rounds(panel);
  }

  #values({ top, height, floor = null }) {
    const { g, c, at } = this;
    g.textAlign = "right";
    g.textBaseline = "middle";
    g.lineWidth = 1;
    g.fillStyle = c.soft;
    const ticks = floor === null ? valueTicks(top, height) : logTicks(floor, top, height);
    for (const { value, text } of ticks) {
      const y = Math.round(at.y(value)) + 0.5;
      g.strokeStyle = value === (floor ?? 0) ? c.line : c.hair;
      line(g, at.left, y, at.right, y);
      g.fillText(text, at.left - 4, Math.min(y, this.height - 6));
    }
  }

  #split({ x, text }) {
    const { g, c, at } = this;
    const px = Math.round(at.x(x)) + 0.5;
    if (px < at.left - 1 || px > at.right + 1) return;
    g.strokeStyle = c.line;
    g.setLineDash([2, 3]);
    line(g, px, at.ceiling, px, at.base);
    g.setLineDash([]);
    if (!text) return;
    g.fillStyle = c.soft;
    g.textAlign = "left";
    g.textBaseline = "top";
    g.fillText(text, px + 3, at.ceiling);
  }

  #bars({ x, y, colour, barWidth }) {
    const { g, c, at } = this;
    const wide = barWidth >= HATCHED;
    const held = colour === "pause" && wide;
    g.beginPath();
    for (let i = 0; i < x.length; i += 1) {
      if (!y[i]) continue;
      const left = at.x(x[i]) - barWidth / 2;
      if (left > at.right || left + barWidth < at.left) continue;
      const top = at.y(y[i]);
      if (wide) g.rect(Math.round(left) + (held ? 0.5 : 0), top, barWidth, at.base - top);
      else g.rect(left, top, barWidth, at.base - top);
    }
    g.fillStyle = held ? this.hatch : c[colour];
    g.fill();
    if (!held) return;
    g.strokeStyle = c.pause;
    g.lineWidth = 1;
    g.stroke();
  }

  #lines({ lines }) {
    const { g, c, at } = this;
    g.textAlign = "right";
    g.textBaseline = "middle";
    for (const { y, look, text } of lines) {
      const py = at.y(y);
      g.strokeStyle = c[look];
      g.lineWidth = look === "limit" ? 1.5 : 2;
      line(g, at.left, py, at.right, py);
      // Above its line where there is room for it, else below.
      const middle = py - 9 < at.ceiling ? py + 9 : py - 9;
      if (look === "limit") {
        const needs = g.measureText(text).width;
        g.fillStyle = c.card;
        g.fillRect(at.right - needs - 4, middle - 7, needs + 4, 14);
      }
      g.fillStyle = look === "published" ? c["published-ink"] : c.ink;
      g.fillText(text, at.right - 2, middle);
    }
  }

  #rounds({ range, axis }) {
    const { g, c, at } = this;
    g.textAlign = "center";
    g.textBaseline = "top";
    g.fillStyle = c.soft;
    g.strokeStyle = c.line;
    g.lineWidth = 1;
    for (const round of roundTicks(range, at.right - at.left)) {
      const x = Math.round(at.x(round)) + 0.5;
      line(g, x, at.base, x, at.base + 4);
      const text = count(round);
      const half = g.measureText(text).width / 2;
      g.fillText(text, Math.min(x, this.width - half), at.base + 6);
    }
    g.textBaseline = "bottom";
    g.fillText(axis, (at.left + at.right) / 2, this.height - 1);
  }

  #focus(round) {
    const { g, c, at } = this;
    const x = Math.round(at.x(round)) + 0.5;
    g.strokeStyle = c.ink;
    g.lineWidth = 1.5;
    g.strokeRect(x - 5.5, at.ceiling, 11, at.base - at.ceiling);
  }

  #drag([from, to]) {
    const { g, c, at } = this;
    g.fillStyle = c["run-soft"];
    g.fillRect(Math.min(from, to), at.ceiling, Math.abs(to - from), at.base - at.ceiling);
  }
}
