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

/** One cell: when, what it used of its budget, how long it was paused, in which state. */
export function cellWords(cell, { zero, quotaUs }) {
  const used = cell.used_us === null ? "use not measured" : `used ${cpuTime(cell.used_us)}`;
  const budget = quotaUs === null ? "" : ` of ${cpuTime(quotaUs)}`;
  const paused = cell.paused_us ? `, paused ${cpuTime(cell.paused_us)} summed over CPUs` : "";
  const when = `Period ${seconds(cell.t0, zero)} to ${seconds(cell.t1, zero)}`;
  return `${when}: ${used}${budget}${paused}. ${STATES[cell.state]}.`;
}

/** The whole view in two sentences. */
export function stripWords(cells, { zero, quotaUs, label }) {
  if (!cells.length) return `${label}: no samples yet.`;
  const tally = (state) => cells.filter((cell) => cell.state === state).length;
  const parts = ["paused", "running", "idle", "unknown", "open"]
    .filter((state) => tally(state))
    .map((state) => `${tally(state)} ${state === "open" ? "not known yet" : state}`);
  const used = cells.reduce((sum, cell) => sum + (cell.used_us ?? 0), 0);
  const paused = cells.reduce((sum, cell) => sum + (cell.paused_us ?? 0), 0);
  const range = `${seconds(Math.max(zero, cells[0].t0), zero)} to ${seconds(cells.at(-1).t1, zero)}`;
  const pause = quotaUs === null ? "There is no limit." : `Paused ${cpuTime(paused)} summed over CPUs.`;
  return `${label}, ${range}, ${cells.length} periods: ${parts.join(", ")}. Used ${cpuTime(used)}. ${pause}`;
}

/** How well the cells are aligned to the kernel's own periods. */
export function gridWords({ phase, uncertainty }, periodUs) {
  const where = `${number(phase / 1000)} ms`;
  if (uncertainty === null)
    return "Period bounds: not seen in the counters; drawn from the first sample.";
  const per = `${number(periodUs / 1000)} ms`;
  return `Period bounds from the counters: phase ${where} of ${per}, ±${number(uncertainty / 1000)} ms.`;
}
