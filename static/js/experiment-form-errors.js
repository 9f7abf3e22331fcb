// What is wrong with a draft: each message at its field, and all of them beside the plan.

import { all, attribute, find, make } from "./dom.js";
import { fieldAt, nameOf } from "./experiment-form-model.js";
import { idOf } from "./experiment-form-arms.js";

export class Complaints {
  constructor({ form, state, tab, onFile }) {
    Object.assign(this, { form, state, tab, onFile });
    this.errors = [];
    this.silent = new Set(); // fields that nobody has had a chance to fill yet
    for (const input of all("[data-top]", form)) this.#place(input, input.closest(".field"));
    this.#place(find("#own-targets"), find("#own-targets"));
    this.#place(find("#own-toml"), find("#own-toml").closest(".field"));
  }

  get any() {
    return this.errors.length > 0;
  }

  /** Say nothing at this field until it was left once. */
  quiet(input) {
    this.silent.add(input.id);
  }

  left(input) {
    if (this.silent.delete(input.id)) this.show(this.errors);
  }

  /** From now on every field says what is wrong with it. */
  all() {
    this.silent.clear();
    this.show(this.errors);
  }

  focus() {
    const first = this.errors.map((error) => this.#control(error)).find(Boolean);
    first?.focus();
  }

  trouble(words) {
    this.#state(make("p", { className: "errors" }, words));
  }

  show(errors) {
    this.errors = errors;
    const said = new Map();
    for (const error of errors) {
      const control = this.#control(error);
      if (!control || this.silent.has(control.id)) continue;
      said.set(control.id, [...(said.get(control.id) ?? []), `${error.message} ${error.remedy}`.trim()]);
    }
    for (const place of all("p.errors[id$=-errors]", this.form)) {
      const owner = place.id.replace(/-errors$/, "");
      const words = said.get(owner) ?? [];
      place.textContent = words.join(" ");
      place.hidden = words.length === 0;
      const row = place.closest(".own-row-errors");
      if (row) row.hidden = words.length === 0;
      const control = document.getElementById(owner);
      if (control?.matches("input, select, textarea")) attribute(control, "aria-invalid", words.length ? "true" : null);
    }
    this.#summary();
  }

  #summary() {
    if (!this.errors.length) return this.#state(make("p", { className: "own-sound" }, "Nothing is wrong with it."));
    const lines = this.errors.map((error) => {
      const control = this.#control(error);
      const where = this.#where(error);
      const words = `${where ? `${where}: ` : ""}${error.message}`;
      if (!control) return make("li", {}, `${words} ${error.remedy}`);
      const link = make("a", { href: `#${control.id}` }, words);
      link.addEventListener("click", (event) => {
        event.preventDefault();
        control.focus();
      });
      return make("li", {}, link);
    });
    const count = this.errors.length;
    return this.#state(make("p", {}, make("b", {}, `${count} ${count === 1 ? "thing" : "things"} to mend`)), make("ul", {}, ...lines));
  }

  #where(error) {
    const at = this.tab() === "form" && fieldAt(error.path, this.state().rows);
    if (!at?.row) return error.field;
    const number = this.state().rows.indexOf(at.row) + 1;
    // A message that begins with the field's name needs it no second time.
    const names = error.path.slice(2).filter((step) => !["workload", "env"].includes(step));
    const field = names.filter((name) => !error.message.startsWith(`${name} = `)).join(".");
    return `arm ${number} ${nameOf(at.row)}${field ? `, ${field}` : ""}`;
  }

  /** The control that an error is about: of the form, or the text of the file. */
  #control(error) {
    if (this.tab() === "file") return find("#own-toml");
    const at = fieldAt(error.path, this.state().rows);
    if (at === null) return null;
    if (at.row) {
      const own = at.field && document.getElementById(idOf(at.row, at.field));
      return own || document.getElementById(at.row.id); // its messages stand below the arm
    }
    if (at.top === "targets") return find("#own-targets");
    return find(`[data-top="${CSS.escape(String(at.top))}"]`, this.form);
  }

  #place(control, box) {
    const id = `${control.id}-errors`;
    box.append(make("p", { className: "errors", id, hidden: true }));
    const before = control.getAttribute("aria-describedby");
    attribute(control, "aria-describedby", before ? `${before} ${id}` : id);
    if (control.matches("fieldset")) control.tabIndex = -1;
  }

  #state(...children) {
    const place = find("[data-role=state]", this.form);
    const next = make("div", {}, ...children);
    if (place.innerHTML !== next.innerHTML) place.replaceChildren(...next.childNodes);
  }
}
