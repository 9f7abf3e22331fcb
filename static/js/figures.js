// Figures of an arm or of a round, from the store's rows. Pure. Null is "not measured".

import { NOT_MEASURED, ofTotal } from "./format.js";
import { addFacts, addServers, Latencies } from "./latencies.js";
import { countedGroups, hasLatencies, resultGroups, resultOf } from "./units.js";

/** Nearest-rank percentile; null where n cannot tell it from the maximum. */
export function percentile(sorted, p) {
  const needed = { 50: 1, 95: 20, 99: 100 }[p];
  if (!sorted.length || sorted.length < needed) return null;
  return sorted[Math.ceil((p / 100) * sorted.length) - 1];
}

const SUMMED = [
  "window_us",
  "usage_us",
  "nr_periods",
  "nr_throttled",
  "throttled_us",
  "nr_bursts",
  "burst_us",
  "run_delay_us",
];

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
 * Figures of one arm over its repeats: n rounds, percentiles of what it is judged by (walls, or
 * latencies: `measures`), paused rounds of those that are judged, and counters of the groups
 * whose limit is tried. `unit` asks for one unit's counters instead.
 */
export function armFigures(store, arm, { only = null, unit = null } = {}) {
  const results = [];
  const counted = [];
  for (const repeat of store.repeats) {
    if (repeat.arm !== arm || (only !== null && repeat.id !== only)) continue;
    results.push(...resultGroups(store, repeat));
    const own = repeat.groups.get(unit);
    if (unit === null) counted.push(countedGroups(store, repeat));
    else if (own) counted.push([own]);
  }
  const figures = { n: 0, p50: null, p95: null, max: null, min: null };
  for (const { rounds } of results) figures.n += rounds.length;
  const planned = store.arms[arm];
  if (resultOf(planned) === "wall_us") Object.assign(figures, wallFigures(results));
  if (hasLatencies(planned)) Object.assign(figures, latencyFigures(results, resultOf(planned)));
  return Object.assign(figures, counterFigures(counted));
}

function wallFigures(groups) {
  const sorted = sortedWalls(groups);
  return {
    p50: percentile(sorted, 50),
    p95: percentile(sorted, 95),
    max: sorted.length ? sorted[sorted.length - 1] : null,
    min: sorted.length ? sorted[0] : null,
  };
}

/** Requests of all rounds together: their percentiles are over every request, not means of
 * the rounds'. `took_us` is how long the rounds took, one repeat after the other. */
function latencyFigures(groups, result) {
  const sums = {};
  const facts = {};
  const servers = {};
  let took = 0;
  for (const group of groups) {
    for (const [name, latencies] of Object.entries(group.latencies)) {
      (sums[name] ??= new Latencies()).add(latencies);
    }
    addFacts(facts, group.facts);
    addServers(servers, group.servers);
    for (const round of group.rounds) took += round.wall_us;
  }
  const measures = Object.fromEntries(
    Object.entries(sums).map(([name, latencies]) => [name, latencies.summary()]),
  );
  const { p50 = null, p95 = null, p99 = null, max = null } = measures[result] ?? {};
  return { p50, p95, p99, max, measures, facts, servers, took_us: took };
}

/**
 * Counters of `repeats`, each the groups that were counted at the same time. They come from the
 * outside reading over whole repeats where all have one ("totals"), else from the settled
 * rounds ("rounds").
 */
function counterFigures(repeats) {
  const groups = repeats.flat();
  const parts = new Map(groups.map((group) => [group, tally(group)]));
  const outside = groups.length > 0 && groups.every((group) => group.totals);
  const figures = { judged: 0, paused: 0, settled: 0, source: outside ? "totals" : "rounds" };
  for (const part of parts.values()) {
    for (const name of ["settled", "judged", "paused"]) figures[name] += part[name];
  }
  const sums = overRepeats(repeats, (group) => (parts.get(group).settled ? parts.get(group).sums : null));
  const shown = outside ? overRepeats(repeats, (group) => group.totals) : sums;
  return Object.assign(figures, shown, {
    counted: outside || figures.settled > 0, // is there any counter?
    pausedPerRound: perRound(sums.throttled_us, figures.settled),
    usedPerRound: perRound(sums.usage_us, figures.settled),
    delayPerRound: perRound(sums.run_delay_us, figures.settled),
    cpus: ratio(shown),
  });
}

/** Counters added up; of groups that were counted at the same time the window counts once. */
function overRepeats(repeats, of) {
  const sums = emptySums();
  let first = true;
  for (const groups of repeats) {
    const found = groups.map(of).filter((counters) => counters);
    if (!found.length) continue;
    const beside = emptySums();
    found.forEach((counters, i) => add(beside, counters, i === 0));
    const windows = found.map((counters) => counters.window_us ?? null);
    beside.window_us = windows.includes(null) ? null : Math.max(...windows);
    add(sums, beside, first);
    first = false;
  }
  return sums;
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

// Kinds whose rounds tell how far a repeat is; the others report seldom or begin late.
const byRounds = (arm) => resultOf(arm) === "wall_us" && arm.rounds > 0;

const since = (repeat, now) => Math.max(0, now - (repeat.since ?? now)) * 1000;

/** Share of a repeat that is behind us, 0 to 1; `now` as epoch ms. */
export function repeatShare(store, repeat, now = Date.now()) {
  if (["done", "failed", "skipped"].includes(repeat.state)) return 1;
  if (!BUSY.includes(repeat.state)) return 0;
  const arm = store.arms[repeat.arm];
  if (!byRounds(arm)) return Math.min(0.98, since(repeat, now) / (arm.expected_us || Infinity));
  return Math.min(0.98, (store.measured(repeat)?.rounds.length ?? 0) / arm.rounds);
}

/**
 * Time left in us, from the plan and the pace measured so far; null when not running.
 * A repeat's plan is its rounds at their interval and what lies around them (overhead); for
 * work without an interval it is what the plan expects of it.
 */
export function timeLeft(store, now, overheadUs = 800_000) {
  if (store.run.status !== "running") return null;
  let left = 0;
  for (const repeat of store.repeats) {
    const arm = store.arms[repeat.arm];
    const planned = arm.interval_us > 0 ? arm.rounds * arm.interval_us + overheadUs : (arm.expected_us ?? 0);
    if (repeat.state === "waiting") left += planned * pace(store, arm);
    else if (BUSY.includes(repeat.state)) {
      const rest = planned * pace(store, arm) * (1 - repeatShare(store, repeat, now));
      const told = !byRounds(arm) || store.measured(repeat)?.rounds.length;
      left += Math.max(0, rest - (told ? 0 : since(repeat, now)));
    }
  }
  return left;
}

// Rounds that take longer than their interval stretch the plan; other arms keep theirs.
function pace(store, arm) {
  if (!(arm.interval_us > 0)) return 1;
  const index = store.arms.indexOf(arm);
  for (const repeat of store.repeats) {
    const rounds = repeat.arm === index ? store.measured(repeat)?.rounds : null;
    if (!rounds || rounds.length < 3) continue;
    const took = (rounds.at(-1).start_us - rounds[0].start_us) / (rounds.length - 1);
    return Math.max(1, took / arm.interval_us);
  }
  return 1;
}
