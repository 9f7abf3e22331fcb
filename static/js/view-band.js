// The band over the pictures: is it throttled, does it hurt, why, what next, for the chosen arm,
// in plain figures. No verdict: each figure says what it counts.

import { find, write } from "./dom.js";
import { disturbanceOf, disturbed, doubt } from "./disturbance.js";
import { timeLeft } from "./figures.js";
import { shareOf, spinning, weightRead } from "./cpu-reports.js";
import { count, cpus, cpuTime, duration, NOT_MEASURED, number, ofTotal, time } from "./format.js";
import { errorWords } from "./latencies.js";
import { limitOf, lowestWithoutPause } from "./limits.js";
import { hasLatencies, nounOf, resultOf } from "./units.js";

const LITTLE = 0.02; // of the wall: less paused or waiting time than this explains nothing
const MUCH = 0.25; // of the wall: this much waiting is worth naming

export class BandView {
  constructor(root, { store }) {
    Object.assign(this, { root, store });
  }

  /** `whose` says which arm it is, and why that one. */
  draw(arm, figures, whose) {
    write(find("[data-role=whose]", this.root), whose);
    const f = figures(arm.index);
    const limit = limitOf(this.store, arm);
    // Nothing works in an arm that only tells facts: there is nothing to be throttled.
    this.root.hidden = resultOf(arm) === null;
    if (this.root.hidden) return;
    this.noun = nounOf(arm);
    write(find("[data-role=hurt] h2", this.root), resultOf(arm) === "cpu" ? "Who got the CPU?" : "Does it hurt?");
    this.none = this.store.waits ? "loading" : this.store.ended ? NOT_MEASURED : `no settled ${this.noun} yet`;
    this.free = freeOf(this.store.arms, arm);
    this.#throttled(f, limit, arm);
    if (hasLatencies(arm)) this.#requests(arm, f, figures);
    else if (resultOf(arm) === "cpu") this.#shares(arm);
    else this.#hurt(arm, f, figures);
    this.#why(f, limit, arm);
    this.#next(figures);
  }

