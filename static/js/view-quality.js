// One line over a run's figures: did something else disturb them? Its room is kept, so nothing
// moves when the answer comes.

import { find, write } from "./dom.js";
import { runWords } from "./disturbance.js";

const WORDS = { warn: "Disturbed", ok: "Undisturbed", "": "Other work" };

export class QualityView {
  constructor(root, { store }) {
    Object.assign(this, { root, store });
  }

  draw(figures) {
    const { level, text } = runWords(this.store, figures);
    const over = !["queued", "running"].includes(this.store.run.status);
    this.root.classList.toggle("warn", level === "warn");
    write(find("b", this.root), `${WORDS[level]}${level === "ok" && !over ? " so far" : ""}`);
    write(find("[data-role=quality]", this.root), text);
  }
}
