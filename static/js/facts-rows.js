// What programs saw of their limits: one row for each container of an arm that only tells
// facts. Pure.

import { count, NOT_MEASURED } from "./format.js";

/** The last repeat in which the unit said something. */
function lastGroup(store, arm, unit) {
  const repeat = store.repeatsOf(arm.index).findLast((each) => each.groups.get(unit.name)?.hello);
  return repeat ? { repeat, group: repeat.groups.get(unit.name) } : null;
}

/** Units that tell facts: containers, not whole pods. */
export const telling = (arm) => (arm.units ?? []).filter((unit) => unit.container !== null);

const text = (value) => (value === null || value === undefined ? null : String(value));

/**
 * {gomaxprocs, num_cpu, env, cpu_max, weight, go} as text; null for the whole while the unit has
 * said nothing. `weight` says which of the two the kernel has.
 */
export function factsOf(store, arm, unit) {
  const found = lastGroup(store, arm, unit);
  if (!found) return null;
  const { program } = found.group.hello;
  const level = found.group.tree?.at(-1) ?? program.cgroup ?? {};
  const read = found.repeat.readback?.find((entry) => entry.group === unit.name)?.found;
  const { quota_us: quota, period_us: period } = read ?? level;
  return {
    gomaxprocs: text(program.gomaxprocs),
    num_cpu: text(program.num_cpu),
    env: envWords(program.env),
    cpu_max: period === null || period === undefined ? null : `${quota ?? "max"} ${period}`,
    weight: weightWords(level),
    go: text(program.go),
  };
}

function envWords(env) {
  if (!env) return null;
  const set = Object.entries(env).filter(([, value]) => value !== null);
  return set.length ? set.map(([name, value]) => `${name}=${value}`).join(" ") : "none set";
}

function weightWords({ weight, shares }) {
  if (weight !== null && weight !== undefined) return `weight ${count(weight)}`;
  return shares !== null && shares !== undefined ? `shares ${count(shares)}` : null;
}

/** What was published of a fact of a unit, as text; null for nothing. */
export function publishedFact(arm, unit, name) {
  const { facts, units } = arm.published ?? {};
  const own = units?.[unit.name]?.[name];
  const many = telling(arm).length > 1;
  return text(own ?? (many ? null : facts?.[name]));
}

/**
 * How one's own fact compares with the published one: "" for the same or nothing to compare,
 * else a word. As many as there are CPUs is the same thing on machines of different sizes.
 */
export function difference(own, published, { ownCpus, publishedCpus }) {
  if (own === null || published === null || own === published) return "";
  if (own === ownCpus && published === publishedCpus) return "all CPUs, there too";
  return "differs";
}

export const shown = (value) => value ?? NOT_MEASURED;
