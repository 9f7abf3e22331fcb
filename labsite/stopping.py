"""Stopping the supervisor by a signal, surely and once.

Circus drops a signal that comes while it is busy with another command, reloads on SIGHUP, and
shows a traceback on a second Ctrl-C. Here the first signal is kept until it can be obeyed, a
closed terminal counts as one, and the third gives up waiting.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from types import FrameType
from typing import Any

from circus.exc import ConflictError

RETRY_SECONDS = 0.1
GIVE_UP_AT = 3


class Stopping:
    """Signal handlers for one arbiter; install before its `start()`."""

    def __init__(self, arbiter: Any) -> None:
        self._arbiter = arbiter
        self._asked = 0

    def install(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._signalled)
        logging.getLogger("tornado.application").addFilter(_no_conflict)

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        self._asked += 1
        loop = self._arbiter.loop
        if loop is None:
            sys.exit(0)  # nothing has been started yet
        if self._asked == 1:
            _say("lab: stopping …")
            loop.add_callback_from_signal(self._stop)
        elif self._asked >= GIVE_UP_AT:
            # Its processes are tied to this one's life, and end with it.
            os._exit(1)
        else:
            _say("lab: still stopping; once more gives up waiting.")

    def _stop(self) -> None:
        try:
            self._arbiter.stop()
        except ConflictError:
            self._arbiter.loop.call_later(RETRY_SECONDS, self._stop)


def _no_conflict(record: logging.LogRecord) -> bool:
    """Circus looks at its programs while it stops them, and reports that it may not."""
    return not (record.exc_info and isinstance(record.exc_info[1], ConflictError))


def _say(text: str) -> None:
    """A handler must not wait for a lock of a buffered stream."""
    os.write(2, f"{text}\n".encode())
