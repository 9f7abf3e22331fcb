// The counters of the chosen arm: this round, this arm, and what each number counts.

import { find, write } from "./dom.js";
import { count, cpus, cpuTime, number, time } from "./format.js";

const ROWS = {
  wall: { round: (r) => time(r.wall_us), arm: (f) => `${time(f.p50)} median` },
  window: { round: (r, c) => time(c.window_us), arm: (f) => time(f.window_us) },
  periods: { round: (r, c) => count(c.nr_periods), arm: (f) => count(f.nr_periods) },
  throttled: {
    round: (r, c) => ratio(c.nr_throttled, c.nr_periods),
    arm: (f) => ratio(f.nr_throttled, f.nr_periods),
  },
  paused: { round: (r, c) => cpuTime(c.throttled_us), arm: (f) => cpuTime(f.throttled_us) },
  usage: { round: (r, c) => cpuTime(c.usage_us), arm: (f) => cpuTime(f.usage_us) },
  cpus: { round: (r, c) => cpus(perWindow(c)), arm: (f) => cpus(f.cpus) },
  delay: { round: (r, c) => time(c.run_delay_us), arm: (f) => time(f.run_delay_us) },
};

// A group without a quota has no period timer: its zeros count nothing.
const UNLIMITED = ["periods", "throttled", "paused"];

const perWindow = (c) => (c.usage_us === null || !c.window_us ? null : c.usage_us / c.window_us);

// The number of periods always stands beside: the ratio of few periods says little.
const ratio = (part, whole) => {
  if (part === null || whole === null) return "not measured";
  return `${count(part)} of ${count(whole)}`;
};

export class CountersView {
  constructor(root, { hz }) {
    Object.assign(this, { root, hz });
  }

  /** row: {repeat, round} or null; figures of the arm; the arm itself. */
  draw(row, figures, arm, picked) {
    const { root } = this;
    write(find("[data-role=arm]", root), arm.label);
    const name = row
      ? `round ${row.round.n}${row.many ? ` of repeat ${row.repeat.n}` : ""}`
      : "this round";
    write(find("[data-role=round]", root), picked && row ? `${name} (picked)` : name);
    write(find("[data-role=release]", root), picked ? "Follow the newest round" : "");
    find("[data-role=release]", root).hidden = !picked;
    const c = row ? (row.round.settled ?? row.round.burst) : null;
    for (const [key, { round, arm: whole }] of Object.entries(ROWS)) {
      const tr = find(`tr[data-counter=${key}]`, root);
      const none = arm.quota_us === null && UNLIMITED.includes(key) ? "no limit" : null;
      write(tr.cells[1], row ? (none ?? round(row.round, c)) : "–");
      write(tr.cells[2], figures.n ? (none ?? whole(figures)) : "–");
    }
    write(find("[data-role=source]", root), this.#source(row, figures, arm));
  }

  #source(row, figures, arm) {
    const state =
      row && !row.round.settled
        ? "This round is not settled yet: the kernel books a pause when it ends. "
        : "";
    const limit =
      arm.quota_us === null
        ? "No limit: the kernel keeps no periods for this group. "
        : `Limit ${number(arm.quota_us / 1000)} CPU ms per ${number(arm.period_us / 1000)} ms period. `;
    const whole =
      figures.source === "totals"
        ? "“This arm” is read from outside the group, over the whole of its repeats."
        : `“This arm” adds up ${count(figures.settled)} settled rounds so far.`;
    return `${state}${limit}${whole}`;
  }
}
