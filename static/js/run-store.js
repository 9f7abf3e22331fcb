// What is known of a run: rows in, a list of repeats and rounds out. Pure.
//
// The list must equal the database's whatever the network does, so a row counts once (by its
// number s), and a message that shows that something is missing asks for a resync: the caller
// reconnects from `last`.

import { addFacts, addServers, Latencies } from "./latencies.js";
import { SampleSeries } from "./samples.js";
import { resultGroups } from "./units.js";

const LOG_KEPT = 5000; // lines kept in memory; the drawer shows fewer

export class RunStore {
  /** `data` is the page's run-data. */
  constructor(data) {
    this.run = {
      status: data.status,
      reason: data.reason ?? "",
      remedy: data.remedy ?? "",
      started_at: data.started_at,
      finished_at: data.finished_at,
      at: null,
    };
    this.arms = data.arms;
    this.cpus = data.cpus ?? null;
    this.publishedCpus = data.published_cpus ? String(data.published_cpus) : null;
    this.counters = data.counters; // names of the counters that rows may hold
    this.last = 0;
    this.repeats = data.repeats.map((repeat) => emptyRepeat(repeat));
    this.byId = new Map(this.repeats.map((repeat) => [repeat.id, repeat]));
    this.log = [];
    this.logDropped = 0;
    this.rounds = 0;
    this.newest = null; // {repeat, group, n} of the newest round
  }

  /** Is the run over? Its figures do not grow any more. */
  get ended() {
    return !["queued", "running"].includes(this.run.status);
  }

  repeatsOf(arm) {
    return this.repeats.filter((repeat) => repeat.arm === arm);
  }

  /** Does this message show that rows before it are missing? Asked before its rows are taken. */
  lacks(message) {
    if (message.t === "beat" || message.t === "end") return this.#behind(message.last);
    return message.t === "rows" && message.prev !== undefined && message.prev > this.last;
  }

  /** Take one whole message of the socket; returns whether rows are missing. */
  apply(message) {
    if (this.lacks(message)) return true;
    if (message.t !== "rows") return false;
    for (const row of message.rows) this.applyRow(row);
    this.close(message);
    return false;
  }

  /** The rows of a message are all taken. */
  close(message) {
    this.last = Math.max(this.last, message.last ?? 0);
  }

  // Asked once for each answer: numbers that were reserved and never used are no rows.
  #behind(last) {
    if (last <= this.last) return false;
    const asked = `${this.last} of ${last}`;
    if (this.asked === asked) return false;
    this.asked = asked;
    return true;
  }

  /** Take one row unless it is known; returns whether it was new. */
  applyRow(row) {
    if (row.s <= this.last) return false;
    this.last = row.s;
    HANDLERS[row.k]?.(this, row);
    return true;
  }

  group(repeatId, name) {
    const repeat = this.byId.get(repeatId);
    if (!repeat) return null;
    let group = repeat.groups.get(name);
    if (!group) {
      group = emptyGroup(name);
      repeat.groups.set(name, group);
    }
    return group;
  }

  /** The group of a repeat whose rounds are the result (the first, of several); else null. */
  measured(repeat) {
    const groups = resultGroups(this, repeat);
    return groups.find((group) => group.rounds.length) ?? groups[0] ?? null;
  }

  /** Where nothing says which group is meant: the one with rounds, else the first known. */
  anyGroup(repeat) {
    for (const group of repeat.groups.values()) if (group.rounds.length) return group;
    return repeat.groups.values().next().value ?? null;
  }

  say(level, text, at, repeatId) {
    this.log.push({ level, text, at, repeat: repeatId ?? null });
    if (this.log.length > LOG_KEPT) {
      this.logDropped += this.log.length - LOG_KEPT;
      this.log.splice(0, this.log.length - LOG_KEPT);
    }
  }
}

const emptyRepeat = (repeat) => ({
  id: repeat.id,
  arm: repeat.arm,
  n: repeat.n,
  state: repeat.state,
  reason: repeat.reason ?? "",
  at: null,
  since: null,
  readback: repeat.readback ?? null,
  lab: repeat.lab ?? null, // what else the machine did meanwhile
  missed: [], // notes of missed samples
  warnings: [], // every other note that is no mere information
  groups: new Map(),
  version: 0,
});

