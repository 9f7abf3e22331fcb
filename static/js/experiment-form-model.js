// An experiment as the form holds it: rows of text fields, to and from the spec's plain values.
// No page in here. What fields there are comes from the server's description (`schema`).

const TOP = ["name", "title", "question", "repeats", "targets", "arms"];
const WORDS = ["string", "number"];
const text = (value) => (value === undefined ? "" : String(value));

/** The form's state of a spec; what the form has no field for is kept as it is in `rest`. */
export function fromSpec(spec, schema, nextId) {
  const rest = Object.fromEntries(Object.entries(spec).filter(([key]) => !TOP.includes(key)));
  const arms = Array.isArray(spec.arms) ? spec.arms : [];
  return {
    rest,
    top: {
      name: text(spec.name),
      title: text(spec.title),
      question: text(spec.question),
      repeats: text(spec.repeats),
    },
    targets: Array.isArray(spec.targets) ? [...spec.targets] : [...schema.targets],
    rows: arms.map((arm) => toRow(arm, schema, nextId())),
  };
}

/** The spec's plain values: fields left empty are left out, so that the defaults hold. */
export function toSpec(state, schema) {
  const { name, ...others } = state.top;
  const everywhere = schema.targets.every((kind) => state.targets.includes(kind));
  return {
    name,
    ...filled(others),
    ...state.rest,
    ...(everywhere ? {} : { targets: schema.targets.filter((kind) => state.targets.includes(kind)) }),
    arms: state.rows.map((row) => toArm(row, schema)),
  };
}

/** A row of fields where an arm is one group alone; otherwise it stays as it was written. */
export function toRow(arm, schema, id) {
  const work = schema.kinds.find((each) => each.kind === arm?.workload?.kind);
  if (!work || !fits(arm, schema, work)) return { id, long: true, arm };
  const { kind, ...fields } = arm.workload;
  const { GOMAXPROCS, ...env } = arm.env ?? {};
  return {
    id,
    long: false,
    name: text(arm.name),
    label: text(arm.label),
    settings: Object.fromEntries(schema.settings.map(({ name }) => [name, text(arm[name])])),
    gomaxprocs: text(GOMAXPROCS),
    env,
    kind,
    work: { [kind]: Object.fromEntries(Object.entries(fields).map(([k, v]) => [k, text(v)])) },
  };
}

export function toArm(row, schema) {
  if (row.long) return row.arm;
  const { fields } = schema.kinds.find((each) => each.kind === row.kind);
  const work = Object.fromEntries(
    fields.map(({ name, type }) => {
      const value = row.work[row.kind]?.[name] ?? "";
      return [name, type === "yes" && value !== "" ? value === "true" : value];
    }),
  );
  const env = { ...filled({ GOMAXPROCS: row.gomaxprocs }), ...row.env };
  return {
    name: row.name,
    ...filled({ label: row.label }),
    ...filled(row.settings),
    ...(Object.keys(env).length ? { env } : {}),
    workload: { kind: row.kind, ...filled(work) },
  };
}

/** Another kind of work: fields of the same name keep their value, the rest begins sound. */
export function changeKind(row, kind, schema) {
  const before = row.work[row.kind] ?? {};
  const { fields, start } = schema.kinds.find((each) => each.kind === kind);
  if (!row.work[kind]) {
    const names = fields.map(({ name }) => name);
    const carried = Object.entries(before).filter(([name, value]) => names.includes(name) && value);
    row.work[kind] = { ...start, ...Object.fromEntries(carried) };
  }
  row.kind = kind;
}

/** A copy with a name of its own; its label would say what is no longer true of it. */
export function duplicate(row, rows, id) {
  const copy = structuredClone(row);
  const used = rows.map(nameOf);
  copy.id = id;
  const name = freeName(nameOf(row) || "arm", used);
  if (copy.long) {
    copy.arm = { ...copy.arm, name };
    delete copy.arm.label;
  } else {
    copy.name = name;
    copy.label = "";
  }
  return copy;
}

export const nameOf = (row) => text(row.long ? row.arm?.name : row.name);

/** The first of name-2, name-3, ... that is not used. */
export function freeName(name, used) {
  const stem = name.slice(0, 55);
  let number = 2;
  while (used.includes(`${stem}-${number}`)) number += 1;
  return `${stem}-${number}`;
}

/** What a long arm is, in a line. */
export function longWords(arm) {
  const groups = Array.isArray(arm?.groups) ? arm.groups : [];
  const names = groups.map((group) => text(group?.name)).filter(Boolean);
  return names.length > 1
    ? `several groups (${names.join(", ")})`
    : "more than the table can show";
}

/** The field of the form that a path from the server is about; null for none of them. */
export function fieldAt(path, rows) {
  const [top, index, key, inner] = path;
  if (top !== "arms" || typeof index !== "number") return top ? { top } : null;
  const row = rows[index];
  if (!row) return { top: "arms" };
  if (row.long || key === undefined) return { row };
  if (key === "env") return { row, field: "gomaxprocs" };
  if (key === "workload") return { row, field: inner === undefined ? "kind" : `work.${inner}` };
  return { row, field: key };
}

function fits(arm, schema, work) {
  const known = ["name", "label", "env", "workload", ...schema.settings.map(({ name }) => name)];
  const words = (value) => WORDS.includes(typeof value);
  const names = ["kind", ...work.fields.map(({ name }) => name)];
  return (
    Object.entries(arm).every(
      ([key, value]) => known.includes(key) && (["env", "workload"].includes(key) || words(value)),
    ) &&
    Object.values(plainTable(arm.env)).every(words) &&
    Object.entries(arm.workload).every(
      ([key, value]) => names.includes(key) && (words(value) || typeof value === "boolean"),
    )
  );
}

/** A table's values; anything else gives one that fits nowhere. */
function plainTable(value) {
  if (value === undefined) return {};
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : [{}];
}

const filled = (values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "" && value !== undefined));