  #put(role, figure, words, bad = false) {
    const cell = find(`[data-role=${role}]`, this.root);
    find("small", cell).classList.toggle("bad", Boolean(bad));
    write(find("b", cell), figure);
    write(find("small", cell), words);
  }

  #throttled(f, limit, arm) {
    if (limit.above) {
      const words = `${budget(limit)} on ${tail(limit.above)}: its pauses are not in this group’s counters`;
      return this.#put("throttled", "limited above", words);
    }
    if (limit.quota_us === null) return this.#put("throttled", "no limit", "no quota on this group or above it");
    if (!f.counted) return this.#put("throttled", "–", this.none);
    if (resultOf(arm) !== "wall_us") return this.#periods(f, arm);
    if (!f.judged) return this.#put("throttled", "not measured", "the kernel gave no throttled time");
    const each = f.pausedPerRound
      ? `; ${cpuTime(f.pausedPerRound)} paused in a mean round, summed over CPUs`
      : "";
    return this.#put("throttled", ofTotal(f.paused, f.judged), `rounds with a pause${each}`);
  }

  #periods(f, arm) {
    const whose = resultOf(arm) === "work_us" ? "the server’s periods" : "periods";
    const paused = f.throttled_us === null ? "" : `; ${cpuTime(f.throttled_us)} paused, summed over CPUs`;
    return this.#put("throttled", ofTotal(f.nr_throttled, f.nr_periods), `${whose}, of those with work${paused}`);
  }

  #hurt(arm, f, figures) {
    if (!f.n) return this.#put("hurt", "–", this.none);
    const free = this.free && figures(this.free.index);
    const why = doubt(this.store, arm, this.free, figures);
    if (why) return this.#put("hurt", "cannot tell", `${why}; median wall ${time(f.p50)}`);
    if (arm === this.free) return this.#put("hurt", time(f.p50), "median wall of a round, to compare the others with");
    if (!free?.n) return this.#put("hurt", time(f.p50), "median wall of a round; no arm of the same work without a limit beside it");
    const words = `median wall; ${number(f.p50 / free.p50)} times the ${time(free.p50)} without a limit`;
    return this.#put("hurt", time(f.p50), words);
  }

  // What failed is told first: it is in no percentile.
  #requests(arm, f, figures) {
    const m = f.measures?.[resultOf(arm)];
    if (!m) return this.#put("hurt", "–", this.store.waits ? "loading" : "no request answered yet");
    const failed = m.failed ? `${errorWords(m.errors, count)}; ` : "";
    const free = this.free && this.free !== arm ? figures(this.free.index) : null;
    const median = `median ${time(m.p50)}`;
    if (m.p99 === null) {
      const words = `${failed}median of ${count(m.n)} requests; p99 needs 100`;
      return this.#put("hurt", time(m.p50), words, m.failed);
    }
    const why = doubt(this.store, arm, this.free, figures);
    const times = free?.p99
      ? why
        ? `; no comparison: ${why}`
        : `; ${number(m.p99 / free.p99)} times the ${time(free.p99)} without a limit`
      : "";
    return this.#put("hurt", `p99 ${time(m.p99)}`, `${failed}${median}${times}`, m.failed);
  }

  #shares(arm) {
    const found = spinning(arm).map((unit) => [unit.name, shareOf(this.store, arm, unit)]);
    const known = found.filter(([, share]) => share.reports);
    if (!known.length) return this.#put("hurt", "–", this.store.waits ? "loading" : "no report yet");
    const values = known.map(([, share]) => share.mean ?? share.latest);
    const words = `CPUs of ${known.map(([name]) => name).join(", ")}`;
    const last = known.every(([, share]) => share.mean !== null) ? "mean of the last three reports" : "latest report";
    return this.#put("hurt", ratio(values), `${words}; ${last}`);
  }

  // What divided the CPU: the weights as they were read back.
  #weights(arm) {
    const found = spinning(arm).map((unit) => [unit.name, weightRead(this.store, arm, unit)]);
    const known = found.filter(([, read]) => read);
    if (!known.length) return this.#put("why", "–", this.store.waits ? "loading" : "no weight read yet");
    const names = known.map(([name]) => name).join(", ");
    const [{ name }] = known.map(([, read]) => read);
    const words = `${name} of ${names}: they divide the CPU, level by level, while all want it`;
    return this.#put("why", ratio(known.map(([, { value }]) => value), count), words);
  }

  // What the counters show, not more: pauses, waiting for a CPU, or neither.
  #why(f, limit, arm) {
    if (resultOf(arm) === "cpu" && !limit.above && !f.throttled_us) return this.#weights(arm);
    if (!f.settled) return this.#put("why", "–", this.none);
    const walls = resultOf(arm) === "wall_us";
    // Where rounds are stretches of time, they are what pauses and waiting are held against.
    const wall = walls ? f.p50 : f.wallPerRound;
    const delay = f.delayPerRound;
    const mean = `a mean ${this.noun}${resultOf(arm) === "work_us" ? " of the server" : ""}`;
    const waits = delay === null ? "" : `; its threads waited ${time(delay)} in ${mean}, summed over threads, pauses included`;
    if (limit.above) return this.#put("why", "a limit above", `look at ${tail(limit.above)}${waits}`);
    if (f.pausedPerRound > LITTLE * wall) return this.#spent(f, limit, mean);
    if (delay !== null && delay > MUCH * wall) {
      const words = `${time(delay)} in ${mean}, summed over threads: more threads than CPUs, or other work`;
      return this.#put("why", "waits for a CPU", words);
    }
    const used = f.usedPerRound === null ? "" : `; ${mean} uses ${cpuTime(f.usedPerRound)}`;
    return this.#put("why", "nothing held it", `next to no pause, little waiting${used}`);
  }

  #spent(f, limit, mean) {
    const used = f.usedPerRound === null ? "" : `${mean} uses ${cpuTime(f.usedPerRound)}; `;
    const average = this.noun === "second" && f.cpus !== null ? `on average it used ${cpus(f.cpus)}; ` : used;
    return this.#put("why", "budget spent", `${average}the limit gives ${budget(limit)}`);
  }

  #next(figures) {
    const { status } = this.store.run;
    if (status === "running") {
      const next = this.store.repeats.find((repeat) => repeat.state === "waiting");
      const many = next && this.store.repeatsOf(next.arm).length > 1;
      const words = next
        ? `then ${this.store.arms[next.arm].label}${many ? `, repeat ${next.n}` : ""}`
        : "the last arm";
      return this.#put("next", duration(timeLeft(this.store, Date.now())), `left of the run; ${words}`);
    }
    if (status === "queued") return this.#put("next", "queued", "starts when its turn comes");
    if (this.store.waits) return this.#put("next", "–", "loading");
    if (this.store.arms.some((arm) => disturbed(disturbanceOf(this.store, arm, figures(arm.index))))) {
      const words = "on a quieter machine: with other work, rounds may wait instead of being paused";
      return this.#put("next", "run again", words);
    }
    const lowest = lowestWithoutPause(this.store, figures);
    if (lowest) {
      const words = `the lowest limit here without a paused ${nounOf(lowest)}, in ${count(figures(lowest.index).judged)}`;
      return this.#put("next", lowest.label, words);
    }
    return this.#put("next", measured(this.store), "measured; run again for more, or export the figures");
  }
}

/** The arm without a limit that did the same work as this one, at the same scale; else null. */
export function freeOf(arms, arm) {
  const same = ["kind", "scale", "threads", "work_us"];
  const fits = (each) => resultOf(each) === resultOf(arm) && same.every((name) => each[name] === arm[name]);
  return arms.find((each) => each.quota_us === null && fits(each)) ?? null;
}

/** "0.144 : 0.847"; of more than three from the least to the most. */
function ratio(values, write = number) {
  if (values.length < 4) return values.map((value) => write(value)).join(" : ");
  return `${write(Math.min(...values))} to ${write(Math.max(...values))}`;
}

/** How much of the plan was measured, in words: repeats of an arm are not arms. */
export function measured({ arms, repeats }) {
  const done = repeats.filter((repeat) => repeat.state === "done").length;
  const times = arms.length ? repeats.length / arms.length : 0;
  if (times !== 1) return `${ofTotal(done, repeats.length)} repeats`;
  if (done < repeats.length) return `${ofTotal(done, repeats.length)} arms`;
  return arms.length === 1 ? "the arm" : `all ${arms.length} arms`;
}

const budget = ({ quota_us: quota, period_us: period }) =>
  `${cpuTime(quota)} per ${number(period / 1000)} ms`;

/** The last parts of a long path: enough to know the group. */
const tail = (path) => {
  const parts = path.split("/").filter(Boolean);
  return parts.length > 3 ? `…/${parts.slice(-2).join("/")}` : path;
};
