// The requests of the chosen arm: their latencies over all rounds, what failed, who answered, and
// what the load says against its own figures.

import { all, find, make, write } from "./dom.js";
import { count, NOT_MEASURED, number, time } from "./format.js";
import { repeatWords } from "./over-repeats.js";
import { hasLatencies, resultOf } from "./units.js";
import { failures } from "./view-summary.js";

const COLUMNS = ["p50", "p90", "p99", "p999", "max"];
const NEEDS = { p90: 10, p99: 100, p999: 1000 };

export class RequestsView {
  constructor(root, { store }) {
    Object.assign(this, { root, store });
  }

  /** `f` are the arm's figures over all repeats, `medians` those of a repeat: {figures, repeats}. */
  draw(arm, f, medians) {
    const { root } = this;
    root.hidden = !hasLatencies(arm);
    if (root.hidden) return;
    write(find("[data-role=arm]", root), arm.label);
    const { figures: each, repeats } = medians;
    const over = repeatWords([repeats]);
    write(find("[data-role=over]", root), over ? `; ${over}` : "");
    const result = resultOf(arm);
    for (const row of all("tr[data-measure]", root)) {
      const name = row.dataset.measure === "result" ? result : row.dataset.measure;
      row.hidden = result === "request_us" && name !== result;
      if (!row.hidden) {
        this.#row(row, each.measures[name] ?? null, arm.published?.measures?.[name], { name, repeats });
      }
    }
    const load = result === "work_us";
    for (const part of all("[data-for=load]", root)) part.hidden = !load;
    write(find("[data-role=rate]", root), this.#rate(f, result));
    if (load) this.#servers(f);
    this.#warnings(arm, load);
  }

  #none() {
    if (this.store.waits) return "loading";
    return ["queued", "running"].includes(this.store.run.status) ? "–" : NOT_MEASURED;
  }

  #row(row, m, published, { name, repeats }) {
    const put = (role, text) => write(find(`[data-role=${role}]`, row), text);
    put("n", m ? count(m.n) : this.#none());
    for (const column of COLUMNS) {
      const needs = NEEDS[column] ?? 1;
      // Of several repeats one may have had too few, whatever their median is.
      const lacks = m && m[column] === null;
      const few = lacks ? (m.n ? `needs ${count(needs)}` : "none answered") : null;
      put(column, m ? (few ?? time(m[column])) : this.#none());
      const values = published?.[`${column}_us`]?.filter((us) => us !== null) ?? [];
      put(`${column}-published`, values.map((us) => number(us / 1000)).join(" · "));
    }
    const cell = find("[data-role=failed]", row);
    const failed = m ? failures(m.errors, repeats) : "";
    cell.classList.toggle("bad", failed !== "");
    write(cell, name === "lag_us" ? "–" : !m ? this.#none() : failed ? `failed: ${failed}` : "none failed");
  }

  // Of all repeats together, and said so.
  #rate(f, result) {
    const m = f.measures[result];
    if (!m || !f.took_us) return "Nothing measured yet.";
    const rate = (n, us) => `${number(n / (us / 1e6))} a second`;
    const parts = [`${rate(m.n, f.took_us)} answered`];
    if (result === "work_us") parts.push(`${rate(m.n + m.failed, f.sent_us)} sent${this.#sent(f.facts)}`);
    const { in_flight_max: flying } = f.facts;
    if (flying !== undefined) parts.push(`at most ${count(flying)} under way at once`);
    const over = f.repeats > 1 ? `${f.repeats} repeats of together ` : "";
    return `${parts.join("; ")}; over ${over}${time(f.took_us)}.${this.#collections(f, result)}`;
  }

  #sent({ work_sent_count: work, sent_count: sent, overrun_us: late }) {
    const whole =
      work !== undefined ? ` (${count(work)} requests)` : sent !== undefined ? ` (${count(sent)}, pings included)` : "";
    return late ? `${whole}, the last ${time(late)} after the planned end` : whole;
  }

  // Garbage collections of the rounds that count: a server's begin after the warm-up.
  #collections({ counted_facts: facts, repeats }, result) {
    if (facts.gc_count === undefined) return "";
    const heap = facts.heap_bytes_max;
    const live = heap === undefined ? "" : `, heap at most ${number(heap / 2 ** 20)} MiB`;
    const whose = result === "work_us" ? "Server, while the load counts" : "Garbage collector";
    const added = repeats > 1 ? ` in ${repeats} repeats together` : "";
    return ` ${whose}: ${count(facts.gc_count)} ${facts.gc_count === 1 ? "collection" : "collections"}${added}${live}.`;
  }

  #servers(f) {
    const names = Object.keys(f.servers).sort();
    const all = names.reduce((sum, name) => sum + f.servers[name].responses, 0);
    const rows = names.map((name) => {
      const { responses, connections } = f.servers[name];
      const share = all ? `${number((responses / all) * 100)} %` : "–";
      return make(
        "tr",
        {},
        make("th", { scope: "row" }, name),
        ...[count(responses), share, count(connections)].map((text) => make("td", { className: "num" }, text)),
      );
    });
    const none = make("tr", {}, make("td", { colspan: 4, className: "what" }, "nobody has answered yet"));
    find("[data-role=servers]", this.root).replaceChildren(...(rows.length ? rows : [none]));
  }

  #warnings(arm, load) {
    const box = find("[data-role=warnings]", this.root);
    const repeats = this.store.repeatsOf(arm.index);
    const texts = repeats.flatMap((repeat) =>
      repeat.warnings.map((text) => (repeats.length > 1 ? `Repeat ${repeat.n}: ${text}` : text)),
    );
    box.classList.toggle("warn", texts.length > 0);
    const fine = load ? "The load has no warning about its own figures." : "No warning about these figures.";
    write(find("p", box), texts.length ? `Warning: ${texts.join(" ")}` : fine);
  }
}
