// The period strip's arithmetic: from samples of one repeat and group to one cell a CFS
// period. Pure: no page, no clock.
//
// Two cumulative functions of time carry the amounts: usage, straight between two samples, and
// paused time, which the kernel books in one jump when a pause ends and which is spread back
// here over the time the group stood still. Cells take rounded differences of these functions
// at their bounds, so cells add up exactly to last minus first of the counters.
//
// Beside them runs a list of segments, each of one kind:
//   running  usage advanced          paused   stood still, and a pause was booked for it
//   idle     stood still, no pause   unknown  no sample was taken here, or a counter is missing
//   open     stood still since the last sign of life: paused or idle, not known yet

import { interpolate, lastAtOrBefore, median, stateOf } from "./spans.js";

const GAP = 2.5; // a sample later than this many sampling intervals is a gap
const STILL = 0.0025; // CPU used per time below which a group counts as standing still
const IDLE_PERIODS = 2; // whole periods without a throttled one: the period timer has stopped
const PHASE_ENOUGH = 400;

export class StripModel {
  /** periodUs: the CFS period; quotaUs: null for no limit; cpus: CPUs the group can use. */
  constructor({ periodUs, quotaUs = null, cpus = 1 }) {
    this.periodUs = periodUs;
    this.quotaUs = quotaUs;
    this.cpus = Math.max(1, cpus);
    this.taken = 0; // samples of the series looked at
    this.#reset();
  }

