// The control groups of the chosen arm: every level with its limit and weight, and which binds.

import { find, make, write } from "./dom.js";
import { count, cpus, number, time } from "./format.js";
import { treeNodes } from "./tree-model.js";

const DEEPEST = 9; // levels that are still moved to the right

export class TreeView {
  constructor(root, { store }) {
    Object.assign(this, { root, store, drawn: "" });
    this.body = find("tbody", root);
  }

  draw(arm) {
    const repeats = this.store.repeatsOf(arm.index);
    const key = `${arm.index} ${repeats.map((repeat) => repeat.version).join(" ")}`;
    if (key === this.drawn) return;
    this.drawn = key;
    write(find("[data-role=arm]", this.root), arm.label);
    const has = (repeat) => [...repeat.groups.values()].some((group) => group.tree?.length);
    const repeat = repeats.findLast(has);
    const nodes = repeat ? treeNodes([...repeat.groups.values()]) : [];
    const rows = nodes.map((node) => row(node, nodes));
    this.body.replaceChildren(...(rows.length ? rows : [this.#none()]));
    write(find("[data-role=tree-words]", this.root), nodes.length ? words(nodes) : "\u00a0");
  }

  #none() {
    const over = !["queued", "running"].includes(this.store.run.status);
    const text = this.store.waits
      ? "Loading."
      : over
        ? "The control groups of this arm were not read."
        : "Read when the arm is prepared.";
    return make("tr", {}, make("td", { colspan: 4, className: "what" }, text));
  }
}

function row(node, nodes) {
  const { name, path, depth, units, binds, own } = node;
  const head = make("th", { scope: "row", className: `branch d${Math.min(depth, DEEPEST)}`, title: path });
  head.append(make("span", { className: "mono" }, name));
  if (units.length) head.append(" ", make("b", { className: "unit" }, units.join(", ")));
  const level = make("span", { className: "visually-hidden" }, ` level ${depth + 1}`);
  head.append(level);
  return make(
    "tr",
    { className: binds ? "binds" : units.length || own !== null ? "" : "plain" },
    head,
    cell("limit", limitWords(node)),
    cell("weight", weightWords(node)),
    cell("holds here", effectiveWords(node, nodes)),
  );
}

const cell = (label, text) => make("td", { className: "num", "data-label": label }, text);

function limitWords({ own, quota_us: quota, period_us: period, burst_us: burst, binds }) {
  if (own === null) return period === null || period === undefined ? "has none" : "no limit";
  const words = `${number(quota / 1000)} ms per ${number(period / 1000)} ms`;
  return `${binds ? "▸ binds: " : ""}${words}${burst ? `, burst ${time(burst)}` : ""}`;
}

function weightWords({ weight, shares }) {
  if (weight !== null && weight !== undefined) return `weight ${count(weight)}`;
  return shares !== null && shares !== undefined ? `shares ${count(shares)}` : "–";
}

function effectiveWords({ effective, effectiveAt, path }, nodes) {
  if (effective === null) return "no limit";
  if (effectiveAt === path) return cpus(effective);
  const holder = nodes.find((node) => node.path === effectiveAt);
  return `${cpus(effective)}, from ${holder?.name ?? effectiveAt}`;
}

function words(nodes) {
  const binding = nodes.filter((node) => node.binds);
  const leaves = nodes.filter((node) => node.units.length);
  if (!binding.length) return "No level has a limit: nothing here can be throttled.";
  const parts = binding.map((node) => {
    const held = leaves.filter((leaf) => leaf.effectiveAt === node.path).flatMap((leaf) => leaf.units);
    return `${node.name} holds ${held.join(", ")} to ${cpus(node.effective)}`;
  });
  return `${parts.join("; ")}. A group can use no more than the tightest limit on the way up from it.`;
}
