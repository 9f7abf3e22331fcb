// The band over the pictures: is it throttled, does it hurt, why, what next, for the chosen arm,
// in plain figures. No verdict: each figure says what it counts.

import { find, write } from "./dom.js";
import { disturbanceOf, disturbed, doubt } from "./disturbance.js";
import { timeLeft } from "./figures.js";
import { count, cpuTime, duration, number, ofTotal, time } from "./format.js";
import { limitOf, lowestWithoutPause } from "./limits.js";

const LITTLE = 0.02; // of the wall: less paused or waiting time than this explains nothing
const MUCH = 0.25; // of the wall: this much waiting is worth naming

export class BandView {
  constructor(root, { store }) {
    Object.assign(this, { root, store });
    this.free = store.arms.find((arm) => arm.quota_us === null) ?? null;
  }

  /** `whose` says which arm it is, and why that one. */
  draw(arm, figures, whose) {
    write(find("[data-role=whose]", this.root), whose);
    const f = figures(arm.index);
    const limit = limitOf(this.store, arm);
    this.none = this.store.waits ? "loading" : "no settled round yet";
    this.#throttled(f, limit);
    this.#hurt(arm, f, figures);
    this.#why(f, limit);
    this.#next(figures);
  }

  #put(role, figure, words) {
    const cell = find(`[data-role=${role}]`, this.root);
    write(find("b", cell), figure);
    write(find("small", cell), words);
  }

  #throttled(f, limit) {
    if (limit.above) {
      const words = `${budget(limit)} on ${tail(limit.above)}: its pauses are not in this group’s counters`;
      return this.#put("throttled", "limited above", words);
    }
    if (limit.quota_us === null) return this.#put("throttled", "no limit", "no quota on this group or above it");
    if (!f.settled) return this.#put("throttled", "–", this.none);
    if (!f.judged) return this.#put("throttled", "not measured", "the kernel gave no throttled time");
    const each = f.pausedPerRound
      ? `; ${cpuTime(f.pausedPerRound)} paused in a mean round, summed over CPUs`
      : "";
    return this.#put("throttled", ofTotal(f.paused, f.judged), `rounds with a pause${each}`);
  }

  #hurt(arm, f, figures) {
    if (!f.n) return this.#put("hurt", "–", this.none);
    const free = this.free && figures(this.free.index);
    const why = doubt(this.store, arm, this.free, figures);
    if (why) return this.#put("hurt", "cannot tell", `${why}; median wall ${time(f.p50)}`);
    if (arm === this.free) return this.#put("hurt", time(f.p50), "median wall of a round, to compare the others with");
    if (!free?.n) return this.#put("hurt", time(f.p50), "median wall of a round; no arm without a limit beside it");
    const words = `median wall; ${number(f.p50 / free.p50)} times the ${time(free.p50)} without a limit`;
    return this.#put("hurt", time(f.p50), words);
  }

  // What the counters show, not more: pauses, waiting for a CPU, or neither.
  #why(f, limit) {
    if (!f.settled) return this.#put("why", "–", this.none);
    const wall = f.p50;
    const delay = f.delayPerRound;
    const waits = delay === null ? "" : `; its threads waited ${time(delay)} in a mean round, summed over threads, pauses included`;
    if (limit.above) return this.#put("why", "a limit above", `look at ${tail(limit.above)}${waits}`);
    if (f.pausedPerRound > LITTLE * wall) {
      const used = f.usedPerRound === null ? "" : `a mean round uses ${cpuTime(f.usedPerRound)}; `;
      return this.#put("why", "budget spent", `${used}the limit gives ${budget(limit)}`);
    }
    if (delay !== null && delay > MUCH * wall) {
      const words = `${time(delay)} in a mean round, summed over threads: more threads than CPUs, or other work`;
      return this.#put("why", "waits for a CPU", words);
    }
    const used = f.usedPerRound === null ? "" : `; a mean round uses ${cpuTime(f.usedPerRound)}`;
    return this.#put("why", "nothing held it", `next to no pause, little waiting${used}`);
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
      const words = `the lowest limit here without a paused round, in ${count(figures(lowest.index).judged)}`;
      return this.#put("next", lowest.label, words);
    }
    return this.#put("next", measured(this.store), "measured; run again for more, or export the figures");
  }
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
