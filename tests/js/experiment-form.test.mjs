// The form of an own experiment: rows and the spec's values, checks whose order turns round.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Checker } from "../../static/js/experiment-form-check.js";
import * as model from "../../static/js/experiment-form-model.js";

const field = (name, more = {}) => ({ name, type: "text", required: false, default: null, ...more });
const SCHEMA = {
  settings: ["build", "limit", "request", "period", "burst"].map((name) => field(name)),
  kinds: [
    { kind: "burst", fields: [field("threads"), field("work"), field("interval"), field("rounds")], start: { threads: "8", work: "20ms", interval: "1s", rounds: "20" } },
    { kind: "tasks", fields: [field("work"), field("count"), field("gap")], start: { work: "30ms", count: "100" } },
    { kind: "info", fields: [field("hold", { type: "yes" })], start: {} },
  ],
  targets: ["local", "docker"],
};
const BURST = { kind: "burst", threads: 8, work: "20ms", interval: "1s", rounds: 20 };
let at = 0;
const nextId = () => `arm-${(at += 1)}`;
const round = (spec) => model.toSpec(model.fromSpec(spec, SCHEMA, nextId), SCHEMA);
const asText = (value) => JSON.parse(JSON.stringify(value), (_, v) => (typeof v === "number" ? String(v) : v));

test("a spec goes through the form and comes back, its numbers as digits", () => {
  const spec = {
    name: "mine",
    title: "Mine",
    repeats: 2,
    needs: { cpus: "2" },
    targets: ["local"],
    arms: [
      { name: "one", label: "the first", limit: "1", env: { GOMAXPROCS: "4", GOGC: "off" }, workload: BURST },
      { name: "two", limit: 2, workload: { kind: "tasks", work: "5ms", count: 10, gap: "1ms" } },
      { name: "three", workload: { kind: "info", hold: true } },
    ],
  };
  const back = round(spec);
  assert.equal(back.arms[2].workload.hold, true);
  assert.deepEqual(asText(back), asText(spec));
});

test("what the table cannot show stays as it was written", () => {
  const long = [
    { name: "served", groups: [{ name: "server" }, { name: "load" }], steps: [{ measure: "load" }] },
    { name: "odd", limit: { of: 1 }, workload: BURST },
    { name: "no-work" },
    { name: "serve", workload: { kind: "serve" } },
    { name: "typo", limti: "1", workload: BURST },
    { name: "strange", env: [1], workload: BURST },
    { name: "deep", workload: { ...BURST, threads: [1] } },
    null,
  ];
  const state = model.fromSpec({ name: "mine", arms: long }, SCHEMA, nextId);
  assert.ok(state.rows.every((row) => row.long));
  assert.deepEqual(model.toSpec(state, SCHEMA).arms, long);
  assert.match(model.longWords(long[0]), /several groups \(server, load\)/);
});

test("empty fields are left out, so that the defaults hold; all targets are the default", () => {
  const state = model.fromSpec({ name: "", arms: [{ name: "a", limit: "1", workload: BURST }] }, SCHEMA, nextId);
  const [row] = state.rows;
  row.settings.limit = "";
  row.work.burst.rounds = "";
  assert.deepEqual(model.toSpec(state, SCHEMA), {
    name: "",
    arms: [{ name: "a", workload: { kind: "burst", threads: "8", work: "20ms", interval: "1s" } }],
  });
  state.targets = [];
  assert.deepEqual(model.toSpec(state, SCHEMA).targets, []);
});

test("another kind keeps what has the same name, and remembers the kind before", () => {
  const row = model.toRow({ name: "a", workload: { ...BURST, work: "7ms" } }, SCHEMA, "arm");
  model.changeKind(row, "tasks", SCHEMA);
  assert.deepEqual(model.toArm(row, SCHEMA).workload, { kind: "tasks", work: "7ms", count: "100" });
  model.changeKind(row, "burst", SCHEMA);
  assert.equal(model.toArm(row, SCHEMA).workload.rounds, "20");
});

test("a copy has a name of its own and no label that is no longer true", () => {
  const rows = ["a", "a-2"].map((name) => model.toRow({ name, label: "500m", workload: BURST }, SCHEMA, nextId()));
  const copy = model.duplicate(rows[0], rows, "arm-9");
  assert.deepEqual([copy.id, copy.name, copy.label], ["arm-9", "a-3", ""]);
  copy.work.burst.threads = "1";
  assert.equal(rows[0].work.burst.threads, "8");
  const long = { id: "x", long: true, arm: { name: "b", label: "B", groups: [] } };
  assert.deepEqual(model.duplicate(long, [long], "y").arm, { name: "b-2", groups: [] });
});

test("a path from the server leads to the field", () => {
  const simple = model.toRow({ name: "a", workload: BURST }, SCHEMA, "arm");
  const long = { id: "x", long: true, arm: {} };
  const rows = [simple, long];
  const cases = [
    [["name"], { top: "name" }],
    [[], null],
    [["arms"], { top: "arms" }],
    [["arms", 0, "limit"], { row: simple, field: "limit" }],
    [["arms", 0, "env"], { row: simple, field: "gomaxprocs" }],
    [["arms", 0, "workload", "rounds"], { row: simple, field: "work.rounds" }],
    [["arms", 0, "workload"], { row: simple, field: "kind" }],
    [["arms", 0], { row: simple }],
    [["arms", 1, "groups", 0, "containers", 0, "limit"], { row: long }],
    [["arms", 7, "limit"], { top: "arms" }],
  ];
  for (const [path, wanted] of cases) assert.deepEqual(model.fieldAt(path, rows), wanted);
});

function checker(post) {
  const seen = { answers: [], trouble: [], busy: [] };
  const made = new Checker({
    url: "/check/",
    token: "t",
    ask: () => ({}),
    onBusy: (busy) => seen.busy.push(busy),
    onAnswer: (answer) => seen.answers.push(answer),
    onTrouble: (words) => seen.trouble.push(words),
    post,
  });
  return [made, seen];
}
const reply = (body, status = 200) => ({ status, type: "basic", json: async () => body });

test("an answer that comes late is dropped", async () => {
  const waiting = [];
  const [made, seen] = checker(() => new Promise((resolve) => waiting.push(resolve)));
  const first = made.now();
  const second = made.now();
  waiting[1](reply({ errors: [], which: 2 }));
  assert.equal((await second).which, 2);
  waiting[0](reply({ errors: [], which: 1 }));
  assert.equal(await first, null);
  assert.deepEqual(seen.answers.map((answer) => answer.which), [2]);
  assert.equal(made.fresh, true);
});

test("changes in quick succession are asked about once", async () => {
  let asked = 0;
  const answered = new Promise((resolve) => {
    const [made] = checker(async () => {
      asked += 1;
      resolve();
      return reply({ errors: [] });
    });
    for (let i = 0; i < 5; i += 1) made.soon();
    assert.equal(made.fresh, false);
  });
  await answered;
  assert.equal(asked, 1);
});

test("a lab that does not answer, a session that is over and a refusal are told", async () => {
  const answers = [
    () => Promise.reject(new TypeError("failed")),
    async () => ({ type: "opaqueredirect", status: 0 }),
    async () => reply({ error: "That is too long." }, 400),
    async () => ({ type: "basic", status: 502, json: () => Promise.reject(new SyntaxError()) }),
  ];
  for (const post of answers) {
    const [made, seen] = checker(post);
    assert.equal(await made.now(), null);
    assert.equal(seen.trouble.length, 1);
    assert.ok(seen.trouble[0].length > 10);
    assert.deepEqual(seen.busy, [true, false]);
  }
});
