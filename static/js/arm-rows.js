// The rounds of each arm in one list, kept between looks: of 10,000 rounds only what is new is
// added. Pure.

import { resultGroups } from "./units.js";

const kept = new WeakMap(); // store -> Map of arm -> {rows, parts}

/** All rounds of an arm that are its result, in the order of its repeats and their units, with
 * the repeat and the unit each belongs to. The list
 * is the caller's to read, and the same one grows as rounds come. */
export function roundsOf(store, arm) {
  let arms = kept.get(store);
  if (!arms) kept.set(store, (arms = new Map()));
  let entry = arms.get(arm);
  const parts = partsOf(store, arm);
  if (!entry || !grows(entry.parts, parts)) arms.set(arm, (entry = { rows: [], parts: [] }));
  append(entry, parts);
  return entry.rows;
}

function partsOf(store, arm) {
  const parts = [];
  for (const repeat of store.repeats) {
    if (repeat.arm !== arm) continue;
    for (const { name, rounds } of resultGroups(store, repeat)) {
      if (rounds.length) parts.push({ repeat, unit: name, rounds, taken: 0 });
    }
  }
  return parts;
}

// Rounds may be added at the list's end only: the same parts as before, all but the last taken
// whole, and others after them.
function grows(before, now) {
  return before.every((part, i) => {
    const { repeat, rounds } = now[i] ?? {};
    if (part.repeat !== repeat || part.rounds !== rounds) return false;
    return i === before.length - 1 || part.taken === rounds.length;
  });
}

function append(entry, parts) {
  parts.forEach((part, i) => {
    const known = (entry.parts[i] ??= part);
    const { repeat, unit, rounds } = known;
    for (; known.taken < rounds.length; known.taken += 1) {
      entry.rows.push({ repeat, unit, round: rounds[known.taken] });
    }
  });
}
