// The period strip in words: for the readout, for the keyboard, for who cannot see it. Pure.

import { cpuTime, number } from "./format.js";

const STATES = {
  paused: "paused by the limit",
  running: "running",
  idle: "idle",
  open: "stands still: paused or idle, not known yet",
  unknown: "unknown: no usable sample for a part of it",
  "not measured": "not measured",
};

/** Seconds since `zero`, to the millisecond. */
export const seconds = (t, zero) => `${((t - zero) / 1e6).toFixed(3)} s`;

// A period that began before the first sample is known from there on only.
const from = (t, zero) => (t < zero ? "before the first sample" : seconds(t, zero));

/** One cell: when, what it used of its budget, how long it was paused, in which state. */
export function cellWords(cell, { zero, quotaUs }) {
  if (cell.t1 <= zero) return "Before the first sample.";
  const least = cell.t0 < zero || cell.state === "unknown" ? "at least " : "";
  const used = cell.used_us === null ? "use not measured" : `used ${least}${cpuTime(cell.used_us)}`;
  const budget = quotaUs === null ? "" : ` of ${cpuTime(quotaUs)}`;
  const paused = cell.paused_us
    ? `, paused ${least}${cpuTime(cell.paused_us)} summed over CPUs`
    : "";
  const when = `Period from ${from(cell.t0, zero)} to ${seconds(cell.t1, zero)}`;
  return `${when}: ${used}${budget}${paused}. ${STATES[cell.state]}.`;
}

/** The whole view in two sentences; what lies in unknown periods is not added up. */
export function stripWords(all, { zero, quotaUs, label }) {
  const cells = all.filter((cell) => cell.t1 > zero && cell.slices?.length !== 0);
  if (!cells.length) return `${label}: no samples yet.`;
  const tally = (state) => cells.filter((cell) => cell.state === state).length;
  const parts = ["paused", "running", "idle", "unknown", "open"]
    .filter((state) => tally(state))
    .map((state) => `${tally(state)} ${state === "open" ? "not known yet" : state}`);
  const known = cells.filter((cell) => cell.state !== "unknown");
  const sum = (name) =>
    known.some((cell) => cell[name] === null)
      ? null
      : known.reduce((total, cell) => total + cell[name], 0);
  const least = known.length < cells.length ? "at least " : "";
  const say = (us) => (us === null ? cpuTime(us) : `${least}${cpuTime(us)}`);
  const range = `${seconds(Math.max(zero, cells[0].t0), zero)} to ${seconds(cells.at(-1).t1, zero)}`;
  const n = cells.length === 1 ? "1 period" : `${cells.length} periods`;
  const paused = sum("paused_us");
  const pause =
    quotaUs === null
      ? "There is no limit."
      : `Paused ${say(paused)}${paused === null ? "" : " summed over CPUs"}.`;
  return `${label}, ${range}, ${n}: ${parts.join(", ")}. Used ${say(sum("used_us"))}. ${pause}`;
}

/** How well the cells are aligned to the kernel's own periods. */
export function gridWords({ phase, uncertainty }, periodUs) {
  const where = `${number(phase / 1000)} ms`;
  if (uncertainty === null)
    return "Period bounds: not seen in the counters; drawn from the first sample.";
  const per = `${number(periodUs / 1000)} ms`;
  return `Period bounds from the counters: phase ${where} of ${per}, ±${number(uncertainty / 1000)} ms.`;
}
