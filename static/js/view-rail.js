// The arms at the side: state, four numbers and a spark of dots each. On a narrow screen the
// same choice is a select, and only the chosen arm is shown.

import { roundsOf } from "./arm-rows.js";
import { all, attribute, find, write } from "./dom.js";
import { keepExtremes } from "./decimate.js";
import { armState, paused, pausedWords } from "./figures.js";
import { cpus, cpuTime, limit, ofTotal, time } from "./format.js";

const SPARK_POINTS = 60;
const W = 240;
const H = 26;

export class RailView {
  constructor(root, { store, choose }) {
    Object.assign(this, { root, store });
    this.items = all("[data-arm]", root);
    this.select = find("select", root);
    root.addEventListener("click", (event) => {
      const item = event.target.closest("[data-arm]");
      if (!item || event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      choose(item.dataset.arm);
    });
    this.select.addEventListener("change", () => choose(this.select.value));
  }

  /** figures(index) gives an arm's figures; `chosen` is the arm's name or "all". */
  draw(figures, chosen) {
    const top = Math.max(1, ...this.store.arms.map((arm) => figures(arm.index).max ?? 0));
    for (const item of this.items) {
      attribute(item, "aria-current", item.dataset.arm === chosen ? "true" : null);
      const arm = this.store.arms.find((each) => each.name === item.dataset.arm);
      if (arm) this.#arm(item, arm, figures(arm.index), top);
    }
    this.select.value = chosen;
  }

  #arm(item, arm, f, top) {
    const state = armState(this.store, arm.index);
    const pill = find("[data-role=state]", item);
    write(pill, state);
    pill.className = `pill bare ${state.split(" ").at(-1)}`;
    attribute(item, "data-rounds", String(f.n));
    const none = f.n === 0;
    const put = (role, text) => write(find(`[data-role=${role}]`, item), none ? "–" : text);
    put("wall", time(f.p50));
    put("paused", pausedWords(arm, f));
    put(
      "throttled",
      arm.quota_us === null ? "no limit" : f.settled ? cpuTime(f.pausedPerRound) : "not yet",
    );
    const used = f.settled ? cpus(f.cpus) : "not yet";
    put(
      "cpu",
      arm.quota_us === null || !f.settled
        ? used
        : `${used.replace(/.CPU$/, "")} of ${limit(arm.quota_us, arm.period_us)}`,
    );
    this.#spark(item, arm, top, f.n);
  }

  #spark(item, arm, top, n) {
    if (item.drawn === `${n} ${top}`) return;
    item.drawn = `${n} ${top}`;
    const rows = roundsOf(this.store, arm.index);
    const walls = rows.map(({ round }) => round.wall_us);
    const kept = keepExtremes(walls, SPARK_POINTS);
    const planned = arm.rounds * this.store.repeatsOf(arm.index).length;
    const step = (W - 8) / Math.max(1, Math.max(planned, rows.length) - 1);
    const path = (was) =>
      kept
        .filter((i) => (paused(rows[i].round) === true) === was)
        .map(
          (i) => `M${(4 + i * step).toFixed(1)} ${(H - 4 - (walls[i] / top) * (H - 8)).toFixed(1)}h0`,
        )
        .join("");
    attribute(find(".free", item), "d", path(false));
    attribute(find(".held", item), "d", path(true));
  }
}
