"""Why a run has to stop, said once by whoever knows first."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from experiments_app.core.errors import Stopped


@dataclass(frozen=True, slots=True)
class StopReason:
    """`code` is cancelled, shutdown, fence-lost or database-lost."""

    code: str
    text: str
    remedy: str = ""


class Stop:
    """A flag that long work polls; the first reason given stays."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self.reason: StopReason | None = None

    def request(self, reason: StopReason) -> None:
        with self._lock:
            if self.reason is None:
                self.reason = reason
            self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()

    def wait(self, timeout: float) -> bool:
        return self._event.wait(timeout)

    def check(self) -> None:
        """Raise Stopped with the reason when one was given."""
        if self.reason is not None:
            raise Stopped(self.reason.text, remedy=self.reason.remedy, code=self.reason.code)
