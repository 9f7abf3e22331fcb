"""Signs of life of the process that runs a run, and how it learns that it must stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog
from django.db import Error as DatabaseError
from django.db import connection
from django.db.models import F

from experiments_app.models import Run, RunStatus
from experiments_app.runs.claim import Claim
from experiments_app.runs.stop import Stop, StopReason

log = structlog.get_logger(__name__)

CANCELLED = StopReason("cancelled", "Cancelled.")
TAKEN = StopReason("fence-lost", "The run was ended or taken over by another process.")
UNREACHABLE = StopReason(
    "database-lost",
    "The database could not be reached for longer than the lease, so the run was given up.",
    "Check the database, then run it again.",
)


class Heartbeat:
    """A thread that counts the run's heartbeat up, once a second, and watches for a cancel.

    `lease_seconds` is how long it may fail to write before the run stops by itself: after
    that, others may have taken the run to be abandoned.
    """

    def __init__(
        self,
        *,
        claim: Claim,
        stop: Stop,
        lease_seconds: float,
        every: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._claim = claim
        self._stop = stop
        self._lease = lease_seconds
        self._every = every
        self._clock = clock
        self._done = threading.Event()
        self._seen = clock()
        self._thread = threading.Thread(target=self._loop, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join(timeout=10)

    def beat(self) -> None:
        """One sign of life; asks for a stop on cancel, lost fence or a lost database."""
        try:
            mine = Run.objects.filter(
                number=self._claim.number, fence=self._claim.fence, status=RunStatus.RUNNING
            )
            if not mine.update(heartbeat=F("heartbeat") + 1):
                self._stop.request(TAKEN)
                return
            self._seen = self._clock()
            if mine.filter(cancel_requested_at__isnull=False).exists():
                self._stop.request(CANCELLED)
        except DatabaseError as error:
            connection.close()
            silent = self._clock() - self._seen
            log.warning("heartbeat not written", run=self._claim.number, error=str(error))
            if silent > self._lease:
                self._stop.request(UNREACHABLE)

    def _loop(self) -> None:
        try:
            while not self._done.wait(self._every):
                self.beat()
        finally:
            connection.close()
