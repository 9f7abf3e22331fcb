"""Ending the runs of owners that are gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from experiments_app.models import Run, RunStatus
from experiments_app.runs.ending import Ending, end_run
from experiments_app.runs.owner import surely_dead

log = structlog.get_logger(__name__)

GONE = Ending(
    RunStatus.INTERRUPTED,
    "worker-gone",
    "The worker that ran it is gone: it was killed or crashed, or its machine went down.",
    "What was measured until then is kept. Run it again.",
)
SILENT = Ending(
    RunStatus.INTERRUPTED,
    "worker-silent",
    "The worker that ran it gave no sign of life for longer than its lease.",
    "What was measured until then is kept. Look at the worker's log, then run it again.",
)
CANCELLED = Ending(
    RunStatus.CANCELLED,
    "cancelled",
    "Cancelled; its worker was gone already.",
)


def end_abandoned(run: Run, ending: Ending) -> bool:
    """End a run whose owner is gone, unless it has moved since `run` was read; whether it did.

    One that was asked to stop ends as cancelled.
    """
    if run.cancel_requested_at is not None:
        ending = CANCELLED
    final = end_run(
        number=run.number,
        ending=ending,
        status=RunStatus.RUNNING,
        fence=run.fence,
        heartbeat=run.heartbeat,
    )
    if final is not None:
        log.warning("run reaped", run=run.number, code=ending.code)
    return final is not None


@dataclass(frozen=True, slots=True)
class _Seen:
    fence: int
    heartbeat: int
    at: float


class Reaper:
    """Watches heartbeats by its own monotonic clock and ends what stands still.

    The clock stops while the machine sleeps, and no two machines' clocks are compared, so a
    closed laptop or a wrong clock costs no run. An owner on this very host whose process
    does not exist is gone for sure, and its run ends at once.
    """

    def __init__(
        self, *, lease_seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._lease = lease_seconds
        self._clock = clock
        self._seen: dict[int, _Seen] = {}

    def reap(self) -> list[Run]:
        """One look at every running run; returns those that it ended."""
        ended: list[Run] = []
        running = list(Run.objects.filter(status=RunStatus.RUNNING))
        for run in running:
            ending = self._verdict(run)
            if ending is None:
                continue
            if end_abandoned(run, ending):
                ended.append(run)
        alive = {run.number for run in running}
        self._seen = {number: seen for number, seen in self._seen.items() if number in alive}
        return ended

    def _verdict(self, run: Run) -> Ending | None:
        if surely_dead(run.owner):
            return GONE
        now = self._clock()
        seen = self._seen.get(run.number)
        if seen is None or (seen.fence, seen.heartbeat) != (run.fence, run.heartbeat):
            self._seen[run.number] = _Seen(run.fence, run.heartbeat, now)
            return None
        return SILENT if now - seen.at > self._lease else None
