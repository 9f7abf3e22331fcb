// What kept a run from measuring its limits alone: other work on the machine, time given away by
// the hypervisor, missed samples, waiting that no pause explains. Pure.

import { number } from "./format.js";
import { hasLatencies, resultOf, topGroups, withRounds } from "./units.js";

const MUCH_OTHER = 0.25; // CPU of other work per CPU of the machine
const MUCH_STEAL = 0.05; // of the machine's CPU time
const MUCH_WAIT = 0.25; // of the time that an arm's threads were in their rounds

/**
 * What else the machine did during a repeat, as CPUs on average over its footprint's window:
 * {cpus, other, used, lab, steal, load}; steal is a share. Null where it was not measured.
 */
export function footprint(store, repeat) {
  const { lab } = repeat;
  if (!lab || !(lab.window_us > 0) || !(lab.cpus > 0)) return null;
  const mean = (us) => (us === null || us === undefined ? null : us / lab.window_us);
  const used = mean(usedByAll(topGroups(store, repeat), usedOf(store, repeat)));
  const busy = mean(lab.machine_busy_us);
  const steal = mean(lab.steal_us);
  return {
    cpus: lab.cpus,
    used,
    other: busy === null || used === null ? null : Math.max(0, busy - used),
    lab: mean(lab.lab_cpu_us),
    steal: steal === null ? null : steal / lab.cpus,
    load: lab.load_1m ?? null,
  };
}

// Of everything that ran for the repeat; null while a part of it is not known.
function usedByAll(groups, usedBy) {
  if (!groups?.length) return null;
  const parts = groups.map(usedBy);
  return parts.includes(null) ? null : parts.reduce((sum, part) => sum + part, 0);
}

// The outside reading over the whole repeat; without it the settled rounds, if all are known.
// Totals of a service begin with the first counted request: its warm-up is in the samples.
function usedOf(store, repeat) {
  const loaded = resultOf(store.arms[repeat.arm]) === "work_us";
  return (group) => {
    if (loaded) return usedInSamples(group.samples);
    if (group.totals) return group.totals.usage_us;
    const parts = withRounds(store, repeat, [group]).flatMap(({ rounds }) => rounds);
    let sum = 0;
    for (const { settled } of parts) {
      if (!settled || settled.usage_us === null) return null;
      sum += settled.usage_us;
    }
    return parts.length ? sum : null;
  };
}

/** CPU time from the first sample to the last, us; null where it cannot be told. */
function usedInSamples(samples) {
  samples.settle();
  const { length, usage } = samples;
  const used = length > 1 ? usage[length - 1] - usage[0] : NaN;
  return used >= 0 ? used : null;
}

/**
 * Of one arm: {other, cpus, steal, missed, waited}. `other` (CPUs) and `steal` (share) are the
 * worst of its repeats, and null where they are little or not known; `missed` the notes of
 * missed samples; `waited` (us a mean round) what its threads waited beyond pauses and sharing.
 */
export function disturbanceOf(store, arm, f) {
  const found = { arm, other: null, cpus: null, steal: null, missed: [], waited: null };
  for (const repeat of store.repeatsOf(arm.index)) {
    for (const text of repeat.missed) found.missed.push(text);
    const seen = footprint(store, repeat);
    if (!seen) continue;
    found.cpus = seen.cpus;
    if (resultOf(arm) === null) continue; // facts are the same however busy the machine is
    if (seen.other / seen.cpus > MUCH_OTHER) found.other = Math.max(found.other ?? 0, seen.other);
    if (seen.steal > MUCH_STEAL) found.steal = Math.max(found.steal ?? 0, seen.steal);
  }
  found.waited = unexplained(arm, f, found.cpus ?? store.cpus);
  return found;
}

export const disturbed = (d) =>
  d.other !== null || d.steal !== null || d.missed.length > 0 || d.waited !== null;

/**
 * Waiting that neither pauses nor more threads than CPUs explain, in us a mean round; null where
 * it is little or cannot be told. A pause holds every thread; without one, threads that share
 * the CPUs evenly wait for their turn.
 */
function unexplained(arm, f, cpus) {
  const { delayPerRound: delay, pausedPerRound: pause, p50 } = f;
  if (arm.quota_us === null || !f.n || !(cpus > 0) || resultOf(arm) !== "wall_us") return null;
  if (delay === null || delay === undefined || pause === null || pause === undefined) return null;
  const { threads, work_us: work } = arm;
  const sharing = threads * work * Math.max(0, threads / cpus - 1);
  const held = (pause * threads) / Math.min(threads, cpus);
  const rest = delay - sharing - held;
  return rest > held && rest > MUCH_WAIT * threads * p50 ? rest : null;
}

