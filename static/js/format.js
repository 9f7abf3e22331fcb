// How numbers are written, everywhere: three significant digits, a unit beside each, a thin
// space between thousands, and "not measured" for what is null. The template filters in
// experiments_app/web/templatetags/quantities.py follow the same rules.

export const THIN = "\u2009"; // between thousands
export const NBSP = "\u00a0"; // between a number and its unit
export const NOT_MEASURED = "not measured";

const missing = (value) => value === null || value === undefined || Number.isNaN(value);

/** Three significant digits at least; whole numbers keep all their digits. */
export function number(value) {
  if (missing(value)) return NOT_MEASURED;
  const size = Math.abs(value);
  let decimals = 0;
  if (size !== 0 && size < 99.95) {
    // Rounding may carry into the next digit (9.996 -> 10.0), so ask for the digits twice.
    const first = Math.floor(Math.log10(size));
    decimals = Math.max(0, 2 - first);
    const carried = Math.floor(Math.log10(Number(size.toFixed(decimals)) || size));
    decimals = Math.min(6, Math.max(0, 2 - carried));
  }
  const [whole, part] = size.toFixed(decimals).split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, THIN);
  return `${value < 0 ? "\u2212" : ""}${spaced}${part ? `.${part}` : ""}`;
}

/** A count: no decimals, thousands spaced. */
export function count(value) {
  if (missing(value)) return NOT_MEASURED;
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, THIN);
}

/** [text, unit] of a time in microseconds: ms, and s from 10 s on. */
export function timeParts(us) {
  if (missing(us)) return [NOT_MEASURED, ""];
  if (us === 0) return ["0", "ms"];
  return Math.abs(us) >= 10_000_000 ? [number(us / 1e6), "s"] : [number(us / 1e3), "ms"];
}

export function time(us) {
  const [text, unit] = timeParts(us);
  return unit ? `${text}${NBSP}${unit}` : text;
}

/** CPU time, summed over CPUs: "CPU ms", and "CPU s" from one second on. */
export function cpuTime(us) {
  if (missing(us)) return NOT_MEASURED;
  if (us === 0) return `0${NBSP}CPU${NBSP}ms`;
  const large = Math.abs(us) >= 1_000_000;
  return `${number(large ? us / 1e6 : us / 1e3)}${NBSP}CPU${NBSP}${large ? "s" : "ms"}`;
}

/** CPUs used on average. */
export function cpus(value) {
  if (missing(value)) return NOT_MEASURED;
  return `${value === 0 ? "0" : number(value)}${NBSP}CPU`;
}

export const ofTotal = (part, whole) =>
  missing(part) || missing(whole) ? NOT_MEASURED : `${count(part)} of ${count(whole)}`;

/** A limit as a number of CPUs: quota over period. */
export function limit(quotaUs, periodUs) {
  if (missing(quotaUs)) return "no limit";
  return cpus(quotaUs / periodUs);
}

/** A duration for people: "1 min 12 s", "3 h 05 min"; for plans and waiting, not for figures. */
export function duration(us) {
  if (missing(us)) return "not known";
  const seconds = Math.max(0, Math.round(us / 1e6));
  if (seconds < 60) return `${seconds}${NBSP}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60)
    return `${minutes}${NBSP}min${NBSP}${String(seconds % 60).padStart(2, "0")}${NBSP}s`;
  return `${Math.floor(minutes / 60)}${NBSP}h${NBSP}${String(minutes % 60).padStart(2, "0")}${NBSP}min`;
}

const two = (value) => String(value).padStart(2, "0");

/** Wall-clock time of day of an epoch in ms, in the reader's own zone. */
export function clock(ms) {
  if (missing(ms)) return "--:--:--";
  const at = new Date(ms);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** "today 14:02" or "2026-11-30 14:02", in the reader's own zone. */
export function moment(ms, now = Date.now()) {
  if (missing(ms)) return "not yet";
  const at = new Date(ms);
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (new Date(now).toDateString() === at.toDateString()) return `today ${time}`;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}
