"""Targets as pages show them: their status, looked up at most every few seconds."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from experiments_app.archive.selectors import Queue, queue
from experiments_app.core.spec import Spec
from experiments_app.models import Run, RunStatus
from experiments_app.runs.wiring import registry
from experiments_app.targets.base import TargetStatus
from experiments_app.web import facts

KEEP_SECONDS = 10.0
_kept: dict[str, tuple[float, TargetStatus]] = {}
_lock = threading.Lock()


def statuses(*, fresh: bool = False) -> list[TargetStatus]:
    """Every configured target's status, in order.

    A look makes a real group and removes it, so an answer is kept for a few seconds.
    """
    targets = list(registry())
    with _lock:
        now = time.monotonic()
        stale = [
            target
            for target in targets
            if fresh or target.name not in _kept or now - _kept[target.name][0] > KEEP_SECONDS
        ]
        if stale:
            with ThreadPoolExecutor(max_workers=len(stale)) as pool:
                for status in pool.map(lambda target: target.status(), stale):
                    _kept[status.name] = (time.monotonic(), status)
        return [_kept[target.name][1] for target in targets]


def forget() -> None:
    """Look again next time; tests start from nothing."""
    _kept.clear()


def best_for(spec: Spec) -> TargetStatus | None:
    """The first ready target that an experiment runs on, real kernels before the model."""
    fitting = [status for status in statuses() if status.ready and status.kind in spec.targets]
    return min(fitting, key=lambda status: status.kind == "simulated", default=None)


def queues() -> list[Queue]:
    """What every machine with something to do does, and what waits for it."""
    busy = Run.objects.filter(status__in=(RunStatus.QUEUED, RunStatus.RUNNING))
    machines = busy.order_by("machine").values_list("machine", flat=True).distinct()
    return [queue(machine) for machine in machines]


@dataclass(frozen=True, slots=True)
class TargetLine:
    """A target on the Targets page, with its machine's queue."""

    status: TargetStatus
    queue: Queue
    facts: list[tuple[str, str]]
    shares_with: tuple[str, ...]

    @property
    def available(self) -> bool:
        """Whether this version can run there at all: a queue says nothing otherwise."""
        return all(problem.code != "not-available" for problem in self.status.problems)


def target_lines() -> list[TargetLine]:
    """Every target, looked at now, beside those it shares its machine with."""
    found = statuses(fresh=True)
    return [
        TargetLine(
            status,
            queue(status.machine),
            facts.rows(asdict(status.facts)),
            tuple(
                other.name
                for other in found
                if other.machine == status.machine and other.name != status.name
            ),
        )
        for status in found
    ]
