// The samples of one repeat and group: packed blocks as they came, decoded when looked at.

import { decode } from "./packed.js";

const NAMES = ["t", "usage", "periods", "throttled", "paused"];

export class SampleSeries {
  constructor() {
    this.waiting = []; // packed rows not decoded yet, in order
    this.length = 0;
    this.firstT = null; // known without decoding, from the rows
    this.lastT = null;
    this.problems = 0; // blocks that could not be read
    this.version = 0;
    this.room = 256;
    for (const name of NAMES) this[name] = new Float64Array(this.room);
  }

  /** Take a packed row. Samples up to the last known time are dropped: a block of 10 s may
   * repeat frames that were seen live. Returns whether anything in it can be new. */
  add({ t0, t1, count, data }) {
    if (!count || (this.lastT !== null && t1 <= this.lastT)) return false;
    if (this.firstT === null) this.firstT = t0;
    this.waiting.push({ data, after: this.lastT === null ? -Infinity : this.lastT });
    this.lastT = t1;
    this.version += 1;
    return true;
  }

  get pending() {
    return this.waiting.length;
  }

  /** Decode waiting blocks until `more()` says stop; true when all is decoded. */
  settle(more = () => true) {
    let done = 0;
    while (done < this.waiting.length && more()) {
      this.#take(this.waiting[done]);
      done += 1;
    }
    this.waiting.splice(0, done);
    return this.waiting.length === 0;
  }

  #take({ data, after }) {
    let block;
    try {
      block = decode(data);
    } catch (error) {
      if (!(error instanceof RangeError) && error.name !== "InvalidCharacterError") throw error;
      this.problems += 1; // a hole in the samples: drawn as "unknown"
      return;
    }
    this.#grow(block.count);
    for (let i = 0; i < block.count; i += 1) {
      const t = block.t[i];
      const last = this.length ? this.t[this.length - 1] : -Infinity;
      if (!(t > after) || !(t > last)) continue;
      for (const name of NAMES) this[name][this.length] = block[name][i];
      this.length += 1;
    }
  }

  #grow(more) {
    if (this.length + more <= this.room) return;
    while (this.length + more > this.room) this.room *= 2;
    for (const name of NAMES) {
      const wider = new Float64Array(this.room);
      wider.set(this[name].subarray(0, this.length));
      this[name] = wider;
    }
  }

  /** Index of the first sample at or after `t`. */
  indexAt(t) {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.t[middle] < t) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
