"""One reader a process and run: reads what is new once and hands it to every subscriber."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass, field

import structlog
from channels.layers import get_channel_layer
from django.db import Error as DatabaseError

from experiments_app.live.database import at_once
from experiments_app.live.replay import Chunk, Position, chunks, position
from experiments_app.runs.announce import broker_errors, group_name

log = structlog.get_logger(__name__)

QUEUE_LENGTH = 64
LOOK_EVERY = 1.0


@dataclass(slots=True, eq=False)
class Subscription:
    """A bounded queue of one subscriber.

    It may lose chunks when its owner is slow: the owner sees the gap in their numbers and
    replays from the database. `wake` is set for news and for an overflow alike.
    """

    queue: deque[Chunk] = field(default_factory=lambda: deque(maxlen=QUEUE_LENGTH))
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    def offer(self, chunk: Chunk) -> None:
        self.queue.append(chunk)
        self.wake.set()


class RunReader:
    """Follows one run while anybody in this process watches it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.subscriptions: set[Subscription] = set()
        self.position: Position | None = None
        self._hint = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._listen(), name=f"listen-{self.number}"),
            asyncio.create_task(self._follow(), name=f"follow-{self.number}"),
        ]

    async def stop(self) -> None:
        """End both tasks. A cancellation that meets the broker's client while it connects is
        lost in it, so it is repeated until it is heard."""
        for task in self._tasks:
            while not task.done():
                task.cancel()
                await asyncio.wait([task], timeout=0.2)

    def hint(self) -> None:
        self._hint.set()

    async def _listen(self) -> None:
        """Turn messages of the channel layer into hints; survives a broker that goes away."""
        layer = get_channel_layer()
        while True:
            try:
                channel = await layer.new_channel("reader")
                await layer.group_add(group_name(self.number), channel)
                try:
                    while True:
                        await layer.receive(channel)
                        self.hint()
                finally:
                    await layer.group_discard(group_name(self.number), channel)
            except broker_errors() as error:
                log.warning("no hints for a while", run=self.number, error=str(error))
                await asyncio.sleep(1)

    async def _follow(self) -> None:
        """On a hint, and at least once a second, read what is new and hand it out."""
        while True:
            try:
                await self._read_new()
            except DatabaseError as error:
                # It comes back; those who watch wait.
                log.warning("run not read", run=self.number, error=str(error))
                await asyncio.sleep(1)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hint.wait(), LOOK_EVERY)
            self._hint.clear()

    async def _read_new(self) -> None:
        before = self.position
        now = await at_once(position, self.number)
        if now is None:
            return
        if before is not None and now.last > before.last:
            for chunk in await at_once(_all, self.number, before.last, now.last):
                for subscription in self.subscriptions:
                    subscription.offer(chunk)
        self.position = now
        if before is None or before.ended != now.ended:
            for subscription in self.subscriptions:
                subscription.wake.set()


def _all(number: int, after: int, upto: int) -> list[Chunk]:
    return list(chunks(number, after, upto))


class Readers:
    """The readers of this process, kept while they have subscribers."""

    def __init__(self) -> None:
        self._readers: dict[int, RunReader] = {}

    def subscribe(self, number: int) -> tuple[RunReader, Subscription]:
        reader = self._readers.get(number)
        if reader is None:
            reader = self._readers[number] = RunReader(number)
            reader.start()
        subscription = Subscription()
        reader.subscriptions.add(subscription)
        return reader, subscription

    async def unsubscribe(self, reader: RunReader, subscription: Subscription) -> None:
        reader.subscriptions.discard(subscription)
        if not reader.subscriptions and self._readers.get(reader.number) is reader:
            del self._readers[reader.number]
            await reader.stop()


readers = Readers()
