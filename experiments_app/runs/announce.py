"""Tells readers that rows were stored: a hint over the channel layer, never waited for."""

from __future__ import annotations

import asyncio
import threading
from functools import cache
from types import TracebackType

import structlog
from channels.layers import get_channel_layer

log = structlog.get_logger(__name__)


@cache
def broker_errors() -> tuple[type[BaseException], ...]:
    """What the channel layer and the doorbell raise while their server is away.

    Asked for when it is needed: the broker's client takes longer to import than a page takes
    to be served, and the first page needs none.
    """
    from kombu.exceptions import KombuError
    from redis.exceptions import RedisError

    return (RedisError, KombuError, OSError, TimeoutError, asyncio.IncompleteReadError)


def group_name(number: int) -> str:
    """The channel group of a run's readers."""
    return f"run.{number}"


def silent(number: int, last: int) -> None:
    """Announces nothing: for a run without a lab around it."""


class Announcer:
    """A thread that sends (run, last seq); only the newest of a run is worth sending.

    A broker that is away costs nothing but the hint: readers also look at the database.
    """

    def __init__(self) -> None:
        self._news: dict[int, int] = {}
        self._ready = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="announcer", daemon=True)

    def __enter__(self) -> Announcer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._ready:
            self._closed = True
            self._ready.notify_all()
        self._thread.join(timeout=5)

    def __call__(self, number: int, last: int) -> None:
        with self._ready:
            self._news[number] = max(last, self._news.get(number, 0))
            self._ready.notify_all()

    def _run(self) -> None:
        # The thread itself waits, not the loop: an executor's thread that waits for news
        # would keep the process from ending.
        with asyncio.Runner() as runner:
            while (news := self._take()) is not None:
                for number, last in news.items():
                    runner.run(self._send(number, last))

    async def _send(self, number: int, last: int) -> None:
        message = {"type": "run.rows", "run": number, "last": last}
        try:
            layer = get_channel_layer()
            await asyncio.wait_for(layer.group_send(group_name(number), message), 2)
        except broker_errors() as error:
            log.warning("readers not told", run=number, error=str(error))
            await asyncio.sleep(0.5)

    def _take(self) -> dict[int, int] | None:
        with self._ready:
            self._ready.wait_for(lambda: self._news or self._closed)
            if not self._news:
                return None
            news, self._news = self._news, {}
            return news
