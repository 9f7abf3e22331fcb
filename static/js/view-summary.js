// The tables that a finished run leads with: one line an arm, published figures beside in grey.
// Published ones are of single runs, so of several repeats the median stands beside them.

import { all, find, write } from "./dom.js";
import { pausedWords } from "./figures.js";
import { count, cpus, cpuTime, NOT_MEASURED, number, ofTotal, time } from "./format.js";
import { errorWords } from "./latencies.js";
import { repeatWords } from "./over-repeats.js";
import { resultOf } from "./units.js";

const few = (value, n, needed, noun) => (n && value === null ? `needs ${count(needed)} ${noun}` : time(value));
const limited = (arm, words) => (arm.quota_us === null ? "no limit" : words);

const THROTTLED = {
  throttled: (f, arm) => limited(arm, ofTotal(f.nr_throttled, f.nr_periods)),
  paused: (f, arm) => limited(arm, cpuTime(f.throttled_us)),
  cpus: (f) => cpus(f.cpus),
};

const WALLS = {
  rounds: (f) => count(f.n),
  p50: (f) => time(f.p50),
  p95: (f) => few(f.p95, f.n, 20, "rounds"),
  max: (f) => time(f.max),
  rounds_paused: (f, arm) => pausedWords(arm, f, NOT_MEASURED),
  usage: (f) => cpuTime(f.usage_us),
  ...THROTTLED,
};

const measure = (f, arm) => f.measures[resultOf(arm)] ?? { n: null, errors: {} };
const latency = (name, needed) => (f, arm) => {
  const m = measure(f, arm);
  return few(m[name] ?? null, m.n, needed, "requests");
};

/** What failed, by kind: a sum over repeats, for a median would hide the one where it happened. */
export function failures(errors, repeats) {
  const words = errorWords(errors, count);
  return words && repeats > 1 ? `${words} in ${repeats} repeats` : words;
}

const LATENCIES = {
  n: (f, arm) => count(measure(f, arm).n),
  p50: latency("p50", 1),
  p90: latency("p90", 10),
  p99: latency("p99", 100),
  p999: latency("p999", 1000),
  max: (f, arm) => (measure(f, arm).n ? time(measure(f, arm).max) : "none answered"),
  failed: (f, arm, repeats) => failures(measure(f, arm).errors, repeats) || "none",
  ping: (f) => (f.measures.ping_us ? few(f.measures.ping_us.p99, f.measures.ping_us.n, 100, "pings") : "no pings"),
  ...THROTTLED,
};

/** What was published for a cell, as text; "–" for nothing. */
function publishedWords(arm, role) {
  const p = arm.published ?? {};
  const own = p.measures?.[resultOf(arm)] ?? {};
  const listed = (values) => (values ?? []).filter((us) => us !== null);
  const times = { p50: own.p50_us, p90: own.p90_us, p99: own.p99_us, p999: own.p999_us, max: own.max_us };
  if (role in times || role === "ping") {
    const values = listed(role === "ping" ? p.measures?.ping_us?.p99_us : times[role]);
    return values.length ? `${values.map((us) => number(us / 1000)).join(" · ")} ms` : "–";
  }
  if (arm.quota_us === null && ["throttled", "paused"].includes(role)) return "no limit";
  if (role === "throttled" && p.nr_periods != null) return ofTotal(p.nr_throttled, p.nr_periods);
  if (role === "paused" && p.throttled_us != null) return cpuTime(p.throttled_us);
  if (role === "cpus" && p.cpus != null) return cpus(p.cpus);
  return "–";
}

export class SummaryView {
  /** `kind` is "walls" or "latencies"; the section may be missing where no arm has such. */
  constructor(root, { store, kind }) {
    Object.assign(this, { root, store, cells: kind === "walls" ? WALLS : LATENCIES });
    for (const sub of kind === "walls" || !root ? [] : all("[data-role$=-published]", root)) {
      const arm = this.#arm(sub.closest("tr"));
      write(sub, publishedWords(arm, sub.dataset.role.replace("-published", "")));
    }
  }

  #arm(row) {
    return this.store.arms.find((each) => each.name === row.dataset.arm);
  }

  /** `medians` gives {figures, repeats} of an arm by its index, as overRepeats() does. */
  draw(medians, chosen) {
    if (!this.root || this.root.hidden) return;
    const counts = [];
    for (const row of all("tr[data-arm]", this.root)) {
      const arm = this.#arm(row);
      const { figures: f, repeats } = medians(arm.index);
      counts.push(f.n ? repeats : 0);
      row.setAttribute("aria-current", String(arm.name === chosen));
      for (const [role, words] of Object.entries(this.cells)) {
        const none = this.store.waits ? "loading" : "not measured";
        const cell = find(`[data-role=${role}]`, row);
        write(cell, f.n ? words(f, arm, repeats) : none);
        if (role === "failed") cell.classList.toggle("bad", f.n > 0 && words(f, arm, repeats) !== "none");
      }
    }
    if (!this.store.waits) write(find("[data-role=over]", this.root), repeatWords(counts) || "one repeat");
  }
}
