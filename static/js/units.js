// The units of an arm: what has counters of its own (a container, a replica of one, a whole
// pod). Which of them give the arm's result, and whose counters are the arm's. Pure.

/** What an arm is judged by: "wall_us", "work_us", "request_us", "cpu", or null for facts. */
export const resultOf = (arm) => (arm.result === undefined ? "wall_us" : arm.result);

/** Is it judged by the latencies of requests? */
export const hasLatencies = (arm) => ["work_us", "request_us"].includes(resultOf(arm));

const NOUNS = { work_us: "second", request_us: "second", cpu: "report" };

/** What a round of the arm is called. */
export const nounOf = (arm) => NOUNS[resultOf(arm)] ?? "round";

const named = (repeat, units) =>
  units.map((unit) => repeat.groups.get(unit.name)).filter((group) => group !== undefined);

/** The groups of a repeat whose rounds are the arm's result; where nothing says which, the one
 * that has rounds. */
export function resultGroups(store, repeat) {
  const units = store.arms[repeat.arm].units?.filter((unit) => unit.result);
  if (units?.length) return named(repeat, units);
  const group = store.anyGroup(repeat);
  return group ? [group] : [];
}

/** The groups of a repeat whose counters are the arm's, replicas one by one. */
export function countedGroups(store, repeat) {
  const units = store.arms[repeat.arm].units?.filter((unit) => unit.counted);
  if (units?.length) return named(repeat, units);
  const group = store.anyGroup(repeat);
  return group ? [group] : [];
}

/** Everything that ran, each once: whole pods and single containers. Null while one of them
 * is not known. */
export function topGroups(store, repeat) {
  const { units } = store.arms[repeat.arm];
  if (!units) return resultGroups(store, repeat);
  const top = units.filter((unit) => !unit.inside);
  const found = named(repeat, top);
  return found.length === top.length ? found : null;
}

/** The unit of this name, else the first whose counters are the arm's, else null. */
export function unitOf(arm, name = null) {
  const units = arm.units ?? [];
  return (
    units.find((unit) => unit.name === name) ?? units.find((unit) => unit.counted) ?? units[0] ?? null
  );
}

/** The limit that a unit had, as the kernel had it; until that is known as it was asked for. */
export function limitOfUnit(arm, unit, repeat) {
  const read = repeat?.readback?.find((entry) => entry.group === unit?.name)?.found;
  const asked = unit ?? arm;
  const { quota_us, period_us } = read?.period_us ? read : asked;
  return { quota_us: quota_us ?? null, period_us: period_us ?? arm.period_us };
}