  #reset() {
    this.t = [];
    this.usage = []; // CPU us used since the first sample
    this.segments = []; // {t0, t1, kind}
    this.spreads = []; // {t0, t1, before, amount}: paused time, spread back
    this.last = null; // newest usable sample
    this.totals = { used: 0, paused: 0, periods: 0, throttled: 0 };
    this.measured = { used: false, paused: false };
    this.still = null; // {from, moved, throttled, frozen}: the flat stretch not judged yet
    this.asleep = false; // the period timer has stopped: standing still is idle
    this.dt = null;
    this.resets = 0;
    this.marks = { x: 0, y: 0, n: 0 };
  }

  /** Take what is new in a SampleSeries until `more()` says stop; true when all is taken. */
  feed(series, more = () => true) {
    if (this.taken === 0) this.#reset();
    if (this.dt === null && !this.#learnInterval(series)) return true;
    for (let i = this.taken, stop = i + 64; i < series.length; this.taken = i += 1) {
      if (i >= stop && i % 64 === 0 && !more()) return false;
      this.#sample({
        t: series.t[i], usage: series.usage[i], periods: series.periods[i],
        throttled: series.throttled[i], paused: series.paused[i],
      });
    }
    return true;
  }

  // The sampling interval is the median of the first steps; with fewer than eight of them it
  // is looked at again when more have come, by starting over.
  #learnInterval(series) {
    if (series.length < 2) return series.length === 1;
    const steps = [];
    for (let i = 1; i < Math.min(series.length, 65); i += 1) steps.push(series.t[i] - series.t[i - 1]);
    this.taken = 0;
    this.#reset();
    this.interval = median(steps);
    if (steps.length >= 8) this.dt = this.interval;
    return true;
  }

  #sample(s) {
    if (Number.isNaN(s.usage)) return;
    if (this.measured.paused && Number.isNaN(s.paused)) return; // a reading cut short
    if (this.last === null) {
      this.t.push(s.t);
      this.usage.push(0);
      this.measured = { used: true, paused: !Number.isNaN(s.paused) };
      this.last = s;
      return;
    }
    const step = this.#step(this.last, s);
    this.totals.used += step.used;
    this.t.push(s.t);
    this.usage.push(this.totals.used);
    this.totals.periods += step.periods;
    this.totals.throttled += step.throttled;
    this.#phase(step);
    this.#judge(step);
    this.last = s;
  }

  #step(a, b) {
    const diff = (name) => (Number.isNaN(b[name]) || Number.isNaN(a[name]) ? 0 : b[name] - a[name]);
    const step = {
      t0: a.t, t1: b.t, used: diff("usage"), paused: diff("paused"),
      periods: diff("periods"), throttled: diff("throttled"),
    };
    if (Object.values(step).some((value) => value < 0)) {
      this.resets += 1; // a smaller value than before: another generation of the counters
      step.used = Math.max(0, step.used);
      step.paused = Math.max(0, step.paused);
      step.periods = Math.max(0, step.periods);
      step.throttled = Math.max(0, step.throttled);
      step.gap = true;
    }
    step.gap ||= step.t1 - step.t0 > GAP * this.interval;
    step.flat = step.used <= STILL * (step.t1 - step.t0);
    return step;
  }

  #phase({ t0, t1, periods }) {
    if (periods <= 0 || t1 - t0 > this.periodUs / 2 || this.marks.n >= PHASE_ENOUGH) return;
    const angle = (((t0 + t1) / 2 % this.periodUs) / this.periodUs) * 2 * Math.PI;
    this.marks.x += Math.cos(angle);
    this.marks.y += Math.sin(angle);
    this.marks.n += 1;
  }

  #judge(step) {
    if (step.flat && !step.gap && step.paused === 0) return this.#standStill(step);
    this.asleep = false;
    if (step.gap) this.#judgeGap(step);
    else if (step.paused > 0) this.#judgeBooking(step);
    else {
      this.#resolve(step.t0, this.still?.frozen ? "unknown" : "idle");
      this.#push(step.t0, step.t1, "running");
    }
    return undefined;
  }

  #standStill(step) {
    const unlimited = this.quotaUs === null;
    if (unlimited || (this.asleep && step.throttled === 0)) {
      return this.#push(step.t0, step.t1, "idle");
    }
    if (!this.measured.paused) return this.#push(step.t0, step.t1, "unknown");
    this.asleep = false;
    this.still ??= { from: step.t0, moved: step.t0, throttled: 0, frozen: false };
    if (step.throttled > 0) {
      // A throttled period was counted while nothing ran: the group is still frozen.
      this.still.moved = step.t1;
      this.still.throttled += step.throttled;
      this.still.frozen = true;
    } else if (!this.still.frozen && step.t1 - this.still.moved >= IDLE_PERIODS * this.periodUs) {
      this.#resolve(step.t1, "idle");
      this.asleep = true;
    }
    return undefined;
  }

  #judgeGap(step) {
    this.#resolve(step.t0, step.paused > 0 || this.still?.frozen ? "unknown" : "idle");
    this.#push(step.t0, step.t1, "unknown");
    this.#spread(step.t0, step.t1, step.paused);
  }

  // A pause ended in this step. It cannot have been longer than the time booked (at least one
  // CPU waited throughout), nor than the throttled periods counted for it.
  #judgeBooking(step) {
    if (this.#reopen(step)) return this.#judge({ ...step, paused: 0 });
    const end = step.flat ? step.t1 : step.t0;
    const from = this.still ? this.still.from : step.t0;
    if (end <= from) return this.#bookWithin(step);
    const counted = Math.max(1, (this.still?.throttled ?? 0) + step.throttled);
    const longest = Math.min(step.paused, counted * this.periodUs + this.interval);
    let start = Math.max(from, end - longest);
    if (start - from <= this.interval) start = from;
    this.still = null;
    if (start > from) this.#push(from, start, "idle");
    this.#push(start, end, "paused");
    this.#spread(start, end, step.paused);
    if (!step.flat) this.#push(step.t0, step.t1, "running");
    return undefined;
  }

  // Ran and stood still within one sampling interval: the parts are known, not their order.
  // A pause that follows running is drawn after it.
  #bookWithin(step) {
    const share = step.paused / (step.paused + step.used);
    const length = step.t1 - step.t0;
    const before = this.segments.at(-1)?.kind === "running";
    const cut = Math.round(before ? step.t1 - share * length : step.t0 + share * length);
    this.still = null;
    this.#push(step.t0, cut, before ? "running" : "paused");
    this.#push(cut, step.t1, before ? "paused" : "running");
    this.#spread(step.t0, step.t1, step.paused);
  }

  // Usage and paused time come from two files that are read one after the other: a booking can
  // show one sample late. It does so when it is more than this step can hold.
  #reopen(step) {
    if (this.still || step.paused <= this.cpus * (step.t1 - step.t0) * 1.05) return false;
    const [flat, ran] = this.segments.slice(-2);
    if (!ran || flat.kind !== "idle" || ran.kind !== "running") return false;
    if (ran.t1 - ran.t0 > GAP * this.interval) return false;
    this.segments.splice(-2);
    this.#pauseAndRun(flat, ran, step);
    return true;
  }

  #pauseAndRun(flat, ran, step) {
    const longest = Math.min(step.paused, Math.max(1, step.throttled) * this.periodUs + this.interval);
    const start = Math.max(flat.t0, flat.t1 - longest);
    if (start > flat.t0) this.#push(flat.t0, start, "idle");
    this.#push(start, flat.t1, "paused");
    this.#push(ran.t0, ran.t1, "running");
    this.#spread(start, flat.t1, step.paused);
  }

  #resolve(until, kind) {
    if (this.still) this.#push(this.still.from, until, kind);
    this.still = null;
  }

  #push(t0, t1, kind) {
    if (t1 <= t0) return;
    const last = this.segments.at(-1);
    if (last && last.kind === kind && last.t1 === t0) last.t1 = t1;
    else this.segments.push({ t0, t1, kind });
  }

  #spread(t0, t1, amount) {
    if (amount <= 0) return;
    this.spreads.push({ t0, t1, before: this.totals.paused, amount });
    this.totals.paused += amount;
  }

  /** First and last usable instant, or null. */
  get span() {
    return this.t.length ? { t0: this.t[0], t1: this.t.at(-1) } : null;
  }

  /** Where periods begin: {phase, uncertainty}, in us; uncertainty null when it is a guess. */
  get grid() {
    const { x, y, n } = this.marks;
    const clear = n > 0 && Math.hypot(x, y) / n > 0.5;
    if (!clear) return { phase: this.t.length ? this.t[0] % this.periodUs : 0, uncertainty: null };
    const turn = Math.atan2(y, x) / (2 * Math.PI);
    const phase = Math.round(((turn + 1) % 1) * this.periodUs) % this.periodUs;
    return { phase, uncertainty: Math.round((this.interval ?? 0) / 2) };
  }

  usageAt = (t) => interpolate(this.t, this.usage, t);

  pausedAt(t) {
    const i = lastAtOrBefore(this.spreads, t);
    if (i < 0) return 0;
    const { t0, t1, before, amount } = this.spreads[i];
    return before + (t >= t1 ? amount : (amount * (t - t0)) / (t1 - t0));
  }

  /** Segments that touch [from, to], cut to it; the flat tail is "open" while live. */
  slices(from, to, live) {
    const found = [];
    for (let i = Math.max(0, lastAtOrBefore(this.segments, from)); i < this.segments.length; i += 1) {
      const { t0, t1, kind } = this.segments[i];
      if (t0 >= to) break;
      if (t1 > from) found.push({ t0: Math.max(t0, from), t1: Math.min(t1, to), kind });
    }
    if (this.still && this.last.t > from && this.still.from < to) {
      const kind = live ? "open" : "unknown";
      found.push({ t0: Math.max(from, this.still.from), t1: Math.min(to, this.last.t), kind });
    }
    return found;
  }

  /** One cell a period over [from, to] (default: all there is), aligned to the grid. */
  cells({ from, to, live = false } = {}) {
    const span = this.span;
    if (!span) return [];
    const { phase } = this.grid;
    const first = Math.floor(((from ?? span.t0) - phase) / this.periodUs);
    const end = to ?? span.t1;
    const cells = [];
    for (let k = first; phase + k * this.periodUs < end; k += 1) {
      cells.push(this.#cell(phase + k * this.periodUs, live));
    }
    return cells;
  }

  #cell(t0, live) {
    const t1 = t0 + this.periodUs;
    const slices = this.slices(t0, t1, live);
    const used = Math.round(this.usageAt(t1)) - Math.round(this.usageAt(t0));
    const paused = Math.round(this.pausedAt(t1)) - Math.round(this.pausedAt(t0));
    return {
      t0, t1, slices, used_us: this.measured.used ? used : null,
      paused_us: this.quotaUs !== null && this.measured.paused ? paused : null,
      state: stateOf(slices),
    };
  }
}

/** The parts of [t0, t1] that the model says were paused. */
export function pausesIn(model, t0, t1) {
  return model.slices(t0, t1, true).filter((slice) => slice.kind === "paused");
}
