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

/** The groups whose rounds hold the counters of these: of a pod as a whole its containers'. */
export function withRounds(store, repeat, groups) {
  const { units = [] } = store.arms[repeat.arm];
  return groups.flatMap((group) => {
    const whole = units.find((unit) => unit.name === group.name && unit.container === null);
    if (!whole || group.rounds.length) return [group];
    return named(repeat, insideOf(units, whole));
  });
}

/** The containers of a pod that is a unit of its own. */
export const insideOf = (units, { group, replica }) =>
  units.filter((unit) => unit.inside && unit.group === group && unit.replica === replica);

// Two clocks that differ by less are taken for one: programs say their time when they start.
const ONE_CLOCK_US = 1e6;

function ahead({ hello: one }, { hello: other }) {
  if (!one || !other) return 0;
  const apart = one.mono_us - one.unix_us - (other.mono_us - other.unix_us);
  return Math.abs(apart) < ONE_CLOCK_US ? 0 : apart;
}

/**
 * From when the rounds of a group count, us of its own clock. A server works for the load's
 * warm-up as well: its rounds count from the load's first counted one on, and until then none.
 * The same rule as archive/rounds.py.
 */
export function countsFrom(store, repeat, group) {
  if (resultOf(store.arms[repeat.arm]) !== "work_us") return -Infinity;
  const loads = resultGroups(store, repeat);
  if (loads.includes(group)) return -Infinity;
  const begun = loads.filter(({ rounds }) => rounds.length);
  if (!begun.length) return Infinity;
  const first = begun.reduce((a, b) => (b.rounds[0].start_us < a.rounds[0].start_us ? b : a));
  return first.rounds[0].start_us + ahead(group, first);
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
