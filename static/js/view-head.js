// The head of a run page: state, progress, time left, connection, and what is said aloud.

import { all, attribute, find, write } from "./dom.js";
import { repeatShare, repeatState, timeLeft } from "./figures.js";
import { duration, moment } from "./format.js";
import { nounOf, resultOf } from "./units.js";

const CONNECTION = {
  connecting: "connecting",
  "catching-up": "catching up",
  live: "live",
  ended: "all loaded",
  "signed-out": "signed out",
  refused: "not allowed",
  gone: "run is gone",
};

const NEXT = {
  finished:
    "The other repeats are complete. Open the log for each failure; run again for the missing ones.",
  failed: "Open the log for what led to it, put it right, and run again.",
  interrupted: "What was measured is kept. Run again when the worker is back.",
  cancelled: "What was measured until then is kept. Run again for the whole.",
};

export const ENDED = ["finished", "failed", "cancelled", "interrupted"];

export class HeadView {
  constructor(root, { store }) {
    Object.assign(this, { root, store, said: "", link: { state: "connecting", until: 0 } });
    this.segments = new Map(all("[data-repeat]", root).map((li) => [Number(li.dataset.repeat), li]));
  }

  connection(link) {
    this.link = link;
    const words = this.#connectionWords();
    const element = find("[data-role=connection]", this.root);
    write(element, words);
    element.className = `link ${link.state}`;
    find("[data-role=sign-in]", this.root).hidden = link.state !== "signed-out";
  }

  #connectionWords() {
    const { state, until } = this.link;
    if (state === "ended" && this.store.run.status === "finished") return "complete";
    if (state !== "waiting") return CONNECTION[state] ?? state;
    return `reconnecting in ${Math.max(0, Math.ceil((until - Date.now()) / 1000))} s`;
  }

  draw() {
    const { store, root } = this;
    const { status } = store.run;
    const pill = find("[data-role=status]", root);
    const doing = this.#doing();
    write(pill, doing);
    pill.className = `pill ${status}`;
    write(find("[data-role=left]", root), this.#left());
    for (const repeat of store.repeats) this.#segment(repeat);
    // The rows of a run that has ended tell its whole life again: it stays ended meanwhile.
    const ended = store.waits || ENDED.includes(status);
    const cancel = find("[data-role=cancel]", root);
    if (cancel) cancel.hidden = ended;
    const asks = ended && find("#cancel-dialog", root);
    if (asks?.open) asks.close("");
    this.#began();
    for (const element of all("[data-when=ended]", root)) element.hidden = !ended;
    if (status !== "queued") this.#reason(status);
    this.#say(status);
    if (this.link.state === "waiting") this.connection(this.link);
  }

  #began() {
    const { started_at: at, status } = this.store.run;
    if (at && status !== "queued") write(find("[data-role=began]", this.root), `started ${moment(at)}`);
  }

  // Why a run ended badly, and what to do; a red word leads, not the colour alone.
  #reason(status) {
    const note = find("[data-role=reason]", this.root);
    const failed = this.store.repeats.filter((repeat) => repeat.state === "failed");
    note.hidden = !(ENDED.includes(status) && (status !== "finished" || failed.length));
    if (note.hidden) return;
    const { reason, remedy } = this.store.run;
    const said = reason.toLowerCase() === `${status}.` ? "" : reason; // it would say its state twice
    const words =
      said ||
      (status === "cancelled" ? "stopped before its end." : failed[0]?.reason) ||
      "the log says why.";
    write(
      find("[data-role=reason-word]", note),
      status === "finished" ? "Finished with failures" : status[0].toUpperCase() + status.slice(1),
    );
    write(find("[data-role=reason-text]", note), words);
    write(find("[data-role=remedy]", note), remedy || NEXT[status] || "");
  }

  // The progress is a segment a repeat; widths by CSSOM, since the pages allow no inline style.
  #segment(repeat) {
    const li = this.segments.get(repeat.id);
    if (!li) return;
    const share = repeatShare(this.store, repeat);
    const state = repeatState(this.store, repeat);
    li.className = state;
    li.firstElementChild.style.width = `${(share * 100).toFixed(1)}%`;
    const arm = this.store.arms[repeat.arm];
    attribute(li, "title", `${arm.label}, repeat ${repeat.n}: ${state}`);
  }

  #current() {
    return this.store.repeats.find((r) => ["preparing", "measuring", "cleaning"].includes(r.state));
  }

  #doing() {
    const { status } = this.store.run;
    if (status !== "running") return this.#endWords(status);
    const repeat = this.#current();
    if (!repeat) return "running";
    const arm = this.store.arms[repeat.arm];
    const done = this.store.measured(repeat)?.rounds.length ?? 0;
    if (repeat.state !== "measuring") return `${repeat.state} ${arm.label}`;
    if (resultOf(arm) === null || !arm.rounds) return `measuring ${arm.label}`;
    if (arm.kind === "load" && !done) return `warming up ${arm.label}`;
    return `measuring ${arm.label}, ${nounOf(arm)} ${Math.min(done + 1, arm.rounds)} of ${arm.rounds}`;
  }

  #endWords(status) {
    const failed = this.store.repeats.filter((repeat) => repeat.state === "failed").length;
    if (status !== "finished" || !failed) return status;
    return `finished, ${failed} of ${this.store.repeats.length} repeats failed`;
  }

  #left() {
    const { status, started_at: from, finished_at: to } = this.store.run;
    if (status === "queued") return "waits for its turn";
    if (status === "running") return `${duration(timeLeft(this.store, Date.now()))} left`;
    return from && to ? `took ${duration((to - from) * 1000)}` : "";
  }

  // States only: nobody wants every round read out.
  #say(status) {
    const repeat = status === "running" ? this.#current() : null;
    const words = repeat
      ? `${this.store.arms[repeat.arm].label}: ${repeat.state}`
      : `Run ${this.#endWords(status)}`;
    if (words === this.said) return;
    this.said = words;
    write(find("[data-role=said]", this.root), words);
  }
}
