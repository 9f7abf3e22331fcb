// Counters and facts of a group's rounds, added up. Pure. Null is "not measured".

import { addFacts } from "./latencies.js";

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

export const emptySums = () => Object.fromEntries(SUMMED.map((name) => [name, null]));

/** Adds counters; one that is null anywhere makes the sum null: a part is not the whole. */
export function add(sums, counters, first) {
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

const tallies = new WeakMap(); // rounds of a group -> tally of its first rounds, all of them settled

const empty = (from) => ({
  from,
  upto: 0,
  settled: 0,
  judged: 0,
  paused: 0,
  wall_us: 0,
  sums: emptySums(),
  facts: {},
});

/**
 * Sums and counts of a group's rounds that begin at `from` (us) or later; counters of the settled
 * ones, `wall_us` is how long those took. What is settled does not change any more, so rounds
 * are looked at once, but for those after the first that is not settled.
 */
export function tally({ rounds }, from = -Infinity) {
  let known = tallies.get(rounds);
  if (known?.from !== from) tallies.set(rounds, (known = empty(from)));
  for (; rounds[known.upto]?.settled; known.upto += 1) take(known, rounds[known.upto]);
  const whole = { ...known, sums: { ...known.sums }, facts: { ...known.facts } };
  for (let i = known.upto; i < rounds.length; i += 1) take(whole, rounds[i]);
  return whole;
}

function take(tally, round) {
  if (round.start_us < tally.from) return;
  addFacts(tally.facts, round.facts);
  if (!round.settled) return;
  add(tally.sums, round.settled, tally.settled === 0);
  tally.settled += 1;
  tally.wall_us += round.wall_us;
  const was = paused(round);
  if (was === null) return;
  tally.judged += 1;
  if (was) tally.paused += 1;
}
