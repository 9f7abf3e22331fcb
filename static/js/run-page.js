// A run, live or ended: one path. Rows come over the socket into the store; what changed is
// redrawn in frames.

import { roundsOf } from "./arm-rows.js";
import { all, embedded, find, remember, recalled } from "./dom.js";
import { countersBeside } from "./beside.js";
import { armFigures, paused, tally, usedRepeats } from "./figures.js";
import { Ingest } from "./ingest.js";
import { LiveSocket } from "./live-socket.js";
import { overRepeats } from "./over-repeats.js";
import { Painter } from "./painter.js";
import { RunStore } from "./run-store.js";
import { StripView } from "./strip-view.js";
import { countsFrom, limitOfUnit, resultOf, unitOf, withRounds } from "./units.js";
import { BandView } from "./view-band.js";
import { ChartView } from "./view-chart.js";
import { CountersView } from "./view-counters.js";
import { ENDED, HeadView } from "./view-head.js";
import { LogView } from "./view-log.js";
import { QualityView } from "./view-quality.js";
import { RailView } from "./view-rail.js";
import { RequestsView } from "./view-requests.js";
import { SetupView } from "./view-setup.js";
import { SummaryView } from "./view-summary.js";
import { TreeView } from "./view-tree.js";
import { UnitChoice } from "./view-unit-choice.js";
import { FactsView, SharesView } from "./view-units.js";

const data = embedded("run-data");
const store = new RunStore(data);
// Of a run that has ended everything is still to come: until then nothing is "not measured".
store.waits = ENDED.includes(data.status);
const painter = new Painter();

// Arms that only tell facts have nothing to be drawn side by side.
const offered = data.arms.map((arm) => arm.name);
if (data.arms.some((arm) => resultOf(arm) !== null)) offered.push("all");

let chosen = offered.includes(recalled("arm")) ? recalled("arm") : null;
let picked = null; // a round that was clicked

/** What `make` gives for an arm, made anew only when rows of that arm came. */
function keeping(make) {
  const kept = new Map(); // arm -> {version, value}
  return (index) => {
    const version = store.repeatsOf(index).reduce((sum, repeat) => sum + repeat.version, 0);
    if (kept.get(index)?.version !== version) kept.set(index, { version, value: make(index) });
    return kept.get(index).value;
  };
}

const figures = keeping((index) => armFigures(store, index)); // all repeats together
const medians = keeping((index) => overRepeats(store, index, figures(index)));

const busy = () => store.repeats.find((r) => ["preparing", "measuring", "cleaning"].includes(r.state));

/** Of a run that had ended when the page opened: the tightest limit that was measured. */
function tightest() {
  const done = new Set(data.repeats.filter((r) => r.state === "done").map((r) => r.arm));
  const limited = data.arms.filter((each) => each.quota_us !== null && done.has(each.index));
  const share = (each) => each.quota_us / each.period_us;
  return limited.sort((a, b) => share(a) - share(b))[0] ?? data.arms[0];
}

const opening = ENDED.includes(data.status) ? tightest() : null;

/** The arm that is looked at: the chosen one, else the one that is running, else the newest. */
function arm() {
  const named = data.arms.find((each) => each.name === chosen);
  if (named || opening) return named ?? opening;
  const running = busy() ?? (store.newest && store.byId.get(store.newest.repeat));
  return running ? data.arms[running.arm] : data.arms[0];
}

/** The arm whose figures are shown, and why this one where nobody chose it. */
function whose({ label, name }) {
  if (data.arms.length === 1 || chosen === name) return label;
  if (opening) return `${label} (${opening.quota_us === null ? "the first arm" : "the tightest limit"})`;
  return busy() ? `${label} (measured now)` : label;
}

/** Of how many repeats the figures are, where they are of several. */
function together({ index }) {
  const begun = usedRepeats(store, index).filter((repeat) => store.measured(repeat)?.rounds.length);
  return begun.length > 1 ? `, ${begun.length} repeats together` : "";
}

const head = new HeadView(document, { store });
const rail = new RailView(find("#rail"), { store, choose });
const band = new BandView(find("#band"), { store });
const strip = new StripView(find("#strip"), { cpus: data.cpus, touch: () => painter.touch("strip") });
const chart = new ChartView(find("#chart"), { store, painter, onPick: pick });
const counters = new CountersView(find("#counters"), {});
const log = new LogView(find("#log"), { store });
const setup = new SetupView(find("#setup"), { store });
const quality = new QualityView(find("#quality"), { store });
const summaries = ["walls", "latencies"].map(
  (kind) => new SummaryView(find(kind === "walls" ? "#summary" : "#latencies"), { store, kind }),
);
const requests = find("#requests") && new RequestsView(find("#requests"), { store });
const tables = [new SharesView(find("#shares"), { store }), new FactsView(find("#facts"), { store })];
const tree = new TreeView(find("#tree"), { store });
const units = new UnitChoice(find("[data-role=unit]"), {
  onChoose() {
    painter.touch("strip", "figures");
  },
});

function choose(name) {
  chosen = name;
  picked = null;
  remember({ arm: name, from: null, rounds: null });
  painter.touchAll();
  showArm();
}

function pick(row) {
  picked = row;
  strip.show(subject(row.repeat));
  strip.reveal(row.round);
  painter.touch("figures", "rail", "strip");
}

