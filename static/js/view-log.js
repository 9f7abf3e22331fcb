// The log drawer: the newest lines first, 500 at most until older ones are asked for.

import { find, make, write } from "./dom.js";
import { clock, count } from "./format.js";

const SHOWN = 500;

export class LogView {
  constructor(root, { store }) {
    Object.assign(this, { root, store, shown: SHOWN, drawn: 0, from: 0 });
    this.list = find("ol", root);
    this.older = find("[data-role=older]", root);
    this.older.addEventListener("click", () => {
      this.shown += SHOWN;
      this.drawn = 0;
      this.list.replaceChildren();
      this.draw();
    });
    root.addEventListener("toggle", () => this.draw());
  }

  draw() {
    const { log, logDropped } = this.store;
    const end = log.length + logDropped; // numbers of lines since the beginning
    write(find("[data-role=lines]", this.root), `${count(end)} lines, newest first`);
    if (!this.root.open) return;
    const first = Math.max(this.drawn, end - this.shown, logDropped);
    const fresh = log.slice(first - logDropped).map((line) => this.#line(line));
    this.list.prepend(...fresh.reverse());
    this.drawn = end;
    while (this.list.children.length > this.shown) this.list.lastElementChild.remove();
    const older = end - logDropped - this.list.children.length;
    this.older.hidden = older <= 0;
    write(this.older, `Show ${Math.min(older, SHOWN)} older lines`);
  }

  #line({ at, level, text, repeat }) {
    const found = repeat === null ? null : this.store.byId.get(repeat);
    const arm = found ? this.store.arms[found.arm] : null;
    const many = found && this.store.repeatsOf(found.arm).length > 1;
    const who = arm ? `${arm.label}${many ? `, repeat ${found.n}` : ""}` : "run";
    const word = level === "info" ? "" : `${level}: `;
    return make(
      "li",
      { className: level },
      make("span", { className: "at" }, clock(at)),
      make("b", {}, who),
      make("span", {}, word + text),
    );
  }
}
