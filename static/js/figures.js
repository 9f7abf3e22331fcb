// Figures of an arm or of a round, from the store's rows. Pure. Null is "not measured".

import { NOT_MEASURED, ofTotal } from "./format.js";

/** Nearest-rank percentile; null where n cannot tell it from the maximum. */
export function percentile(sorted, p) {
  const needed = { 50: 1, 95: 20, 99: 100 }[p];
  if (!sorted.length || sorted.length < needed) return null;
  return sorted[Math.ceil((p / 100) * sorted.length) - 1];
}

const SUMMED = ["window_us", "usage_us", "nr_periods", "nr_throttled", "throttled_us", "run_delay_us"];

const emptySums = () => Object.fromEntries(SUMMED.map((name) => [name, null]));

/** Adds counters; one that is null anywhere makes the sum null: a part is not the whole. */
function add(sums, counters, first) {
  for (const name of SUMMED) {
    const value = counters[name] ?? null;
    if (first) sums[name] = value;
    else sums[name] = sums[name] === null || value === null ? null : sums[name] + value;
  }
}

/** Was the round paused? null while its counters are not settled or not measured. */
export function paused(round) {
  const counters = round.settled;
  if (!counters || counters.throttled_us === null) return null;
  return counters.throttled_us > 0;
}

/** "4 of 20" rounds with a pause; where the kernel keeps no such counter, why there is none. */
export function pausedWords(arm, { paused: n, judged, settled }) {
  if (judged) return ofTotal(n, judged);
  if (arm.quota_us === null) return "no limit";
  return settled ? NOT_MEASURED : "not yet";
}

/**
 * Figures of one arm over its repeats: n rounds, wall percentiles, paused rounds of those that
 * are judged, and counters. Counters come from the outside reading over whole repeats where all
 * have one ("totals"), else from the settled rounds ("rounds").
 */
export function armFigures(store, arm, only = null) {
  const walls = [];
  const sums = emptySums();
  const totals = emptySums();
  const figures = { n: 0, judged: 0, paused: 0, settled: 0, source: "rounds" };
  let withTotals = 0;
  let groups = 0;
  for (const repeat of store.repeats) {
    if (repeat.arm !== arm || (only !== null && repeat.id !== only)) continue;
    const group = store.measured(repeat);
    if (!group) continue;
    groups += 1;
    if (group.totals) add(totals, group.totals, withTotals++ === 0);
    for (const round of group.rounds) {
      walls.push(round.wall_us);
      if (!round.settled) continue;
      add(sums, round.settled, figures.settled++ === 0);
      const was = paused(round);
      if (was === null) continue;
      figures.judged += 1;
      if (was) figures.paused += 1;
    }
  }
  const sorted = Float64Array.from(walls).sort();
  figures.n = sorted.length;
  figures.p50 = percentile(sorted, 50);
  figures.p95 = percentile(sorted, 95);
  figures.max = sorted.length ? sorted[sorted.length - 1] : null;
  figures.min = sorted.length ? sorted[0] : null;
  const outside = groups > 0 && withTotals === groups;
  if (outside) figures.source = "totals";
  return Object.assign(figures, outside ? totals : sums, {
    pausedPerRound: perRound(sums.throttled_us, figures.settled),
    cpus: ratio(outside ? totals : sums),
  });
}

const perRound = (sum, n) => (sum === null || n === 0 ? null : sum / n);

const ratio = ({ usage_us: usage, window_us: window }) =>
  usage === null || !window ? null : usage / window;

/** A repeat's state in a word: one that its run's end broke off says so, and is no failure of its own. */
export function repeatState(store, repeat) {
  const { status, reason } = store.run;
  const brokenOff = ["cancelled", "interrupted"].includes(status) && repeat.reason === reason;
  return repeat.state === "failed" && brokenOff ? status : repeat.state;
}

/** One word for an arm from its repeats' states. */
export function armState(store, arm) {
  const states = store.repeatsOf(arm).map((repeat) => repeatState(store, repeat));
  for (const state of ["measuring", "preparing", "cleaning", "failed", "interrupted", "cancelled"]) {
    if (states.includes(state)) return state;
  }
  const done = states.filter((state) => state === "done").length;
  if (done && states.includes("waiting")) return `${done} of ${states.length} done`;
  if (done) return "done";
  return states.includes("skipped") ? "skipped" : "waiting";
}

const BUSY = ["preparing", "measuring", "cleaning"];

/** Share of a repeat that is behind us, 0 to 1. */
export function repeatShare(store, repeat) {
  if (["done", "failed", "skipped"].includes(repeat.state)) return 1;
  if (!BUSY.includes(repeat.state)) return 0;
  const planned = store.arms[repeat.arm].rounds || 1;
  return Math.min(0.98, (store.measured(repeat)?.rounds.length ?? 0) / planned);
}

/**
 * Time left in us, from the plan and the pace measured so far; null when not running.
 * A repeat's plan is its rounds at their interval and what lies around them (overhead).
 */
export function timeLeft(store, now, overheadUs = 800_000) {
  if (store.run.status !== "running") return null;
  let left = 0;
  for (const repeat of store.repeats) {
    const arm = store.arms[repeat.arm];
    const planned = arm.rounds * Math.max(arm.interval_us, 0) + overheadUs;
    if (repeat.state === "waiting") left += planned * pace(store, arm);
    else if (BUSY.includes(repeat.state)) {
      const rest = planned * pace(store, arm) * (1 - repeatShare(store, repeat));
      const last = store.measured(repeat)?.rounds.length ? 0 : (now - (repeat.since ?? now)) * 1000;
      left += Math.max(0, rest - Math.max(0, last));
    }
  }
  return left;
}

// Rounds that take longer than their interval stretch the plan; other arms keep theirs.
function pace(store, arm) {
  const index = store.arms.indexOf(arm);
  for (const repeat of store.repeats) {
    const rounds = repeat.arm === index ? store.measured(repeat)?.rounds : null;
    if (!rounds || rounds.length < 3) continue;
    const took = (rounds.at(-1).start_us - rounds[0].start_us) / (rounds.length - 1);
    return arm.interval_us > 0 ? Math.max(1, took / arm.interval_us) : 1;
  }
  return 1;
}
