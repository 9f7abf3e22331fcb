// Redraws what changed, in animation frames, each part no oftener than it needs, and stops
// within a frame's budget: what is left over waits for the next frame.

const BUDGET_MS = 8;

export class Painter {
  constructor() {
    this.parts = new Map(); // name -> {draw, every, dirty, last}
    this.asked = false;
  }

  /** A part of the page: `draw()` at most once in `everyMs`; false asks for one more frame.
   * What is drawn `apart` gets a task of its own: it and the frame would be long together. */
  add(name, draw, everyMs = 0, { apart = false } = {}) {
    this.parts.set(name, { draw, every: everyMs, apart, dirty: false, last: -Infinity });
  }

  /** Forget the parts whose names begin so. */
  remove(prefix) {
    for (const name of [...this.parts.keys()]) if (name.startsWith(prefix)) this.parts.delete(name);
  }

  /** These parts were drawn already. */
  drawn(...names) {
    for (const name of names) this.parts.get(name).dirty = false;
  }

  touch(...names) {
    for (const name of names) this.parts.get(name).dirty = true;
    this.#ask();
  }

  touchAll() {
    this.touch(...this.parts.keys());
  }

  /** False when the part wants one more frame; it then counts as not drawn. */
  #draw(part) {
    const before = part.last;
    Object.assign(part, { dirty: false, last: performance.now() });
    if (part.draw() !== false) return true;
    Object.assign(part, { dirty: true, last: before });
    return false;
  }

  #later(name, part) {
    part.dirty = false;
    setTimeout(() => {
      const there = this.parts.get(name) === part; // it may have been removed meanwhile
      if (there && !this.#draw(part)) this.#ask();
    });
  }

  #ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => this.#frame());
  }

  #frame() {
    this.asked = false;
    const start = performance.now();
    let soonest = Infinity;
    for (const [name, part] of [...this.parts]) {
      if (!part.dirty) continue;
      const now = performance.now();
      const wait = part.last + part.every - now;
      if (wait > 0 || now - start > BUDGET_MS) {
        soonest = Math.min(soonest, Math.max(0, wait));
        continue;
      }
      if (part.apart) this.#later(name, part);
      else if (!this.#draw(part)) soonest = 0;
      // The one that was drawn goes to the end, so that nobody waits for ever.
      this.parts.delete(name);
      this.parts.set(name, part);
    }
    if (soonest === 0) this.#ask();
    else if (soonest < Infinity && !this.timer) {
      this.timer = setTimeout(() => {
        this.timer = null;
        this.#ask();
      }, soonest);
    }
  }
}
