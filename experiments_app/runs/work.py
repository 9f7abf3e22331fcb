"""What a worker does when the bell rings: take and run what is queued, one after another."""

from __future__ import annotations

import threading
from collections.abc import Callable

from experiments_app.models import Run, RunStatus
from experiments_app.runs.claim import claim_next
from experiments_app.runs.execute import Execution, execute
from experiments_app.runs.owner import me, surely_dead
from experiments_app.runs.reap import GONE, end_abandoned
from experiments_app.runs.stop import Stop, StopReason
from experiments_app.runs.sweep import sweep
from experiments_app.targets.registry import Registry

SHUTDOWN = StopReason(
    "shutdown",
    "The lab was shut down while it ran.",
    "What was measured until then is kept. Run it again.",
)


class Worker:
    """Runs the runs of one machine, one at a time, until its queue is empty or it must stop."""

    def __init__(
        self,
        *,
        machine: str,
        registry: Registry,
        lab: str,
        announce: Callable[[int, int], None],
        lease_seconds: float,
    ) -> None:
        self._machine = machine
        self._registry = registry
        self._lab = lab
        self._announce = announce
        self._lease = lease_seconds
        self._lock = threading.Lock()
        self._stop = Stop()
        self._down = False

    def shut_down(self) -> None:
        """Let the current run end as interrupted and take no other; safe in a signal handler."""
        self._down = True
        self._stop.request(SHUTDOWN)

    def drain(self, *, only: int | None = None) -> list[int]:
        """Run what is queued (or only run `only`); returns the numbers of what was run."""
        done: list[int] = []
        with self._lock:
            while not self._down:
                self._bury_the_dead()
                claim = claim_next(machine=self._machine, owner=me(), only=only)
                if claim is None:
                    break
                self._stop = Stop()
                if self._down:
                    self._stop.request(SHUTDOWN)
                run = Run.objects.get(number=claim.number)
                execute(
                    claim,
                    Execution(
                        target=self._registry.get(run.target),
                        lab=self._lab,
                        stop=self._stop,
                        announce=self._announce,
                        lease_seconds=self._lease,
                    ),
                )
                done.append(claim.number)
        return done

    def _bury_the_dead(self) -> None:
        """A predecessor that was killed may have left its run open and things on the target."""
        for run in Run.objects.filter(machine=self._machine, status=RunStatus.RUNNING):
            if surely_dead(run.owner):
                end_abandoned(run, GONE)
        for target in self._registry:
            if target.machine == self._machine:
                sweep(target=target, lab=self._lab)
