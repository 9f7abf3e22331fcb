// One panel on a canvas, a bar, a second or a report a round: hover, click, drag to zoom, keys.

import { attribute, make } from "./dom.js";
import { PanelPainter } from "./panel-paint.js";
import { nearest } from "./scale.js";

const NEAR = 20; // pixels from a bar that still mean it
const DRAG = 6; // pixels of movement from which a press is no click

export class BarPanel {
  /** onPick(what) on a click on a bar; onHover(what | null); onRange([from, to] | null). */
  constructor(element, { onPick, onRange, onHover }) {
    Object.assign(this, { onPick, onRange, onHover });
    this.canvas = make("canvas", { tabIndex: 0, "aria-valuemin": 1 });
    attribute(this.canvas, "role", "slider");
    element.replaceChildren(this.canvas);
    this.painter = new PanelPainter(this.canvas);
    this.focus = null; // index of the bar the keyboard is on
    this.press = null; // {from, to} in pixels while a button is down
    this.#listen();
  }

  retheme() {
    this.painter.retheme();
  }

  /**
   * panel: {kind: "bars", colour, x, y, ids(x), range: [from, to], top, width, height,
   * axis (written below), lines: [{y, text, look}], splits: [{x, text}], barWidth, name, words,
   * say(what)}. `ids(x)` gives what a bar stands for, `say` puts that into words. The kinds
   * "latency" and "series" have what line-paint.js draws, and maybe a `floor` (logarithmic).
   */
  draw(panel) {
    this.panel = panel;
    this.#paint();
    const { canvas } = this;
    attribute(canvas, "aria-label", panel.name);
    attribute(canvas, "aria-valuemax", String(Math.max(1, panel.x.at(-1) ?? 1)));
    if (this.focus === null) this.#value(1, panel.words);
  }

  clear() {}

  #value(now, words) {
    attribute(this.canvas, "aria-valuenow", String(now));
    attribute(this.canvas, "aria-valuetext", words);
  }

  #paint() {
    const { panel, press, focus } = this;
    if (!panel) return;
    const dragged = press && Math.abs(press.to - press.from) >= DRAG;
    this.painter.draw(panel, {
      drag: dragged ? [press.from, press.to] : null,
      focus: focus === null ? null : (panel.x[focus] ?? null),
    });
  }

  /** What stands under a pixel, or null. */
  #under(px) {
    if (!this.panel) return null;
    const { x, ids } = this.panel;
    const { at } = this.painter;
    const i = nearest(x, at.roundAt(px));
    return i >= 0 && Math.abs(at.x(x[i]) - px) <= NEAR ? ids(x[i]) : null;
  }

  #listen() {
    const { canvas } = this;
    const inside = (px) => {
      const { left, right } = this.painter.at;
      return Math.min(right, Math.max(left, px));
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.panel) return;
      this.press = { from: inside(event.offsetX), to: inside(event.offsetX) };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.press) return this.#point(this.#under(event.offsetX));
      this.press.to = inside(event.offsetX);
      return this.#paint();
    });
    canvas.addEventListener("pointerup", (event) => this.#release(event));
    canvas.addEventListener("pointercancel", () => this.#drop());
    canvas.addEventListener("pointerleave", () => this.focus === null && this.#point(null));
    canvas.addEventListener("dblclick", () => this.onRange(null));
    canvas.addEventListener("keydown", (event) => this.#key(event));
    canvas.addEventListener("blur", () => this.#go(null));
  }

  // Only news is told: a pointer moves oftener than it comes to another round.
  #point(found) {
    if (found === this.pointed) return;
    this.pointed = found;
    this.onHover(found);
  }

  #drop() {
    this.press = null;
    this.#paint();
  }

  #release(event) {
    const { press } = this;
    if (!press) return;
    this.#drop();
    const { at } = this.painter;
    const ends = [press.from, press.to].sort((a, b) => a - b).map((px) => at.roundAt(px));
    if (Math.abs(press.to - press.from) >= DRAG) return this.onRange(ends);
    const found = this.#under(event.offsetX);
    if (found) this.onPick(found);
  }

  #go(index) {
    const was = this.focus;
    this.focus = index;
    if (was === null && index === null) return;
    this.#paint();
    const { x, ids, say, words } = this.panel;
    const found = index === null ? null : ids(x[index]);
    this.#value(index === null ? 1 : x[index], found ? say(found) : words);
    this.#point(found);
  }

  #key(event) {
    if (!this.panel?.x.length || event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.panel.x.length - 1;
    const step = (by) => Math.max(0, Math.min(last, (this.focus ?? (by < 0 ? last + 1 : -1)) + by));
    const acts = {
      ArrowLeft: () => this.#go(step(-1)),
      ArrowDown: () => this.#go(step(-1)),
      ArrowRight: () => this.#go(step(1)),
      ArrowUp: () => this.#go(step(1)),
      PageUp: () => this.#go(step(-10)),
      PageDown: () => this.#go(step(10)),
      Home: () => this.#go(0),
      End: () => this.#go(last),
      Escape: () => this.#go(null),
      Enter: () => this.focus !== null && this.onPick(this.panel.ids(this.panel.x[this.focus])),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }
}
