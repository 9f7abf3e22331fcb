// The rounds of another unit that lie beside a round in time: a load's second and what its
// server's counters say of about the same second. Pure.

import { countedGroups } from "./units.js";

/** The round that covers most of [t, t + wall): the one whose start is nearest; null where none
 * is nearer than half of it. */
export function nearestRound(rounds, { start_us: t, wall_us: wall }) {
  let low = 0;
  let high = rounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rounds[middle].start_us < t) low = middle + 1;
    else high = middle;
  }
  const far = (i) => (rounds[i] ? Math.abs(rounds[i].start_us - t) : Infinity);
  const best = far(low) < far(low - 1) ? low : low - 1;
  return far(best) <= wall / 2 ? rounds[best] : null;
}

const add = (into, counters) => {
  for (const [name, value] of Object.entries(counters)) {
    const known = into[name];
    into[name] = known === null || value === null ? null : (known ?? 0) + value;
  }
};

/** Counters of these groups beside a round, added up; null where one of them has none. */
export function countersBeside(groups, round) {
  const sums = {};
  for (const group of groups) {
    const found = group.byNumber.get(round.n) === round ? round : nearestRound(group.rounds, round);
    if (!found) return null;
    add(sums, found.settled ?? found.burst);
  }
  return groups.length ? sums : null;
}

/** The counters that belong to a round of an arm's result: of the units that are counted. */
export function countersOf(store, repeat, round) {
  return countersBeside(countedGroups(store, repeat), round);
}
