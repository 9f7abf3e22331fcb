// The arms at the side: state, four numbers and a spark of dots each. On a narrow screen the
// same choice is a select, and only the chosen arm is shown.

import { roundsOf } from "./arm-rows.js";
import { countersOf } from "./beside.js";
import { all, attribute, find, write } from "./dom.js";
import { keepExtremes } from "./decimate.js";
import { shareOf, spinning } from "./cpu-reports.js";
import { armState, paused, pausedWords } from "./figures.js";
import { factsOf, telling } from "./facts-rows.js";
import { cpus, cpuTime, limit, NOT_MEASURED, ofTotal, time } from "./format.js";
import { hasLatencies, resultOf } from "./units.js";

const SPARK_POINTS = 60;
const W = 240;
const H = 26;

// What a dot stands for; of requests the slowest of a second.
const SPARKS = {
  wall_us: (round) => round.wall_us,
  work_us: (round) => round.measures.work_us?.max ?? null,
  request_us: (round) => round.measures.request_us?.max ?? null,
};

function wallFigures(arm, f, none) {
  const used = f.counted ? cpus(f.cpus) : none;
  const free = arm.quota_us === null;
  return {
    wall: time(f.p50),
    paused: pausedWords(arm, f, none),
    throttled: free ? "no limit" : f.settled ? cpuTime(f.pausedPerRound) : none,
    cpu:
      free || !f.counted
        ? used
        : `${used.replace(/.CPU$/, "")} of ${limit(arm.quota_us, arm.period_us)}`,
  };
}

const latencyFigures = (arm, f, none) => ({
  p50: time(f.p50),
  p99: f.p99 === null ? "needs 100 requests" : time(f.p99),
  max: time(f.max),
  periods:
    arm.quota_us === null
      ? "no limit"
      : f.counted
        ? ofTotal(f.nr_throttled, f.nr_periods)
        : none,
});

/** Was something paused in a round? A load has no limit: in its seconds its server is. */
export function heldIn(store, arm, { repeat, round }) {
  if (resultOf(arm) !== "work_us") return paused(round) === true;
  return (countersOf(store, repeat, round)?.throttled_us ?? 0) > 0;
}

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
    const figures = this.#figures(arm, f);
    for (const [role, text] of Object.entries(figures)) {
      write(find(`[data-role="${role}"]`, item), text);
    }
    this.#spark(item, arm, f, top);
  }

  /** What stands beside an arm's name, by role: as its result is. */
  #figures(arm, f) {
    const result = resultOf(arm);
    if (result === "cpu") return this.#shares(arm);
    if (result === null) return this.#facts(arm);
    if (f.n === 0) return {};
    const none = this.store.waits ? "loading" : this.store.ended ? NOT_MEASURED : "not yet";
    return (hasLatencies(arm) ? latencyFigures : wallFigures)(arm, f, none);
  }

  #shares(arm) {
    const units = spinning(arm).filter(({ name }) => this.store.repeatsOf(arm.index).some((r) => r.groups.has(name)));
    return Object.fromEntries(
      units.map((unit) => {
        const { mean, latest, reports } = shareOf(this.store, arm, unit);
        return [`share-${unit.name}`, reports ? cpus(mean ?? latest) : "–"];
      }),
    );
  }

  // Containers that differ are told one by one.
  #facts(arm) {
    const units = telling(arm);
    const each = units.map((unit) => factsOf(this.store, arm, unit));
    const join = (values) => [...new Set(values)].join(", ");
    const seen = (name) => (each.includes(null) ? "–" : join(each.map((facts) => facts[name] ?? "not read")));
    return {
      limits: join(units.map((unit) => unit.limit_text)),
      gomaxprocs: seen("gomaxprocs"),
      num_cpu: seen("num_cpu"),
      cpu_max: seen("cpu_max"),
    };
  }

  #spark(item, arm, f, top) {
    const values = SPARKS[resultOf(arm)];
    const drawn = `${f.n} ${f.settled} ${top}`; // a round's pause is known when it is settled
    if (!values || item.drawn === drawn) return;
    item.drawn = drawn;
    const rows = roundsOf(this.store, arm.index);
    const held = (i) => heldIn(this.store, arm, rows[i]);
    const walls = rows.map(({ round }) => values(round));
    const kept = keepExtremes(walls, SPARK_POINTS);
    const planned = arm.rounds * this.store.repeatsOf(arm.index).length;
    const step = (W - 8) / Math.max(1, Math.max(planned, rows.length) - 1);
    const path = (was) =>
      kept
        .filter((i) => walls[i] !== null && held(i) === was)
        .map(
          (i) => `M${(4 + i * step).toFixed(1)} ${(H - 4 - (walls[i] / top) * (H - 8)).toFixed(1)}h0`,
        )
        .join("");
    attribute(find(".free", item), "d", path(false));
    attribute(find(".held", item), "d", path(true));
  }
}
