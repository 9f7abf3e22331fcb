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

const tallies = new WeakMap(); // rounds of a group -> tally of its first rounds, all of them settled

/** Sums and counts of a group's settled rounds. What is settled does not change any more, so
 * rounds are looked at once, but for those after the first that is not settled. */
export function tally({ rounds }) {
  let known = tallies.get(rounds);
  if (!known) {
    known = { upto: 0, settled: 0, judged: 0, paused: 0, sums: emptySums() };
    tallies.set(rounds, known);
  }
  for (; rounds[known.upto]?.settled; known.upto += 1) take(known, rounds[known.upto]);
  const whole = { ...known, sums: { ...known.sums } };
  for (let i = known.upto; i < rounds.length; i += 1) if (rounds[i].settled) take(whole, rounds[i]);
  return whole;
}

function take(tally, round) {
  add(tally.sums, round.settled, tally.settled === 0);
  tally.settled += 1;
  const was = paused(round);
  if (was === null) return;
  tally.judged += 1;
  if (was) tally.paused += 1;
}

function sortedWalls(groups) {
  const walls = new Float64Array(groups.reduce((sum, { rounds }) => sum + rounds.length, 0));
  let n = 0;
  for (const { rounds } of groups) for (const round of rounds) walls[n++] = round.wall_us;
  return walls.sort();
}

/** Was the round paused? null while its counters are not settled or not measured. */
export function paused(round) {
  const counters = round.settled;
  if (!counters || counters.throttled_us === null) return null;
  return counters.throttled_us > 0;
}

/** "4 of 20" rounds with a pause; where the kernel keeps no such counter, why there is none. */
export function pausedWords(arm, { paused: n, judged, settled }) {
  if (arm.quota_us === null) return "no limit";
  if (judged) return ofTotal(n, judged);
  return settled ? NOT_MEASURED : "not yet";
}

/**
 * Figures of one arm over its repeats: n rounds, wall percentiles, paused rounds of those that
 * are judged, and counters. Counters come from the outside reading over whole repeats where all
 * have one ("totals"), else from the settled rounds ("rounds").
 */
export function armFigures(store, arm, only = null) {
  const groups = [];
  for (const repeat of store.repeats) {
    if (repeat.arm !== arm || (only !== null && repeat.id !== only)) continue;
    const group = store.measured(repeat);
    if (group) groups.push(group);
  }
  const sums = emptySums();
  const totals = emptySums();
  const figures = { n: 0, judged: 0, paused: 0, settled: 0, source: "rounds" };
  let withTotals = 0;
  for (const group of groups) {
    if (group.totals) add(totals, group.totals, withTotals++ === 0);
    const part = tally(group);
    if (part.settled) add(sums, part.sums, figures.settled === 0);
    for (const name of ["settled", "judged", "paused"]) figures[name] += part[name];
  }
  const sorted = sortedWalls(groups);
  figures.n = sorted.length;
  figures.p50 = percentile(sorted, 50);
  figures.p95 = percentile(sorted, 95);
  figures.max = sorted.length ? sorted[sorted.length - 1] : null;
  figures.min = sorted.length ? sorted[0] : null;
  const outside = groups.length > 0 && withTotals === groups.length;
  if (outside) figures.source = "totals";
  return Object.assign(figures, outside ? totals : sums, {
    pausedPerRound: perRound(sums.throttled_us, figures.settled),
    usedPerRound: perRound(sums.usage_us, figures.settled),
    delayPerRound: perRound(sums.run_delay_us, figures.settled),
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
