// The page of an own experiment: the form and the file are two looks at the same draft, the
// server turns one into the other and says what is wrong and what a run would do.

import { all, attribute, embedded, find, make, write } from "./dom.js";
import { ArmTable } from "./experiment-form-arms.js";
import { Checker } from "./experiment-form-check.js";
import { Complaints } from "./experiment-form-errors.js";
import * as model from "./experiment-form-model.js";

const LARGEST_FILE = 1_000_000;
const data = embedded("own-data");
const { schema } = data;
const form = find("#own-form");
const text = find("#own-toml");
const role = (name) => find(`[data-role=${name}]`, form);

let ids = 0;
const nextId = () => `arm-${(ids += 1)}`;
let state = model.fromSpec(data.spec ?? data.blank, schema, nextId);
let tab = data.tab;
let changed = false;
let undo = null;

const table = new ArmTable({
  table: find("#own-arms"),
  schema,
  state: () => state,
  nextId,
  onChange: touched,
  say,
  onFile: () => show("file").then(() => text.focus()),
});
const complaints = new Complaints({ form, state: () => state, tab: () => tab, onFile: () => show("file") });
const checker = new Checker({
  url: form.dataset.check,
  token: form.elements.csrfmiddlewaretoken.value,
  ask: draft,
  onBusy: (busy) => attribute(role("preview"), "aria-busy", busy ? "true" : null),
  onAnswer: answered,
  onTrouble: (words) => complaints.trouble(words),
});

function draft() {
  const { editing } = data;
  const target = role("target").value;
  return tab === "file" ? { toml: text.value, editing, target } : { spec: model.toSpec(state, schema), editing, target };
}

function touched() {
  changed = true;
  if (undo) say("");
  checker.soon();
}

function answered(answer) {
  complaints.show(answer.errors);
  const preview = role("preview");
  if (answer.preview === null) {
    preview.replaceChildren(make("p", { className: "soft" }, "It is shown again when what is marked is mended."));
  } else preview.innerHTML = answer.preview;
}

function say(words, undoing = null) {
  undo = undoing;
  write(role("done"), words);
  role("undo").hidden = undoing === null;
}

/** Turn to the other look; the server writes the draft as the other one has it. */
async function show(wanted) {
  if (wanted === tab) return;
  const answer = await checker.now();
  if (answer === null) return;
  if (wanted === "file") {
    if (answer.toml === null) return complaints.trouble("This cannot be written as a file: mend what is marked first.");
    text.value = answer.toml;
  } else {
    if (!answer.spec || !Array.isArray(answer.spec.arms ?? [])) {
      return complaints.trouble("The file cannot be read as a form yet: mend it first.");
    }
    state = model.fromSpec(answer.spec, schema, nextId);
    fill();
  }
  turn(wanted);
  complaints.show(answer.errors);
}

function turn(wanted) {
  tab = wanted;
  for (const pane of all("[data-pane]", form)) pane.hidden = pane.dataset.pane !== wanted;
  for (const button of all("[data-tab]", form)) attribute(button, "aria-pressed", String(button.dataset.tab === wanted));
}

function fill() {
  for (const input of all("[data-top]", form)) input.value = state.top[input.dataset.top];
  for (const box of all("input", role("targets"))) box.checked = state.targets.includes(box.value);
  const kept = Object.keys(state.rest);
  role("kept").hidden = kept.length === 0;
  write(role("kept"), `Also kept, to be changed in the file: ${kept.join(", ")}.`);
  table.draw();
}

function build() {
  const boxes = schema.targets.map((kind) => {
    const box = make("input", { type: "checkbox", value: kind });
    box.addEventListener("change", () => {
      state.targets = all("input:checked", role("targets")).map((each) => each.value);
      touched();
    });
    return make("label", { className: "check" }, box, make("span", {}, kind));
  });
  role("targets").append(...boxes);
  write(role("repeats-help"), `${schema.repeats.help}; ${schema.repeats.default} unless given`);
  find("#own-repeats").placeholder = schema.repeats.default;
  const helps = [...schema.settings, schema.gomaxprocs, ...schema.kinds.map(({ kind, says }) => ({ name: `work: ${kind}`, help: says }))];
  role("helps").append(...helps.flatMap(({ name, help }) => [make("dt", {}, name), make("dd", {}, help)]));
}

async function readFile(input) {
  const [file] = input.files;
  if (!file) return;
  if (file.size > LARGEST_FILE) complaints.trouble(`${file.name} is too large: a spec has at most a million characters.`);
  else {
    text.value = await file.text();
    touched();
  }
  input.value = "";
}

function send(event) {
  complaints.all();
  if (checker.fresh && complaints.any) {
    event.preventDefault();
    complaints.focus();
    return;
  }
  form.elements.how.value = tab;
  if (tab === "form") form.elements.spec.value = JSON.stringify(model.toSpec(state, schema));
  changed = false;
}

form.addEventListener("submit", send);
for (const input of all("[data-top]", form)) {
  input.addEventListener("input", () => {
    state.top[input.dataset.top] = input.dataset.top === "question" ? input.value : input.value.trim();
    touched();
  });
  input.addEventListener("focusout", () => complaints.left(input));
}
text.addEventListener("input", touched);
role("target").addEventListener("change", () => checker.now());
role("add").addEventListener("click", () => {
  const arm = structuredClone(data.blank.arms[0]);
  const used = state.rows.map(model.nameOf);
  if (used.includes(arm.name)) arm.name = model.freeName("limit", used);
  table.add(model.toRow(arm, schema, nextId()));
});
role("undo").addEventListener("click", () => {
  const call = undo;
  say("");
  call?.();
});
for (const button of all("[data-tab]", form)) button.addEventListener("click", () => show(button.dataset.tab));
find("#own-upload").addEventListener("change", (event) => readFile(event.target));
addEventListener("beforeunload", (event) => {
  if (changed) event.preventDefault();
});

build();
fill();
role("tabs").hidden = false;
turn(tab);
if (data.fresh) complaints.quiet(find("#own-name"));
checker.now();
