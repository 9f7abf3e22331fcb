// The counters of the chosen arm: this round, this arm, and what each number counts.

import { find, write } from "./dom.js";
import { count, cpus, cpuTime, number, time } from "./format.js";
import { hasLatencies, nounOf, resultOf } from "./units.js";

const ROWS = {
  window: { round: (r, c) => time(c.window_us), arm: (f) => time(f.window_us) },
  periods: { round: (r, c) => count(c.nr_periods), arm: (f) => count(f.nr_periods) },
  throttled: {
    round: (r, c) => ratio(c.nr_throttled, c.nr_periods),
    arm: (f) => ratio(f.nr_throttled, f.nr_periods),
  },
  paused: { round: (r, c) => cpuTime(c.throttled_us), arm: (f) => cpuTime(f.throttled_us) },
  bursts: { round: (r, c) => ratio(c.nr_bursts, c.nr_periods), arm: (f) => ratio(f.nr_bursts, f.nr_periods) },
  burst: { round: (r, c) => cpuTime(c.burst_us), arm: (f) => cpuTime(f.burst_us) },
  usage: { round: (r, c) => cpuTime(c.usage_us), arm: (f) => cpuTime(f.usage_us) },
  cpus: { round: (r, c) => cpus(perWindow(c)), arm: (f) => cpus(f.cpus) },
  delay: { round: (r, c) => time(c.run_delay_us), arm: (f) => time(f.run_delay_us) },
};

const WALLS = {
  burst: "from the release of all threads to the last one’s finish",
  tasks: "from the task’s begin to its end, pauses included",
  parallel: "from the first process’s start to the last one’s exit",
};

const LATENCIES = {
  work_us: "of the requests that were answered, from when each was to be sent",
  request_us: "of the requests, from each one’s own start: they come one after another",
};

const FIRST = {
  wall_us: { title: "wall", round: (r) => time(r.wall_us), arm: (f) => `${time(f.p50)} median` },
  latency: {
    title: "latency, median",
    round: (r, result) => time(r.measures[result]?.p50 ?? null),
    arm: (f) => time(f.p50),
  },
  cpu: {},
  facts: {},
};

// A group without a quota has no period timer: its zeros count nothing.
const UNLIMITED = ["periods", "throttled", "paused", "bursts", "burst"];
const BURSTS = ["bursts", "burst"]; // told where a burst is allowed

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

  /**
   * row: {repeat, round} or null; `counters` those that stand by it, null for none; figures of
   * the arm, or of `unit` (as in run-data) where one is looked at; the arm itself.
   */
  draw(row, counters, figures, arm, { unit, picked }) {
    const { root } = this;
    const several = (arm.units?.length ?? 0) > 1;
    write(find("[data-role=arm]", root), several && unit ? `${arm.label}, ${unit.name}` : arm.label);
    write(find("[data-role=whole]", root), several ? "this unit" : "this arm");
    const noun = nounOf(arm);
    const name = row
      ? `${noun} ${row.round.n}${row.many ? ` of repeat ${row.repeat.n}` : ""}`
      : `this ${noun}`;
    write(find("[data-role=round]", root), picked && row ? `${name} (picked)` : name);
    write(find("[data-role=release]", root), picked ? `Follow the newest ${noun}` : "");
    find("[data-role=release]", root).hidden = !picked;
    this.#first(row, figures, arm);
    const limited = (unit ?? arm).quota_us !== null;
    for (const [key, { round, arm: whole }] of Object.entries(ROWS)) {
      const tr = find(`tr[data-counter=${key}]`, root);
      if (BURSTS.includes(key)) tr.hidden = !(unit ?? arm).burst_us;
      const none = !limited && UNLIMITED.includes(key) ? "no limit" : null;
      write(tr.cells[1], row && counters ? (none ?? round(row.round, counters)) : "–");
      write(tr.cells[2], figures.counted ? (none ?? whole(figures)) : "–");
    }
    const loaded = resultOf(arm) === "work_us";
    write(find("[data-role=source]", root), this.#source(row, figures, unit ?? arm, { noun, loaded }));
  }

  // The first line is what the arm is judged by.
  #first(row, figures, arm) {
    const tr = find("tr[data-counter=wall]", this.root);
    const { round, arm: whole, title } = FIRST[hasLatencies(arm) ? "latency" : (resultOf(arm) ?? "facts")];
    tr.hidden = !title;
    if (tr.hidden) return;
    write(tr.cells[0], title);
    write(tr.cells[1], row ? round(row.round, resultOf(arm)) : "–");
    write(tr.cells[2], figures.n ? whole(figures) : "–");
    write(tr.cells[3], LATENCIES[resultOf(arm)] ?? WALLS[arm.kind] ?? WALLS.burst);
  }

  #source(row, figures, arm, { noun, loaded }) {
    const state =
      row && !row.round.settled
        ? `This ${noun} is not settled yet: the kernel books a pause when it ends. `
        : "";
    const limit =
      arm.quota_us === null
        ? "No limit: the kernel keeps no periods for this group. "
        : `Limit ${number(arm.quota_us / 1000)} CPU ms per ${number(arm.period_us / 1000)} ms period. `;
    return `${state}${limit}${wholeWords(figures, noun, loaded)}`;
  }
}

/** Over what the figures of an arm or a unit were counted. */
export function wholeWords({ source, repeats, settled }, noun, loaded) {
  const many = repeats > 1 ? `, ${count(repeats)} repeats added up` : "";
  if (source === "totals") {
    const from = loaded ? "from the load’s first counted request to the end" : "from begin to end";
    return `The last figures are read from outside the group, ${from} of ${repeats > 1 ? "each repeat" : "the repeat"}${many}.`;
  }
  const since = loaded ? " since the load counts" : "";
  return `The last figures add up ${count(settled)} settled ${noun}s${since} so far${many}.`;
}
