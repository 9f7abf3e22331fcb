"""Following a run on a terminal, from the database, as the page does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from experiments_app.archive.arms import planned_groups
from experiments_app.cli.common import say
from experiments_app.cli.text import cpu_time, cpus, latency, time_text
from experiments_app.core.workloads import Result
from experiments_app.live.replay import position, rows_between
from experiments_app.models import Run

LOOK_EVERY = 0.2


class Follower:
    """Prints what happens in a run to standard error, each thing once."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._last = 0
        run = Run.objects.get(number=number)
        repeats = list(run.repeats.all())
        groups = planned_groups(run.plan)
        self._arms = {repeat.pk: (repeat.arm_name, repeat.n) for repeat in repeats}
        self._groups = {repeat.pk: groups[repeat.arm] for repeat in repeats}

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
                groups = self._groups[row["repeat"]]
                if row["group"] not in groups.results:
                    return ""
                text = _round_text(groups.result, row)
                unit = f" {row['group']}" if len(groups.results) > 1 else ""
                return f"{where}{unit}: {text}" if text else ""
        return ""


def _round_text(result: Result | None, row: dict[str, Any]) -> str:
    """A round of an arm's result, by what it is judged by; empty where it tells no figure."""
    if result == "wall_us":
        throttled = row["throttled_us"]
        paused = f", paused {cpu_time(throttled)} so far" if throttled else ""
        return f"round {row['n']} took {time_text(row['wall_us'])}{paused}"
    if result == "cpu":
        usage, window = row["usage_us"], row["window_us"]
        got = None if usage is None or not window else (usage * 1000 + window // 2) // window
        return f"report {row['n']}: {cpus(got)} CPUs"
    measure = row.get("measures", {}).get(result)
    if measure is None:
        return ""
    figures = [f"{name} {latency(measure[name])}" for name in ("p50", "p99", "max")
               if measure[name] is not None]  # fmt: skip
    failed = [f"{number} {kind}" for kind, number in measure["errors"].items() if number]
    return ", ".join([f"second {row['n']}: {measure['n']} answered", *figures, *failed])
