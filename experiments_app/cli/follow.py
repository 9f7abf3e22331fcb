"""Following a run on a terminal, from the database, as the page does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection
from rich import box
from rich.console import Console
from rich.table import Table

from experiments_app.archive.summary import arm_summaries
from experiments_app.cli.common import say
from experiments_app.cli.text import count, cpu_time, time_text
from experiments_app.core.plan import Plan
from experiments_app.live.replay import position, rows_between
from experiments_app.models import Run, RunStatus

LOOK_EVERY = 0.2


class Follower:
    """Prints what happens in a run to standard error, each thing once."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._last = 0
        self._arms = {
            repeat.pk: (repeat.arm_name, repeat.n)
            for repeat in Run.objects.get(number=number).repeats.all()
        }

    def look(self) -> bool:
        """Print what is new; True once the run has ended and everything was printed."""
        now = position(self._number)
        if now is None:
            return True
        for row in rows_between(self._number, self._last, now.last):
            text = self._text(row)
            if text:
                say(text)
        self._last = now.last
        return now.ended

    @contextmanager
    def in_background(self) -> Iterator[None]:
        done = threading.Event()

        def loop() -> None:
            try:
                while not done.wait(LOOK_EVERY):
                    self.look()
            finally:
                connection.close()

        thread = threading.Thread(target=loop, name="follower", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join(timeout=5)
            self.look()

    def _text(self, row: dict[str, Any]) -> str:
        arm, n = self._arms.get(row.get("repeat") or 0, ("", 0))
        where = f"{arm} #{n}" if arm else "run"
        match row["k"]:
            case "run":
                return f"run: {row['status']} {row.get('reason', '')}".rstrip()
            case "repeat":
                return f"{where}: {row['state']} {row['reason']}".rstrip()
            case "note":
                return f"{where}: {row['text']}"
            case "round":
                throttled = row["throttled_us"]
                return f"{where}: round {row['n']} took {time_text(row['wall_us'])}" + (
                    f", paused {cpu_time(throttled)} so far" if throttled else ""
                )
        return ""


def print_summary(run: Run) -> None:
    """A finished run as a table: each arm's walls and counters, with units."""
    console = Console()
    title = f"run {run.number}: {run.title} on {run.target}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("arm")
    for name in (
        "wall\np50",
        "wall\np95",
        "wall\nmax",
        "throttled\nperiods",
        "throttled\ntime",
        "CPU\nused",
    ):
        table.add_column(name, justify="right", no_wrap=True)
    limits = [arm.measured.containers[0].limits.quota_us for arm in Plan.from_dict(run.plan).arms]
    for arm in arm_summaries(run):
        summary = arm.summary
        # Without a limit the kernel counts no periods: its zeros would say "never throttled".
        limited = limits[arm.index] is not None
        periods = f"{count(summary.nr_throttled)} of {count(summary.nr_periods)}"
        table.add_row(
            arm.label,
            time_text(summary.wall_us.p50),
            time_text(summary.wall_us.p95),
            time_text(summary.wall_us.max),
            periods if limited else "no limit",
            cpu_time(summary.throttled_us) if limited else "no limit",
            cpu_time(summary.usage_us),
        )
    console.print(table)
    partly = run.status == RunStatus.FINISHED and run.failed_repeats
    state = "finished with failures" if partly else run.status
    words = f"{run.reason} {run.remedy}".strip()
    already = words.lower().startswith(state)
    console.print(words if already else f"{state}. {words}".strip(), highlight=False)
    if run.status == RunStatus.FINISHED:
        console.print(
            "Throttled time is CPU time paused, summed over CPUs: never a share of the wall "
            "time. n/m: not measured; p95 needs 20 rounds.",
            style="dim",
        )
