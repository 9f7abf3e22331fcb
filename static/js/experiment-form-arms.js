// The table of arms: a row an arm, with the fields that the server's description names.

import { all, attribute, find, make } from "./dom.js";
import * as model from "./experiment-form-model.js";

const ACTS = [
  ["up", "↑", "Move up"],
  ["down", "↓", "Move down"],
  ["copy", "Duplicate", "Duplicate"],
  ["remove", "Remove", "Remove"],
];

export class ArmTable {
  /** `state()` holds the rows; `onChange()` after every change, `say(words, undo)` after an act. */
  constructor({ table, schema, state, nextId, onChange, say, onFile }) {
    Object.assign(this, { table, schema, state, nextId, onChange, say, onFile });
    this.headings = [
      "arm",
      ...schema.settings.map(({ name }) => name),
      "GOMAXPROCS",
      "work",
      "",
    ];
    const cells = this.headings.map((name) =>
      make("th", { scope: "col", className: "l" }, name || make("span", { className: "visually-hidden" }, "what to do")),
    );
    find("thead", table).replaceChildren(make("tr", {}, ...cells));
  }

  get rows() {
    return this.state().rows;
  }

  draw() {
    for (const old of all("tbody", this.table)) old.remove();
    this.table.append(...this.rows.map((row) => this.#body(row)));
    this.#number();
  }

  add(row, at = this.rows.length) {
    this.rows.splice(at, 0, row);
    const body = this.#body(row);
    this.table.insertBefore(body, all("tbody", this.table)[at] ?? null);
    this.#number();
    this.onChange();
    find("input, button", body).focus();
    return body;
  }

  #body(row) {
    const body = make("tbody", { id: row.id, tabIndex: -1 });
    body.dataset.row = row.id;
    const cells = row.long ? [this.#long(row)] : this.#cells(row);
    body.append(make("tr", {}, ...cells, this.#acts(row, body)));
    body.append(make("tr", { className: "own-row-errors", hidden: true }, make("td", { colSpan: this.headings.length }, make("p", { className: "errors", id: `${row.id}-errors` }))));
    return body;
  }

  #long(row) {
    const cell = make("td", { className: "l own-long", colSpan: this.headings.length - 1 });
    const edit = make("button", { type: "button", className: "btn small", id: `${row.id}-file` }, "Edit as a file");
    edit.addEventListener("click", () => this.onFile());
    cell.append(make("b", {}, model.nameOf(row) || "arm without a name"), ` ${model.longWords(row.arm)} `, edit);
    return cell;
  }

  #cells(row) {
    const name = this.#cell("arm", [
      this.#input(row, "name", { label: "name", value: row.name }, (value) => (row.name = value)),
      this.#input(row, "label", { label: "shown as", value: row.label, hint: "shown as" }, (value) => (row.label = value)),
    ]);
    name.className = "l own-name";
    const settings = this.schema.settings.map((field) =>
      this.#cell(field.name, [
        this.#field(row, field.name, field, row.settings[field.name], (value) => (row.settings[field.name] = value)),
      ]),
    );
    const processors = this.#cell("GOMAXPROCS", [
      this.#input(row, "gomaxprocs", { label: "GOMAXPROCS", value: row.gomaxprocs, hint: "its own" }, (value) => (row.gomaxprocs = value)),
    ]);
    const others = Object.entries(row.env).map(([key, value]) => `${key}=${value}`);
    if (others.length) processors.append(make("small", { className: "soft" }, `also ${others.join(", ")}`));
    return [name, ...settings, processors, this.#work(row)];
  }

  #cell(label, children) {
    const cell = make("td", { className: "l", "data-label": label }, ...children.flat());
    return cell;
  }

  #work(row) {
    const cell = make("td", { className: "l own-work", "data-label": "work" });
    const { fields } = this.schema.kinds.find((each) => each.kind === row.kind);
    const kind = { name: "kind", type: "choice", choices: this.schema.kinds.map((each) => each.kind), required: true };
    const select = this.#field(row, "kind", kind, row.kind, (value) => {
      model.changeKind(row, value, this.schema);
      cell.replaceWith(this.#work(row));
      this.#number();
      find(`#${row.id}-kind`).focus();
    });
    const parts = fields.map((field) => {
      const value = row.work[row.kind][field.name] ?? "";
      const inputs = this.#field(row, `work.${field.name}`, field, value, (now) => (row.work[row.kind][field.name] = now));
      const id = idOf(row, `work.${field.name}`);
      return make("span", { className: "own-part" }, make("label", { htmlFor: id, title: field.help }, field.name), ...inputs);
    });
    cell.append(make("div", { className: "own-parts" }, make("span", { className: "own-part kind" }, ...select), ...parts));
    return cell;
  }

  /** A field by its description: the control, and the place for what is wrong with it. */
  #field(row, key, field, value, take) {
    if (field.type === "choice") return this.#select(row, key, field, value, take);
    if (field.type === "yes") return this.#tick(row, key, field, value, take);
    return this.#input(row, key, { label: field.name, value, hint: field.default ?? "", title: field.help, digits: field.type === "number" }, take);
  }

  #input(row, key, { label, value, hint = "", title = "", digits = false }, take) {
    const input = make("input", { className: "input", id: idOf(row, key), value: value ?? "", placeholder: hint, title, autocomplete: "off", spellcheck: false });
    if (digits) input.inputMode = "numeric";
    return this.#wired(input, label, take, "input", () => input.value.trim());
  }

  #select(row, key, field, value, take) {
    const select = make("select", { className: "input", id: idOf(row, key), title: field.help ?? "" });
    const chosen = value || field.default;
    const choices = field.choices.includes(chosen) ? field.choices : [chosen, ...field.choices];
    select.append(...choices.map((choice) => make("option", { value: choice, selected: choice === chosen }, choice)));
    return this.#wired(select, field.name, take, "change", () => select.value);
  }

  #tick(row, key, field, value, take) {
    const box = make("input", { type: "checkbox", id: idOf(row, key), checked: String(value) === "true", title: field.help });
    return this.#wired(box, field.name, take, "change", () => String(box.checked));
  }

  #wired(control, label, take, event, read) {
    control.dataset.says = label;
    attribute(control, "aria-describedby", `${control.id}-errors`);
    control.addEventListener(event, () => {
      take(read());
      this.onChange();
    });
    return [control, make("p", { className: "errors", id: `${control.id}-errors`, hidden: true })];
  }

  #acts(row, body) {
    const buttons = ACTS.map(([act, sign, words]) => {
      const button = make("button", { type: "button", className: "btn small plain", title: words }, sign);
      button.dataset.act = act;
      button.addEventListener("click", () => this.#act(act, row, body));
      return button;
    });
    return make("td", { className: "own-acts" }, make("div", { className: "btns" }, ...buttons));
  }

  #act(act, row, body) {
    const at = this.rows.indexOf(row);
    if (act === "copy") {
      const copy = model.duplicate(row, this.rows, this.nextId());
      this.add(copy, at + 1);
      return this.say(`${model.nameOf(row)} is copied as ${model.nameOf(copy)}.`);
    }
    if (act === "remove") return this.#remove(row, body, at);
    const to = act === "up" ? at - 1 : at + 1;
    if (to < 0 || to >= this.rows.length) return undefined;
    this.rows.splice(at, 1);
    this.rows.splice(to, 0, row);
    const others = all("tbody", this.table).filter((each) => each !== body);
    this.table.insertBefore(body, others[to] ?? null);
    this.#number();
    this.onChange();
    find(`[data-act=${act}]`, body).focus();
    return this.say(`${model.nameOf(row)} is arm ${to + 1} of ${this.rows.length}.`);
  }

  #remove(row, body, at) {
    this.rows.splice(at, 1);
    body.remove();
    this.#number();
    this.onChange();
    const next = all("tbody", this.table)[Math.min(at, this.rows.length - 1)];
    (next ? find("[data-act=remove]", next) : find("[data-role=add]")).focus();
    this.say(`${model.nameOf(row) || "The arm"} is removed.`, () => this.add(row, Math.min(at, this.rows.length)));
  }

  /** Everything says which arm it belongs to. */
  #number() {
    const bodies = all("tbody", this.table);
    bodies.forEach((body, at) => {
      for (const control of all("[data-says]", body)) {
        attribute(control, "aria-label", `${control.dataset.says} of arm ${at + 1}`);
      }
      for (const button of all("[data-act]", body)) {
        attribute(button, "aria-label", `${button.title} arm ${at + 1}`);
        const end = { up: 0, down: bodies.length - 1 }[button.dataset.act] === at;
        attribute(button, "aria-disabled", end ? "true" : null);
      }
    });
  }
}

export const idOf = (row, key) => `${row.id}-${key.replace(".", "-")}`;
