// The table that a finished run leads with: one line an arm, published figures beside in grey.

import { all, find, write } from "./dom.js";
import { pausedWords } from "./figures.js";
import { count, cpus, cpuTime, ofTotal, time } from "./format.js";

const NEEDS_20 = "needs 20 rounds";

const CELLS = {
  rounds: (f) => count(f.n),
  p50: (f) => time(f.p50),
  p95: (f) => (f.n && f.p95 === null ? NEEDS_20 : time(f.p95)),
  max: (f) => time(f.max),
  rounds_paused: (f, arm) => pausedWords(arm, f),
  throttled: (f, arm) => (arm.quota_us === null ? "no limit" : ofTotal(f.nr_throttled, f.nr_periods)),
  paused: (f, arm) => (arm.quota_us === null ? "no limit" : cpuTime(f.throttled_us)),
  usage: (f) => cpuTime(f.usage_us),
  cpus: (f) => cpus(f.cpus),
};

export class SummaryView {
  constructor(root, { store }) {
    Object.assign(this, { root, store });
  }

  draw(figures, chosen) {
    if (this.root.hidden) return;
    for (const row of all("tr[data-arm]", this.root)) {
      const arm = this.store.arms.find((each) => each.name === row.dataset.arm);
      const f = figures(arm.index);
      row.setAttribute("aria-current", String(arm.name === chosen));
      for (const [role, words] of Object.entries(CELLS)) {
        const none = this.store.waits ? "loading" : "not measured";
        write(find(`[data-role=${role}]`, row), f.n ? words(f, arm) : none);
      }
    }
  }
}
