// The band over the pictures: is it throttled, does it hurt, why, what next, for the chosen arm,
// in plain figures.

import { find, write } from "./dom.js";
import { cpuTime, duration, number, ofTotal, time } from "./format.js";
import { timeLeft } from "./figures.js";

export class BandView {
  constructor(root, { store }) {
    Object.assign(this, { root, store });
    this.free = store.arms.find((arm) => arm.quota_us === null) ?? null;
  }

  draw(arm, figures) {
    const f = figures(arm.index);
    this.#throttled(arm, f);
    this.#hurt(arm, f, this.free ? figures(this.free.index) : null);
    this.#why(arm, f);
    this.#next();
  }

  #put(role, figure, words) {
    const cell = find(`[data-role=${role}]`, this.root);
    write(find("b", cell), figure);
    write(find("small", cell), words);
  }

  #throttled(arm, f) {
    if (arm.quota_us === null)
      return this.#put("throttled", "no limit", "nothing can pause this arm but a limit above it");
    if (!f.settled) return this.#put("throttled", "–", "no settled round yet");
    if (!f.judged) return this.#put("throttled", "not measured", "the kernel gave no throttled time");
    const each = f.pausedPerRound
      ? `; ${cpuTime(f.pausedPerRound)} paused a round, summed over CPUs`
      : "";
    return this.#put("throttled", ofTotal(f.paused, f.judged), `rounds with a pause${each}`);
  }

  #hurt(arm, f, free) {
    if (!f.n) return this.#put("hurt", "–", "no round yet");
    const same = !free || free === f || !free.n || arm === this.free;
    const beside = same ? "" : `; ${time(free.p50)} without a limit`;
    return this.#put("hurt", time(f.p50), `median wall of a round${beside}`);
  }

  #why(arm, f) {
    const each =
      f.settled && f.usage_us !== null
        ? f.usage_us / Math.max(1, f.source === "totals" ? f.n : f.settled)
        : null;
    const work = arm.threads * arm.work_us;
    const used = each === null ? cpuTime(work) : cpuTime(each);
    const what = each === null ? "of work a round" : "used a round";
    if (arm.quota_us === null) return this.#put("why", used, `${what}, no budget to spend`);
    return this.#put(
      "why",
      used,
      `${what}; the budget is ${cpuTime(arm.quota_us)} per ${number(arm.period_us / 1000)} ms period`,
    );
  }

  #next() {
    const { status } = this.store.run;
    if (status === "running") {
      const next = this.store.repeats.find((repeat) => repeat.state === "waiting");
      const many = next && this.store.repeatsOf(next.arm).length > 1;
      const words = next
        ? `then ${this.store.arms[next.arm].label}${many ? `, repeat ${next.n}` : ""}`
        : "the last arm";
      return this.#put("next", duration(timeLeft(this.store, Date.now())), `left of the run; ${words}`);
    }
    if (status === "queued") return this.#put("next", "queued", "starts when the machine is free");
    const done = this.store.repeats.filter((repeat) => repeat.state === "done").length;
    return this.#put(
      "next",
      ofTotal(done, this.store.repeats.length),
      "repeats done; run again for more, or export the figures",
    );
  }
}