/** The repeat that the strip shows: of a picked round, the running one, or the arm's newest. */
function shownRepeat() {
  const current = arm();
  if (picked && picked.repeat.arm === current.index) return picked.repeat;
  const repeats = store.repeatsOf(current.index);
  const wanted = Number(recalled("repeat"));
  const named = repeats.find((repeat) => repeat.n === wanted);
  if (named) return named;
  return repeats.findLast((repeat) => store.measured(repeat)) ?? repeats[0];
}

/** The group whose periods are shown: of the unit that is looked at. */
function shownGroup(repeat, unit) {
  if (!repeat) return null;
  return unit ? (repeat.groups.get(unit.name) ?? null) : store.measured(repeat);
}

function subject(repeat) {
  const own = repeat && data.arms[repeat.arm];
  const unit = own && unitOf(own, units.name);
  const group = shownGroup(repeat, unit);
  if (!group) return null;
  const many = store.repeatsOf(repeat.arm).length > 1;
  // Seconds of requests stand under their server's periods; anything else has its own rounds.
  const result = store.measured(repeat);
  const rounds = resultOf(own) === "work_us" && result ? result.rounds : group.rounds;
  const label = many ? `${own.label}, repeat ${repeat.n}` : own.label;
  return {
    key: `${repeat.id} ${group.name}`,
    series: group.samples,
    rounds,
    opensAt: (rounds.find((round) => paused(round)) ?? rounds[0])?.start_us ?? null,
    arm: { ...own, ...limitOfUnit(own, unit, repeat) },
    live: repeat.state === "measuring" && !ENDED.includes(store.run.status),
    label: own.units.length > 1 && unit ? `${label}, ${unit.name}` : label,
  };
}

function showArm() {
  const current = arm();
  chart.choose(chosen === "all" ? null : current.index);
  units.offer(current);
  find("#strip").hidden = resultOf(current) === null;
  find("#counters").hidden = resultOf(current) === null;
  const shown = subject(shownRepeat());
  find("[data-role=strip-arm]").textContent = shown?.label ?? current.label;
  strip.show(shown);
}

function newestRow(current) {
  if (picked && picked.repeat.arm === current.index) return picked;
  return roundsOf(store, current.index).at(-1) ?? null;
}

function drawCounters(current) {
  const unit = unitOf(current, units.name);
  const row = newestRow(current);
  const many = store.repeatsOf(current.index).length > 1;
  const group = row && shownGroup(row.repeat, unit);
  const groups = group ? withRounds(store, row.repeat, [group]) : [];
  const own = current.units.length > 1 && unit ? unitFigures(current, unit) : figures(current.index);
  const beside = row ? countersBeside(groups, row.round) : null;
  counters.draw(row && { ...row, many }, beside, own, current, { unit, picked: Boolean(picked) });
}

// Replicas are counted together at the side; here each is looked at by itself.
const unitFigures = ({ index }, unit) => armFigures(store, index, { unit: unit.name });

painter.add("head", () => head.draw(), 100);
painter.add(
  "strip",
  () => {
    showArm();
    strip.draw();
  },
  30,
);
painter.add(
  "figures",
  () => {
    const current = arm();
    quality.draw(figures);
    band.draw(current, figures, `${whose(current)}${together(current)}`);
    requests?.draw(current, figures(current.index), medians(current.index));
    for (const table of tables) table.draw(current.name);
    drawCounters(current);
  },
  200,
);
painter.add("rail", () => rail.draw(figures, chosen === "all" ? "all" : arm().name), 200);
painter.add(
  "summary",
  () => {
    const ended = ENDED.includes(store.run.status);
    for (const summary of summaries) {
      if (summary.root) summary.root.hidden = !ended;
      summary.draw(medians, arm().name);
    }
  },
  400,
);
painter.add(
  "setup",
  () => {
    setup.draw(arm());
    tree.draw(arm());
  },
  500,
);
painter.add("log", () => log.draw(), 200);

// Sums grow with the rows: of 10,000 rounds they are not made at once.
function rowsCame() {
  const newest = store.newest && store.byId.get(store.newest.repeat);
  if (newest) {
    for (const group of newest.groups.values()) tally(group, countsFrom(store, newest, group));
    roundsOf(store, newest.arm);
  }
  painter.touch("head", "strip", "log");
  if (live.state !== "catching-up") rowsSettled();
}

/** What is costly waits until the page has caught up. */
function rowsSettled() {
  painter.touch("figures", "rail", "summary", "setup");
  chart.refresh();
}

const live = new LiveSocket({
  url: data.ws,
  since: () => store.last,
  onMessage: (message) => ingest.take(message),
  onState(link) {
    head.connection(link);
    if (["live", "ended"].includes(link.state)) store.waits = false;
    if (link.state === "live" || link.state === "ended") rowsSettled();
  },
});
const ingest = new Ingest({ store, live, onRows: rowsCame });

find("[data-role=release]").addEventListener("click", () => {
  picked = null;
  painter.touchAll();
});
for (const row of all(":is(#summary, #latencies, #shares, #facts) tr[data-arm]")) {
  row.addEventListener("click", () => choose(row.dataset.arm));
}
setInterval(() => {
  if (document.hidden) return;
  painter.touch("head");
  if (live.state !== "catching-up") painter.touch("figures", "rail");
}, 1000);
showArm();
chart.prime();
painter.touch("head", "strip", "figures", "rail", "summary", "setup", "log");
live.start();
