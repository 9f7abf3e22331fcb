// What the kernel was asked for and what it had, and what else the machine did meanwhile.

import { find, make } from "./dom.js";
import { footprint } from "./disturbance.js";
import { count, NOT_MEASURED, number, time } from "./format.js";

const quota = (limits) => {
  if (!limits) return "not read";
  if (limits.quota_us === null || limits.quota_us === undefined) return "no limit";
  return `${number(limits.quota_us / 1000)} ms per ${number(limits.period_us / 1000)} ms`;
};

export class SetupView {
  constructor(root, { store }) {
    Object.assign(this, { root, store, drawn: "" });
  }

  draw(arm) {
    const repeats = this.store.repeatsOf(arm.index);
    const key = `${arm.index} ${repeats.map((repeat) => repeat.version).join(" ")}`;
    if (key === this.drawn) return;
    this.drawn = key;
    this.#readback(repeats.findLast((each) => each.readback));
    this.#footprints(repeats);
  }

  #readback(repeat) {
    const body = find("[data-role=readback]", this.root);
    const rows = (repeat?.readback ?? []).flatMap((entry) => this.#entry(entry));
    body.replaceChildren(
      ...(rows.length ? rows : [emptyRow(4, "Read back when the arm is prepared.")]),
    );
  }

  #entry({
    group,
    asked,
    found,
    effective_quota_us: effective,
    effective_period_us: period,
    effective_at: at,
    cpus,
    notes,
  }) {
    const row = (name, wanted, had, differs) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, `${group}: ${name}`),
        make("td", { className: "num" }, wanted),
        make("td", { className: "num" }, had),
        make("td", { className: differs ? "what bad" : "what" }, differs ? "differs" : "as asked"),
      );
    const rows = [row("quota", quota(asked), quota(found), quota(asked) !== quota(found))];
    if (asked.burst_us || found.burst_us) {
      rows.push(
        row("burst", time(asked.burst_us), time(found.burst_us), asked.burst_us !== found.burst_us),
      );
    }
    if (asked.shares !== null) {
      rows.push(row("shares", count(asked.shares), count(found.shares), asked.shares !== found.shares));
    }
    const tightest =
      effective === null || effective === undefined
        ? "no ancestor has a limit"
        : `${quota({ quota_us: effective, period_us: period })} at ${at ?? "this group"}`;
    rows.push(
      make(
        "tr",
        {},
        make("th", { scope: "row" }, `${group}: effective limit`),
        make("td", {}, ""),
        make(
          "td",
          { className: "num" },
          effective === null ? "no limit" : quota({ quota_us: effective, period_us: period }),
        ),
        make("td", { className: "what" }, `the tightest of the group and its ancestors: ${tightest}`),
      ),
    );
    rows.push(
      make(
        "tr",
        {},
        make("th", { scope: "row" }, `${group}: CPUs`),
        make("td", {}, ""),
        make("td", { className: "num" }, count(cpus)),
        make("td", { className: "what" }, "CPUs the group can use"),
      ),
    );
    for (const note of notes ?? []) rows.push(emptyRow(4, note));
    return rows;
  }

  // CPUs on average over the repeat, steal as a share of the machine.
  #footprints(repeats) {
    const body = find("[data-role=footprints]", this.root);
    const cell = (value, unit, scale = 1) =>
      make("td", { className: "num" }, value === null ? NOT_MEASURED : `${number(value * scale)}${unit}`);
    const rows = repeats.map((repeat) => {
      const seen = footprint(this.store, repeat);
      const head = make("th", { scope: "row" }, `repeat ${repeat.n}`);
      if (!seen) {
        const words = repeat.lab ? NOT_MEASURED : "taken when the repeat ends";
        return make("tr", {}, head, make("td", { colspan: 5, className: "what" }, words));
      }
      const values = [
        cell(seen.other, ` of ${seen.cpus} CPU`),
        cell(seen.used, " CPU"),
        cell(seen.lab, " CPU"),
        cell(seen.steal, " %", 100),
        cell(seen.load, ""),
      ];
      return make("tr", {}, head, ...values);
    });
    body.replaceChildren(...rows);
  }
}

const emptyRow = (columns, text) =>
  make("tr", {}, make("td", { colspan: columns, className: "what" }, text));
