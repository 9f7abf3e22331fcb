import assert from "node:assert/strict";
import { test } from "node:test";

import { LiveSocket } from "../../static/js/live-socket.js";

function world() {
  const env = { now: 0, timers: new Map(), sockets: [], handlers: {}, id: 0 };
  env.Date = { now: () => env.now };
  env.Math = { random: () => 1 };
  env.setTimeout = (call, ms) => {
    env.timers.set(++env.id, { call, at: env.now + ms });
    return env.id;
  };
  env.clearTimeout = (id) => env.timers.delete(id);
  env.addEventListener = (name, call) => {
    env.handlers[name] = call;
  };
  env.WebSocket = class {
    constructor(url) {
      this.url = url;
      env.sockets.push(this);
    }
    close() {
      this.closed = true;
    }
  };
  env.pass = (ms) => {
    env.now += ms;
    for (const [id, timer] of [...env.timers]) {
      if (timer.at <= env.now && env.timers.delete(id)) timer.call();
    }
  };
  env.say = (message) => env.sockets.at(-1).onmessage({ data: JSON.stringify(message) });
  return env;
}

function connect(env, missing = () => false) {
  const states = [];
  let last = 0;
  const live = new LiveSocket({
    url: "/ws/runs/1/",
    since: () => last,
    env,
    onMessage(message) {
      if (message.t === "rows") last = message.last;
      if (missing(message)) live.resync();
      else if (message.t === "end") live.finish();
      else live.taken();
    },
    onState: (state) => states.push(state.state),
  });
  live.start();
  return { live, states };
}

test("catches up, goes live, ends and stays ended", () => {
  const env = world();
  const { states } = connect(env);
  env.say({ t: "hello", last: 5 });
  env.say({ t: "rows", last: 5, rows: [] });
  env.say({ t: "end", last: 5 });
  env.pass(60_000);
  assert.deepEqual(states, ["connecting", "catching-up", "live", "ended"]);
  assert.equal(env.sockets.length, 1);
});

test("reconnects from the last row with a growing wait", () => {
  const env = world();
  const { states } = connect(env);
  env.say({ t: "hello", last: 7 });
  env.say({ t: "rows", last: 7, rows: [] });
  for (const wait of [500, 1000, 2000, 4000, 8000, 10_000, 10_000]) {
    env.sockets.at(-1).onclose({ code: 1006 });
    const before = env.sockets.length;
    env.pass(wait - 1);
    assert.equal(env.sockets.length, before);
    env.pass(1);
    assert.equal(env.sockets.length, before + 1);
  }
  assert.equal(env.sockets.at(-1).url, "/ws/runs/1/?since=7");
  assert.equal(states.at(-1), "connecting");
});

test("silence for 12 s is a dead connection", () => {
  const env = world();
  connect(env);
  env.say({ t: "hello", last: 0 });
  env.pass(11_000);
  env.say({ t: "beat", last: 0 });
  env.pass(11_000);
  assert.equal(env.sockets.length, 1);
  env.pass(1000);
  assert.equal(env.sockets[0].closed, true);
  env.pass(500);
  assert.equal(env.sockets.length, 2);
});

test("the network's return is tried at once, a healthy connection is left alone", () => {
  const env = world();
  connect(env);
  env.say({ t: "hello", last: 0 });
  env.handlers.online();
  assert.equal(env.sockets.length, 1);
  env.sockets.at(-1).onclose({ code: 1006 });
  env.handlers.online();
  assert.equal(env.sockets.length, 2);
});

test("missing rows are asked for again, a sign-out is not", () => {
  const env = world();
  const { states } = connect(env, (message) => message.t === "beat");
  env.say({ t: "hello", last: 0 });
  env.say({ t: "beat", last: 3 });
  assert.equal(env.sockets.length, 2);
  env.sockets.at(-1).onclose({ code: 4401 });
  env.pass(60_000);
  env.handlers.online();
  assert.equal(env.sockets.length, 2);
  assert.equal(states.at(-1), "signed-out");
});
