// What a spinning unit got, report by report, and its share: the mean of the last three. Pure.

import { insideOf } from "./units.js";

const LAST = 3;

/** [CPU time used, window] of one report in us; null where it was not measured. */
function usageOf(round) {
  for (const counters of [round.settled, round.burst]) {
    if (counters && counters.usage_us !== null && counters.window_us > 0) {
      return [counters.usage_us, counters.window_us];
    }
  }
  const own = round.facts?.cpu_us ?? null;
  return own === null || !(round.wall_us > 0) ? null : [own, round.wall_us];
}

/** CPUs of one report: CPU time used over its window; null where it was not measured. */
export const cpusOf = (round) => over([round]);

/** CPUs over some reports together. */
function over(rounds) {
  const parts = rounds.map(usageOf);
  if (!parts.length || parts.includes(null)) return null;
  const total = (i) => parts.reduce((sum, part) => sum + part[i], 0);
  return total(0) / total(1);
}

/** The units of an arm whose reports are drawn: those that spin. */
export const spinning = (arm) => (arm.units ?? []).filter((unit) => unit.kind === "spin");

const mean = (values) =>
  !values.length || values.includes(null) ? null : values.reduce((a, b) => a + b, 0) / values.length;

/** {mean, latest, reports} of one group: CPUs; the mean is null before there are three. */
function ofGroup(group) {
  const rounds = group?.rounds ?? [];
  return {
    mean: rounds.length < LAST ? null : over(rounds.slice(-LAST)),
    latest: over(rounds.slice(-1)),
    reports: rounds.length,
  };
}

/**
 * A unit over the arm's repeats that are done (until one is, over those under way): the mean of
 * their means, and the newest report. A pod of several containers is their sum.
 */
export function shareOf(store, arm, unit) {
  const parts = unit.container ? [unit] : insideOf(arm.units, unit);
  const found = [];
  for (const repeat of store.repeatsOf(arm.index)) {
    const groups = parts.map((part) => ofGroup(repeat.groups.get(part.name)));
    if (!groups.length || groups.some((each) => !each.reports)) continue;
    found.push({
      done: repeat.state === "done",
      mean: sum(groups.map((each) => each.mean)),
      latest: sum(groups.map((each) => each.latest)),
      reports: Math.min(...groups.map((each) => each.reports)),
    });
  }
  const done = found.filter((each) => each.done);
  const used = (done.length ? done : found).filter((each) => each.mean !== null);
  const reports = found.reduce((total, each) => total + each.reports, 0);
  return { mean: mean(used.map((each) => each.mean)), latest: found.at(-1)?.latest ?? null, reports };
}

/** How many CPUs a unit could have used: those it was pinned to, else all of the machine's. */
export const roomOf = (store, unit) => unit.pinned_cpus ?? store.cpus ?? null;

const sum = (values) => (values.includes(null) ? null : values.reduce((a, b) => a + b, 0));

/** The reports of an arm along one axis: {repeat, round, byUnit: {name: round}}. */
export function reportRows(store, arm) {
  const rows = [];
  const units = spinning(arm);
  for (const repeat of store.repeatsOf(arm.index)) {
    const lists = units.map((unit) => [unit.name, repeat.groups.get(unit.name)?.rounds ?? []]);
    const most = Math.max(0, ...lists.map(([, rounds]) => rounds.length));
    for (let k = 0; k < most; k += 1) {
      const byUnit = Object.fromEntries(lists.map(([name, rounds]) => [name, rounds[k] ?? null]));
      rows.push({ repeat, round: Object.values(byUnit).find((round) => round), byUnit });
    }
  }
  return rows;
}

/** What a unit's group had: {name: "weight" (cgroup v2) or "shares" (v1), value}; null while it
 * was not read. */
export function weightRead(store, arm, unit) {
  for (const repeat of store.repeatsOf(arm.index).reverse()) {
    const { weight = null, shares = null } = repeat.groups.get(unit.name)?.tree?.at(-1) ?? {};
    if (weight !== null) return { name: "weight", value: weight };
    if (shares !== null) return { name: "shares", value: shares };
  }
  return null;
}
