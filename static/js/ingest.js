// Takes the socket's messages into the store, a few milliseconds at a time: a page that opens
// on 10,000 rounds stays answerable while they come in.

const BUDGET_MS = 8;

export class Ingest {
  /** onRows() is called after every slice that brought rows; `env` lets tests replace the world. */
  constructor({ store, live, onRows, env = globalThis }) {
    Object.assign(this, { store, live, onRows, env });
    this.queue = [];
    this.at = 0; // next row of the first message
    this.busy = false;
  }

  get behind() {
    return this.queue.length > 0;
  }

  take(message) {
    this.queue.push(message);
    if (!this.busy) this.#slice();
  }

  #slice() {
    const until = this.env.performance.now() + BUDGET_MS;
    this.busy = true;
    let rows = 0;
    while (this.queue.length) {
      const message = this.queue[0];
      if (this.at === 0 && this.store.lacks(message)) {
        this.queue.length = 0;
        this.live.resync();
        break;
      }
      rows += this.#rows(message, until);
      if (this.at < (message.rows?.length ?? 0)) break; // out of time
      this.#done(message);
    }
    if (rows) this.onRows();
    this.busy = this.queue.length > 0;
    if (this.busy) this.env.setTimeout(() => this.#slice(), 0);
  }

  #rows(message, until) {
    let taken = 0;
    const rows = message.rows ?? [];
    while (this.at < rows.length) {
      if (this.store.applyRow(rows[this.at])) taken += 1;
      this.at += 1;
      if (taken % 16 === 15 && this.env.performance.now() > until) break;
    }
    return taken;
  }

  #done(message) {
    this.queue.shift();
    this.at = 0;
    if (message.t === "rows") this.store.close(message);
    if (message.t === "end") this.live.finish();
    else this.live.taken();
  }
}