const emptyGroup = (name) => ({
  name,
  rounds: [],
  byNumber: new Map(),
  samples: new SampleSeries(),
  hello: null,
  tree: null,
  totals: null,
  latencies: {}, // measure -> Latencies over all rounds
  facts: {}, // over all rounds
  servers: {}, // who answered, over all rounds
});

const pick = (store, row) =>
  Object.fromEntries(store.counters.map((name) => [name, row[name] ?? null]));

/** What a round says besides its counters. Its latencies are added up as they come, and their
 * counts not kept: of a thousand rounds they would be hundreds of thousands of pairs. */
function detail(group, { measures, facts, servers }) {
  addFacts(group.facts, facts);
  addServers(group.servers, servers);
  const short = {};
  for (const [name, { counts, ...rest }] of Object.entries(measures ?? {})) {
    (group.latencies[name] ??= new Latencies()).add({ counts, ...rest });
    short[name] = rest;
  }
  return { measures: short, facts: facts ?? {}, servers: servers ?? {} };
}

const touch = (store, id) => {
  const repeat = store.byId.get(id);
  if (repeat) repeat.version += 1;
  return repeat;
};

const MISSED = /^The sampler missed /;
const ENDED_BADLY = ["failed", "interrupted"];

const HANDLERS = {
  run(store, row) {
    store.run.status = row.status;
    store.run.reason = row.reason ?? "";
    store.run.remedy = row.remedy ?? "";
    store.run.at = row.at;
    if (row.status === "running") store.run.started_at ??= row.at;
    if (!["queued", "running"].includes(row.status)) store.run.finished_at ??= row.at;
    store.say(ENDED_BADLY.includes(row.status) ? "error" : "info", runLine(row), row.at);
  },
  repeat(store, row) {
    const repeat = touch(store, row.repeat);
    if (!repeat) return;
    if (repeat.state !== row.state) repeat.since = row.at;
    repeat.state = row.state;
    repeat.reason = row.reason ?? "";
    repeat.at = row.at;
    if (row.readback) repeat.readback = row.readback;
    if (row.lab) repeat.lab = row.lab;
    const text = repeat.reason ? `${row.state}: ${repeat.reason}` : row.state;
    store.say(row.state === "failed" ? "error" : "info", text, row.at, row.repeat);
  },
  hello(store, row) {
    const group = store.group(row.repeat, row.group);
    if (group) group.hello = { mono_us: row.mono_us, unix_us: row.unix_us, program: row.program };
    touch(store, row.repeat);
  },
  tree(store, row) {
    const group = store.group(row.repeat, row.group);
    if (group) group.tree = row.levels;
    touch(store, row.repeat);
  },
  note(store, row) {
    const about = row.level === "info" ? null : store.byId.get(row.repeat);
    if (about) {
      (MISSED.test(row.text) ? about.missed : about.warnings).push(row.text);
      about.version += 1;
    }
    store.say(row.level, row.text, row.at, row.repeat);
  },
  round(store, row) {
    const group = store.group(row.repeat, row.group);
    if (!group || group.byNumber.has(row.n)) return;
    const round = {
      n: row.n,
      start_us: row.start_us,
      wall_us: row.wall_us,
      late_us: row.late_us ?? null,
      burst: pick(store, row),
      settled: null,
      ...detail(group, row),
    };
    group.byNumber.set(row.n, round);
    group.rounds.push(round);
    store.rounds += 1;
    store.newest = { repeat: row.repeat, group: row.group, n: row.n };
    touch(store, row.repeat);
  },
  settled(store, row) {
    const round = store.group(row.repeat, row.group)?.byNumber.get(row.n);
    if (round) round.settled = pick(store, row);
    touch(store, row.repeat);
  },
  samples(store, row) {
    store.group(row.repeat, row.group)?.samples.add(row);
  },
  totals(store, row) {
    const group = store.group(row.repeat, row.group);
    if (group) group.totals = pick(store, row);
    touch(store, row.repeat);
  },
};

function runLine({ status, reason }) {
  return reason ? `run ${status}: ${reason}` : `run ${status}`;
}
