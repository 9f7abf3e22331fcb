// The tables whose rows are units: shares of CPU beside weights, and what programs saw.

import { all, attribute, find, write } from "./dom.js";
import { roomOf, shareOf, weightRead } from "./cpu-reports.js";
import { difference, factsOf, publishedFact, shown } from "./facts-rows.js";
import { count, cpus, number } from "./format.js";

class UnitTable {
  constructor(root, { store }) {
    Object.assign(this, { root, store, drawn: "" });
    this.rows = root
      ? all("tr[data-unit]", root).map((row) => {
          const arm = store.arms.find((each) => each.name === row.dataset.arm);
          return { row, arm, unit: arm.units.find((unit) => unit.name === row.dataset.unit) };
        })
      : [];
  }

  draw(chosen) {
    const { store } = this;
    if (!this.rows.length) return;
    const key = `${chosen} ${store.waits} ${store.repeats.map((repeat) => repeat.version).join(" ")}`;
    if (key === this.drawn) return;
    this.drawn = key;
    for (const each of this.rows) {
      attribute(each.row, "aria-current", String(each.arm.name === chosen));
      this.fill(each);
    }
  }

  put(row, role, text) {
    write(find(`[data-role=${role}]`, row), text);
  }

  none() {
    if (this.store.waits) return "loading";
    return ["queued", "running"].includes(this.store.run.status) ? "–" : "not measured";
  }
}

/** CPU that each unit got, beside its weight and the published share. One scale for all bars. */
export class SharesView extends UnitTable {
  constructor(root, options) {
    super(root, options);
    this.top = Math.max(1, ...this.rows.map(({ unit }) => roomOf(this.store, unit) ?? 1));
    if (!this.rows.length) return;
    write(find("[data-role=scale]", root), this.top === 1 ? "of one CPU" : `of ${count(this.top)} CPUs`);
  }

  fill({ row, arm, unit }) {
    const { mean, latest, reports } = shareOf(this.store, arm, unit);
    const none = this.none();
    this.put(row, "mean", mean === null ? (reports ? "needs 3 reports" : none) : cpus(mean));
    this.put(row, "latest", latest === null ? none : cpus(latest));
    const own = weightRead(this.store, arm, unit);
    this.put(row, "read", own ? `${own.name} ${count(own.value)}` : none);
    this.put(row, "asked", asked(unit, own));
    const { share = null, weight = null } = arm.published?.units?.[unit.name] ?? {};
    this.put(row, "published", share === null ? "–" : cpus(share));
    this.put(row, "published-weight", weight === null ? "–" : count(weight));
    this.#bar(row, unit, mean ?? latest, share);
  }

  #bar(row, unit, value, published) {
    const bar = find("svg", row);
    const along = (cpus) => Math.min(100, Math.max(0, ((cpus ?? 0) / this.top) * 100));
    const wide = along(value);
    attribute(find(".k-run", bar), "width", wide.toFixed(1));
    const mark = find(".k-published", bar);
    attribute(mark, "visibility", published === null ? "hidden" : "visible");
    for (const end of ["x1", "x2"]) attribute(mark, end, along(published).toFixed(1));
    attribute(bar, "aria-label", value === null ? "nothing measured yet" : shareWords(this.store, unit, value));
  }
}

/** A share of one CPU is one only where the unit had no other. */
export function shareWords(store, unit, value) {
  const room = roomOf(store, unit);
  if (room === 1) return `${number(value * 100)} % of one CPU`;
  return room === null ? cpus(value) : `${cpus(value)} of ${count(room)}`;
}

function asked({ shares_asked: shares, weight_asked: weight }, read) {
  if (shares === null) return "no request";
  return read?.name === "weight" ? `weight ${count(weight)}` : `shares ${count(shares)}`;
}

/** What the programs saw, beside what was published, the differences marked. */
export class FactsView extends UnitTable {
  fill({ row, arm, unit }) {
    const facts = factsOf(this.store, arm, unit);
    const theirs = publishedFact(arm, unit, "num_cpu") ?? this.store.publishedCpus;
    const ours = { ownCpus: facts?.num_cpu ?? null, publishedCpus: theirs };
    for (const name of ["gomaxprocs", "num_cpu", "env", "cpu_max", "weight"]) {
      this.put(row, name, facts ? shown(facts[name]) : this.none());
    }
    for (const name of ["gomaxprocs", "num_cpu", "cpu_max"]) {
      const published = publishedFact(arm, unit, name);
      this.#published(row, name, published);
      const word = name === "num_cpu" ? "" : difference(facts?.[name] ?? null, published, ours);
      const mark = find(`[data-role=${name}-differs]`, row);
      write(mark, word);
      mark?.classList.toggle("bad", word === "differs");
    }
    const weight = publishedFact(arm, unit, "cpu_weight") ?? publishedFact(arm, unit, "weight");
    this.#published(row, "weight", weight);
  }

  #published(row, name, published) {
    this.put(row, `${name}-published`, published === null ? "" : `published ${published}`);
  }
}
