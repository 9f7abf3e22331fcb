// Figures of an arm or of a round, from the store's rows. Pure. Null is "not measured".

import { NOT_MEASURED, ofTotal } from "./format.js";
import { addFacts, addServers, Latencies } from "./latencies.js";
import { add, emptySums, tally } from "./tally.js";
import { countedGroups, countsFrom, hasLatencies, resultGroups, resultOf, withRounds } from "./units.js";

export { paused, tally } from "./tally.js";

/** Nearest-rank percentile; null where n cannot tell it from the maximum. */
export function percentile(sorted, p) {
  const needed = { 50: 1, 95: 20, 99: 100 }[p];
  if (!sorted.length || sorted.length < needed) return null;
  return sorted[Math.ceil((p / 100) * sorted.length) - 1];
}

function sortedWalls(groups) {
  const walls = new Float64Array(groups.reduce((sum, { rounds }) => sum + rounds.length, 0));
  let n = 0;
  for (const { rounds } of groups) for (const round of rounds) walls[n++] = round.wall_us;
  return walls.sort();
}

/** "4 of 20" rounds with a pause; where the kernel keeps no such counter, why there is none. */
export function pausedWords(arm, { paused: n, judged, settled }, none = "not yet") {
  if (arm.quota_us === null) return "no limit";
  if (judged) return ofTotal(n, judged);
  return settled ? NOT_MEASURED : none;
}

const FAILED = ["failed", "interrupted", "cancelled"];
const hasRounds = ({ groups }) => [...groups.values()].some(({ rounds }) => rounds.length > 0);

/** The repeats of an arm whose figures count: those that failed only where there are no others. */
export function usedRepeats(store, arm) {
  const repeats = store.repeatsOf(arm);
  const sound = repeats.filter((repeat) => !FAILED.includes(repeat.state));
  return sound.some(hasRounds) ? sound : repeats;
}

/**
 * Figures of one arm over its repeats: n rounds, percentiles of what it is judged by (walls, or
 * latencies: `measures`), paused rounds of those that are judged, and counters of the groups
 * whose limit is tried. `only` asks for one repeat by its id, `unit` for one unit's counters.
 */
export function armFigures(store, arm, { only = null, unit = null } = {}) {
  const results = [];
  const counted = [];
  for (const repeat of only === null ? usedRepeats(store, arm) : [store.byId.get(only)]) {
    results.push(resultGroups(store, repeat));
    const own = repeat.groups.get(unit);
    const groups = unit === null ? countedGroups(store, repeat) : own ? [own] : [];
    const parts = withRounds(store, repeat, groups);
    counted.push({ groups, tallies: parts.map((part) => tally(part, countsFrom(store, repeat, part))) });
  }
  const all = results.flat();
  const figures = { n: 0, p50: null, p95: null, max: null, min: null };
  for (const { rounds } of all) figures.n += rounds.length;
  const planned = store.arms[arm];
  if (resultOf(planned) === "wall_us") Object.assign(figures, wallFigures(all));
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

/**
 * Requests of all rounds together: their percentiles are over every request, not means of the
 * rounds'. `took_us` is how long the rounds took, one repeat after the other: of loads that ran
 * at the same time the longest. `sent_us` is that and what the sending took beyond its plan.
 */
function latencyFigures(repeats, result) {
  const sums = {};
  const facts = {};
  const servers = {};
  for (const group of repeats.flat()) {
    for (const [name, latencies] of Object.entries(group.latencies)) {
      (sums[name] ??= new Latencies()).add(latencies);
    }
    addFacts(facts, group.facts);
    addServers(servers, group.servers);
  }
  const measures = Object.fromEntries(
    Object.entries(sums).map(([name, latencies]) => [name, latencies.summary()]),
  );
  const walls = ({ rounds }) => rounds.reduce((sum, { wall_us }) => sum + wall_us, 0);
  const longest = (of) => repeats.reduce((sum, groups) => sum + Math.max(0, ...groups.map(of)), 0);
  const took_us = longest(walls);
  const sent_us = longest((group) => walls(group) + (group.facts.overrun_us ?? 0));
  const { p50 = null, p95 = null, p99 = null, max = null } = measures[result] ?? {};
  return { p50, p95, p99, max, measures, facts, servers, took_us, sent_us };
}

/**
 * Counters of `repeats`, each {groups} that were counted at the same time and the {tallies} of
 * the rounds in them. They come from the outside reading over each repeat where all have one
 * ("totals"), else from the settled rounds ("rounds").
 */
function counterFigures(repeats) {
  const groups = repeats.flatMap((repeat) => repeat.groups);
  const outside = groups.length > 0 && groups.every((group) => group.totals);
  const figures = { judged: 0, paused: 0, settled: 0, source: outside ? "totals" : "rounds" };
  const facts = {};
  let wall = 0;
  for (const part of repeats.flatMap(({ tallies }) => tallies)) {
    for (const name of ["settled", "judged", "paused"]) figures[name] += part[name];
    wall += part.wall_us;
    addFacts(facts, part.facts);
  }
  const settled = ({ tallies }) => tallies.filter((part) => part.settled).map(({ sums }) => sums);
  const sums = overRepeats(repeats.map(settled));
  const totals = (repeat) => repeat.groups.map((group) => group.totals);
  const shown = outside ? overRepeats(repeats.map(totals)) : sums;
  return Object.assign(figures, shown, {
    counted: outside || figures.settled > 0, // is there any counter?
    repeats: repeats.filter((repeat) => repeat.groups.length > 0).length,
    counted_facts: facts, // of the rounds that are counted: without a warm-up
    wallPerRound: perRound(wall, figures.settled),
    pausedPerRound: perRound(sums.throttled_us, figures.settled),
    usedPerRound: perRound(sums.usage_us, figures.settled),
    delayPerRound: perRound(sums.run_delay_us, figures.settled),
    cpus: ratio(shown),
  });
}

/** Counters added up, a list for each repeat; of groups that were counted at the same time the
 * window counts once. */
function overRepeats(repeats) {
  const sums = emptySums();
  let first = true;
  for (const found of repeats) {
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
