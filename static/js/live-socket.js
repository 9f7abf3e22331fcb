// The connection of a page to a run: opens, resumes from the last row, reconnects by itself.
// Survives sleep, lost networks and restarted servers. The page hears of states and messages.

const QUIET_MS = 12_000; // the server beats every 5 s
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;

/** States: connecting, catching-up, live, waiting (reconnects in `inMs`), ended, signed-out, refused. */
export class LiveSocket {
  /**
   * url: path of the socket; since(): last row known; onMessage(message); onState({state, inMs,
   * until}). Whoever takes the messages calls `taken()` after each, `resync()` when rows are
   * missing and `finish()` after the last. `env` lets tests replace the world.
   */
  constructor({ url, since, onMessage, onState, env = globalThis }) {
    Object.assign(this, { url, since, onMessage, onState, env });
    this.socket = null;
    this.tries = 0;
    this.timer = null;
    this.quiet = null;
    this.over = false;
    this.target = 0; // the server's last row when it greeted us
  }

  start() {
    const at = this.env.addEventListener?.bind(this.env);
    at?.("online", () => this.wake());
    at?.("pageshow", (event) => event.persisted && this.wake());
    at?.("pagehide", () => this.#drop());
    this.env.document?.addEventListener("visibilitychange", () => {
      if (this.env.document.visibilityState === "visible") this.wake();
    });
    this.#open();
  }

  /** Try at once: the network or the reader is back. */
  wake() {
    if (this.over) return;
    if (this.socket && this.env.Date.now() - this.heard < QUIET_MS) return;
    this.tries = 0;
    this.#drop();
    this.#open();
  }

  stop() {
    this.over = true;
    this.#drop();
  }

  #open() {
    this.env.clearTimeout(this.timer);
    this.timer = null;
    this.#tell("connecting");
    const socket = new this.env.WebSocket(`${this.url}?since=${this.since()}`);
    this.socket = socket;
    this.#listen();
    socket.onmessage = (event) => this.socket === socket && this.#message(event.data);
    socket.onclose = (event) => this.socket === socket && this.#closed(event.code);
    socket.onerror = () => {}; // a close follows
  }

  #message(text) {
    this.#listen();
    const message = JSON.parse(text);
    if (message.t === "hello") {
      this.tries = 0;
      this.target = message.last;
      this.#tell(this.since() < message.last ? "catching-up" : "live");
    }
    if (message.t === "end") {
      this.over = true; // the server closes now; that is no loss
      this.#drop();
    }
    this.onMessage(message);
  }

  /** A message was taken in: are we live by now? */
  taken() {
    if (this.state === "catching-up" && this.since() >= this.target) this.#tell("live");
  }

  /** Rows are missing: ask again from the last one that is known. */
  resync() {
    this.over = false;
    this.#drop();
    this.#open();
  }

  /** The run is over and all its rows are here. */
  finish() {
    this.stop();
    this.#tell("ended");
  }

  // No message for a while means that the connection is dead without saying so.
  #listen() {
    this.heard = this.env.Date.now();
    this.env.clearTimeout(this.quiet);
    this.quiet = this.env.setTimeout(() => {
      this.#drop();
      this.#again();
    }, QUIET_MS);
  }

  #closed(code) {
    this.#drop();
    if (this.over) return;
    const final = { 4401: "signed-out", 4403: "refused", 4404: "gone" }[code];
    if (final) {
      this.over = true;
      this.#tell(final);
    } else {
      this.#again();
    }
  }

  #again() {
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.tries);
    const inMs = Math.round(wait * (0.5 + this.env.Math.random() / 2));
    this.tries += 1;
    this.timer = this.env.setTimeout(() => this.#open(), inMs);
    this.#tell("waiting", inMs);
  }

  #drop() {
    this.env.clearTimeout(this.quiet);
    this.env.clearTimeout(this.timer);
    const socket = this.socket;
    this.socket = null;
    if (!socket) return;
    socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #tell(state, inMs = 0) {
    this.state = state;
    this.onState({ state, inMs, until: this.env.Date.now() + inMs });
  }
}
