"""The page of a run with 10,000 rounds: no task may hold up the page once it is loaded."""

from __future__ import annotations

from bench.browser import chromium, signed_in
from bench.figure import Figure
from tests.lab_process import LabProcess

WATCH = """
window.__tasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.__tasks.push([entry.startTime, entry.duration]);
}).observe({ type: "longtask", buffered: true });
"""

# Long tasks after the load event: whole list, so that a person can see them all.
READ = """() => {
  const load = performance.getEntriesByType("navigation")[0].loadEventEnd;
  return window.__tasks.filter(([start]) => start >= load).map(([, duration]) => duration);
}"""


def measure(lab: LabProcess, number: int) -> list[Figure]:
    """Open the page, wait until it has everything, look at its tasks over 50 ms after load."""
    with chromium() as browser:
        page = signed_in(browser, lab).new_page()
        page.add_init_script(WATCH)
        page.goto(f"{lab.base}/runs/{number}/")
        page.locator("[data-role=connection].ended").wait_for(timeout=120_000)
        page.wait_for_timeout(3_000)
        tasks: list[float] = page.evaluate(READ)
        ready = page.evaluate("() => performance.now()") - 3_000
    return [
        Figure("page", "longest task after load", max(tasks, default=0.0), "ms", 50),
        Figure("page", "tasks over 50 ms after load", float(len(tasks)), "tasks", 0),
        Figure("page", "until all of it was there", ready, "ms"),
    ]
