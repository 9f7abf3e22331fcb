"""From a counter's reading to the pixel: a real run, fifty watchers, one of them Chromium."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import websockets

from bench.browser import chromium, signed_in
from bench.figure import Figure
from tests.lab_process import LabProcess
from tests.waiting import until

WATCHERS = 50
ROUNDS = 60

# After a message the page draws in the next frame; a message posted from within that frame
# is handled when it has been painted.
WATCH = """
window.__seen = [];
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...args) {
    super(...args);
    this.addEventListener("message", (event) => {
      const message = JSON.parse(event.data);
      if (message.t !== "rows") return;
      const frames = message.rows.filter((row) => row.k === "samples");
      if (!frames.length) return;
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => {
          const now = performance.timeOrigin + performance.now();
          for (const row of frames) window.__seen.push([row.t0, row.t1, row.count, now]);
        };
        channel.port2.postMessage(0);
      });
    });
  }
};
"""


def measure(lab: LabProcess) -> list[Figure]:
    """Latencies of every sample of a run, from its reading to the browser's paint."""
    with chromium() as browser:
        context = signed_in(browser, lab)
        cookie = "; ".join(f"{c['name']}={c['value']}" for c in context.cookies())
        page = context.new_page()
        page.add_init_script(WATCH)
        number = lab.queue(ROUNDS)
        page.goto(f"{lab.base}/runs/{number}/")
        crowd = Crowd(lab, number, cookie)
        crowd.start()
        # From here on everybody watches: what came before is a replay, not a latency.
        until(lambda: crowd.connected == WATCHERS - 1, "all watchers are connected")
        page.locator("[data-role=connection].live").wait_for()
        lab.until_rounds(number, len(lab.rounds(number)) + 2)
        page.evaluate("() => { window.__seen.length = 0; }")
        # The clocks of both sides, matched while the run goes on.
        offset_ms = (time.time() - time.monotonic()) * 1000
        lab.until_ended(number, seconds=120)
        seen: list[list[float]] = page.evaluate("() => window.__seen")
        crowd.join()
    latencies = sorted(_latencies(seen, offset_ms))
    return [
        Figure("live", "reading to paint p50", _rank(latencies, 0.5), "ms"),
        Figure("live", "reading to paint p99", _rank(latencies, 0.99), "ms", 250),
        Figure("live", "reading to paint max", latencies[-1], "ms"),
        Figure("live", "samples painted", float(len(latencies)), "samples"),
        Figure(
            "live", "watchers served to the end", float(crowd.served + 1), "watchers", 50, "higher"
        ),
    ]


def _latencies(seen: list[list[float]], offset_ms: float) -> list[float]:
    found: list[float] = []
    for t0, t1, count, painted in seen:
        step = (t1 - t0) / (count - 1) if count > 1 else 0
        found += [painted - ((t0 + i * step) / 1000 + offset_ms) for i in range(int(count))]
    return found


def _rank(ordered: list[float], share: float) -> float:
    """Nearest rank."""
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)]


class Crowd(threading.Thread):
    """The other watchers: plain sockets that read everything until the run's end."""

    def __init__(self, lab: LabProcess, number: int, cookie: str) -> None:
        super().__init__(daemon=True)
        self._url = f"{lab.base.replace('http', 'ws')}/ws/runs/{number}/?since=0"
        self._headers = {"Cookie": cookie, "Origin": lab.base}
        self.connected = 0
        self.served = 0

    def run(self) -> None:
        asyncio.run(self._all())

    async def _all(self) -> None:
        await asyncio.gather(*(self._one() for _ in range(WATCHERS - 1)))

    async def _one(self) -> None:
        last: Any = ""
        async with websockets.connect(
            self._url, additional_headers=self._headers, max_size=None
        ) as socket:
            self.connected += 1
            async for message in socket:
                last = message
        if '"t":"end"' in str(last):
            self.served += 1
