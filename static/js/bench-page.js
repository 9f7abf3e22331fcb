// Bench: a small live strip of every run that is running. The list itself is swapped in by
// htmx every 2 s; a strip that is there already is kept.

import { all, embedded, find, onTheme, write } from "./dom.js";
import { armFigures } from "./figures.js";
import { ofTotal } from "./format.js";
import { Ingest } from "./ingest.js";
import { LiveSocket } from "./live-socket.js";
import { Painter } from "./painter.js";
import { RunStore } from "./run-store.js";
import { StripModel } from "./strip-model.js";
import { StripPainter } from "./strip-paint.js";
import { markWords } from "./strip-rounds.js";
import { countedGroups, limitOfUnit, unitOf } from "./units.js";

const VIEW_US = 2_000_000;
const BUSY = ["preparing", "measuring", "cleaning"];
const shown = new Map(); // run number -> SmallStrip

class SmallStrip {
  constructor(number) {
    this.number = number;
    this.data = embedded(`live-${number}`);
    this.store = new RunStore(this.data);
    this.store.last = this.data.since;
    this.strip = new StripPainter(find(`#strip-${number} canvas`), { height: 72, compact: true });
    this.models = new WeakMap();
    this.painter = new Painter();
    this.painter.add("strip", () => this.draw(), 60);
    this.live = new LiveSocket({
      url: this.data.ws,
      since: () => this.store.last,
      onState: () => {},
      onMessage: (message) => this.ingest.take(message),
    });
    this.ingest = new Ingest({
      store: this.store,
      live: this.live,
      onRows: () => this.painter.touch("strip"),
    });
    onTheme(() => {
      this.strip.retheme();
      this.painter.touch("strip");
    });
    this.live.start();
    this.painter.touch("strip");
  }

  draw() {
    const repeat = this.store.repeats.find((each) => BUSY.includes(each.state));
    const group = repeat && countedGroups(this.store, repeat)[0];
    if (!group) return this.#paint([], 0, VIEW_US, null);
    const own = this.data.arms[repeat.arm];
    const arm = { ...own, ...limitOfUnit(own, unitOf(own, group.name), repeat) };
    this.#words(repeat, arm);
    const { cpus } = this.data;
    let model = this.models.get(group);
    if (!model)
      this.models.set(
        group,
        (model = new StripModel({ periodUs: arm.period_us, quotaUs: arm.quota_us, cpus })),
      );
    group.samples.settle();
    model.feed(group.samples);
    if (!model.span) return this.#paint([], 0, VIEW_US, arm);
    const { phase } = model.grid;
    const to = phase + Math.ceil((model.span.t1 - phase) / arm.period_us) * arm.period_us;
    const from = to - VIEW_US;
    return this.#paint(model.cells({ from, to, live: true }), from, to, arm);
  }

  #paint(cells, from, to, arm) {
    const { cpus } = this.data;
    const limited = Boolean(arm) && arm.quota_us !== null;
    this.strip.draw({
      cells,
      from,
      to,
      limited,
      budgetUs: limited ? arm.quota_us : cpus * (arm?.period_us ?? 100_000),
      rounds: [],
      ticks: [],
      focus: null,
      words: "", // there is no room for words: the line below says it
    });
  }

  #words(repeat, arm) {
    const last = this.store.measured(repeat)?.rounds.at(-1);
    const round = last ? `, ${markWords(arm, last)}` : "";
    write(find(`#doing-${this.number}`), `${repeat.state} ${arm.label}`);
    const f = armFigures(this.store, repeat.arm);
    const paused =
      arm.quota_us === null || !f.judged
        ? ""
        : `; paused in ${ofTotal(f.paused, f.judged)} ${f.n === f.judged ? "" : "counted "}rounds seen here`;
    write(
      find(`#words-${this.number}`),
      `${arm.label}${round}${paused}. The last 2 s, one cell a period.`,
    );
  }

  stop() {
    this.live.stop();
  }
}

function follow() {
  const now = new Set(all("[data-live]").map((box) => Number(box.dataset.live)));
  for (const [number, strip] of shown) {
    if (now.has(number)) continue;
    strip.stop();
    shown.delete(number);
  }
  for (const number of now) if (!shown.has(number)) shown.set(number, new SmallStrip(number));
}

document.addEventListener("htmx:afterSettle", follow);
follow();