const list = (words) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

/** All arms in one look: {level: "" | "ok" | "warn", text}. */
export function runWords(store, figures) {
  if (store.arms.every((arm) => resultOf(arm) === null)) {
    return { level: "", text: "These arms only tell facts: they are the same however busy the machine is." };
  }
  const found = store.arms.map((arm) => disturbanceOf(store, arm, figures(arm.index)));
  const bad = found.filter(disturbed);
  if (bad.length) return { level: "warn", text: sentences(bad, found.length) };
  const working = store.repeats.filter((repeat) => resultOf(store.arms[repeat.arm]) !== null);
  const seen = working.map((repeat) => footprint(store, repeat)).filter((each) => each);
  const others = seen.map((each) => each.other).filter((each) => each !== null);
  if (!others.length) return { level: "", text: untold(store) };
  const { cpus } = seen[0];
  const most = Math.max(...others);
  const text = `Other work used at most ${number(most)} of ${cpus} CPUs while an arm was measured.`;
  return { level: "ok", text };
}

function untold(store) {
  if (store.waits) return "Loading what else the machine did.";
  const over = !["queued", "running"].includes(store.run.status);
  return over
    ? "What else the machine did is not known for this run."
    : "What else the machine does is told when the first arm is done.";
}

function sentences(bad, arms) {
  const texts = [];
  const name = (d) => d.arm.label;
  const other = bad.filter((d) => d.other !== null);
  if (other.length) {
    const whose = other.length > 1 ? "their" : "its";
    const words = `${whose} ${figuresWord(other)} waiting for a CPU, too`;
    texts.push(`Other work used ${otherWords(other, arms)}: ${words}.`);
  }
  const steal = bad.filter((d) => d.steal !== null);
  if (steal.length) {
    const each = steal.map((d) => `${number(d.steal * 100)} % while ${name(d)} was measured`);
    texts.push(`The hypervisor gave CPU time of this machine to others: ${list(each)}.`);
  }
  const waited = bad.filter((d) => d.waited !== null && d.other === null);
  if (waited.length) {
    const each = waited.map((d) => `${number(d.waited / 1000)} ms in ${name(d)}`);
    texts.push(
      `Something else held the CPUs: beyond pauses and their own sharing, the threads of a mean round waited, summed over threads, ${list(each)}.`,
    );
  }
  const missed = bad.filter((d) => d.missed.length);
  if (missed.length) {
    texts.push(`Samples were missed in ${list(missed.map(name))}: periods there are unknown (see the log).`);
  }
  return texts.join(" ");
}

// What the disturbance is in, by what the arms are judged by.
function figuresWord(found) {
  const results = new Set(found.map(({ arm }) => (hasLatencies(arm) ? "latencies" : resultOf(arm))));
  if (results.size > 1) return "figures hold";
  const [result] = results;
  if (result === "wall_us") return "walls hold";
  return result === "latencies" ? "latencies hold" : "figures hold";
}

// Each arm by its name and figure; where it is all of many, their range.
function otherWords(other, arms) {
  const values = other.map((d) => d.other);
  if (other.length > 2 && other.length === arms) {
    const range = [Math.min(...values), Math.max(...values)].map(number).join(" to ");
    return `${range} of ${other[0].cpus} CPUs while each of the ${arms} arms was measured`;
  }
  const [first, ...rest] = other;
  const begin = `${number(first.other)} of ${first.cpus} CPUs while ${first.arm.label} was measured`;
  return list([begin, ...rest.map((d) => `${number(d.other)} while ${d.arm.label} was`)]);
}

/** Why a wall of this arm, or the comparison with `free`, cannot be told; "" where it can. */
export function doubt(store, arm, free, figures) {
  for (const each of [arm, free]) {
    if (!each) continue;
    const d = disturbanceOf(store, each, figures(each.index));
    const whose = each === arm ? "while it was measured" : `while ${each.label} was measured`;
    if (d.other !== null) return `other work used ${number(d.other)} of ${d.cpus} CPUs ${whose}`;
    if (d.steal !== null) return `the hypervisor took ${number(d.steal * 100)} % ${whose}`;
    if (d.waited !== null) return `its threads waited far longer than its pauses explain`;
  }
  return "";
}
