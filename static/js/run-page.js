// A run, live or ended: one path. Rows come over the socket into the store; what changed is
// redrawn in frames.

import { roundsOf } from "./arm-rows.js";
import { all, embedded, find, remember, recalled } from "./dom.js";
import { armFigures, paused, tally } from "./figures.js";
import { Ingest } from "./ingest.js";
import { LiveSocket } from "./live-socket.js";
import { Painter } from "./painter.js";
import { RunStore } from "./run-store.js";
import { StripView } from "./strip-view.js";
import { BandView } from "./view-band.js";
import { ChartView } from "./view-chart.js";
import { CountersView } from "./view-counters.js";
import { ENDED, HeadView } from "./view-head.js";
import { LogView } from "./view-log.js";
import { QualityView } from "./view-quality.js";
import { RailView } from "./view-rail.js";
import { SetupView } from "./view-setup.js";
import { SummaryView } from "./view-summary.js";

const data = embedded("run-data");
const store = new RunStore(data);
// Of a run that has ended everything is still to come: until then nothing is "not measured".
store.waits = ENDED.includes(data.status);
const painter = new Painter();

let chosen =
  data.arms.some((arm) => arm.name === recalled("arm")) || recalled("arm") === "all"
    ? recalled("arm")
    : null;
let picked = null; // a round that was clicked
const cache = new Map(); // arm -> {version, figures}

const figures = (index) => {
  const version = store.repeatsOf(index).reduce((sum, repeat) => sum + repeat.version, 0);
  if (cache.get(index)?.version !== version) {
    cache.set(index, { version, figures: armFigures(store, index) });
  }
  return cache.get(index).figures;
};

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

const head = new HeadView(document, { store });
const rail = new RailView(find("#rail"), { store, choose });
const band = new BandView(find("#band"), { store });
const strip = new StripView(find("#strip"), { cpus: data.cpus, touch: () => painter.touch("strip") });
const chart = new ChartView(find("#chart"), { store, painter, onPick: pick });
const counters = new CountersView(find("#counters"), {});
const log = new LogView(find("#log"), { store });
const setup = new SetupView(find("#setup"), { store });
const quality = new QualityView(find("#quality"), { store });
const summary = new SummaryView(find("#summary"), { store });

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

function subject(repeat) {
  const group = repeat && store.measured(repeat);
  if (!group) return null;
  const current = data.arms[repeat.arm];
  const many = store.repeatsOf(repeat.arm).length > 1;
  return {
    key: `${repeat.id} ${group.name}`,
    series: group.samples,
    rounds: group.rounds,
    opensAt: (group.rounds.find((round) => paused(round)) ?? group.rounds[0])?.start_us ?? null,
    arm: current,
    live: repeat.state === "measuring" && !ENDED.includes(store.run.status),
    label: many ? `${current.label}, repeat ${repeat.n}` : current.label,
  };
}

function showArm() {
  chart.choose(chosen === "all" ? null : arm().index);
  const title = find("[data-role=strip-arm]");
  const repeat = shownRepeat();
  const shown = subject(repeat);
  title.textContent = shown?.label ?? arm().label;
  strip.show(shown);
}

function newestRow(current) {
  if (picked && picked.repeat.arm === current.index) return picked;
  return roundsOf(store, current.index).at(-1) ?? null;
}

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
    band.draw(current, figures, whose(current));
    const row = newestRow(current);
    const many = store.repeatsOf(current.index).length > 1;
    counters.draw(row && { ...row, many }, figures(current.index), current, Boolean(picked));
  },
  200,
);
painter.add("rail", () => rail.draw(figures, chosen === "all" ? "all" : arm().name), 200);
painter.add(
  "summary",
  () => {
    find("#summary").hidden = !ENDED.includes(store.run.status);
    summary.draw(figures, arm().name);
  },
  400,
);
painter.add("setup", () => setup.draw(arm()), 500);
painter.add("log", () => log.draw(), 200);

// Sums grow with the rows: of 10,000 rounds they are not made at once.
function rowsCame() {
  const newest = store.newest && store.byId.get(store.newest.repeat);
  if (newest) {
    tally(store.measured(newest));
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
for (const row of all("#summary tr[data-arm]")) {
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
