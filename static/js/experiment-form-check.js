// Asks the server what is wrong with a draft and what it would do: a moment after the last
// change, and only the newest answer counts.

const PAUSE_MS = 300;

export class Checker {
  /** `ask()` gives the draft as it is; `onAnswer(answer)` and `onTrouble(words)` take the result. */
  constructor({ url, token, ask, onBusy, onAnswer, onTrouble, post = (...request) => fetch(...request) }) {
    Object.assign(this, { url, token, ask, onBusy, onAnswer, onTrouble, post });
    this.asked = 0;
    this.timer = null;
    this.known = false;
  }

  /** Whether what is shown is about the draft as it is now. */
  get fresh() {
    return this.known && this.timer === null;
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), PAUSE_MS);
  }

  /** Ask at once; resolves with the answer, or null where another question was newer. */
  async now(draft = this.ask()) {
    clearTimeout(this.timer);
    this.timer = null;
    this.asked += 1;
    const mine = this.asked;
    this.known = false;
    this.onBusy(true);
    let answer = null;
    let trouble = "";
    try {
      answer = await this.#answer(draft);
    } catch (error) {
      trouble = error.message;
    }
    if (mine !== this.asked) return null;
    this.onBusy(false);
    if (answer === null) {
      this.onTrouble(trouble);
      return null;
    }
    this.known = true;
    this.onAnswer(answer);
    return answer;
  }

  async #answer(draft) {
    let reply;
    try {
      reply = await this.post(this.url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-CSRFToken": this.token },
        body: JSON.stringify(draft),
        redirect: "manual",
      });
    } catch {
      throw new Error("The lab does not answer, so this is not checked. It is asked again at the next change.");
    }
    if (reply.type === "opaqueredirect") throw new Error("You are signed out. Sign in in another tab, then go on here.");
    const body = await reply.json().catch(() => null);
    if (body === null) throw new Error(`The lab could not check this (status ${reply.status}).`);
    if (body.error) throw new Error(body.error);
    return body;
  }
}
