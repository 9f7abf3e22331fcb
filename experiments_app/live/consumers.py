"""The socket of a run page: replay from the database first, then forward, replay on any gap."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any
from urllib.parse import parse_qs

import structlog
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth.models import User
from django.db import Error as DatabaseError

from experiments_app.live.database import in_database
from experiments_app.live.reader import RunReader, Subscription, readers
from experiments_app.live.replay import chunks, position
from experiments_app.models import Role
from experiments_app.models.access import has_role

log = structlog.get_logger(__name__)

BEAT_SECONDS = 5.0
TRY_AGAIN = 1013
SIGNED_OUT, FORBIDDEN, NO_SUCH_RUN, BAD_REQUEST = 4401, 4403, 4404, 4400
LARGEST_SEQ = 2**53


class RunConsumer(AsyncWebsocketConsumer):
    """GET /ws/runs/<number>/?since=<seq>; see docs/protocols.md for the messages."""

    channel_layer_alias = "sockets"
    _task: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        await self.accept()
        refused = await in_database(refusal, self.scope)
        if refused is not None:
            await self.close(refused)
            return
        since = _since(self.scope.get("query_string", b""))
        if since is None:
            await self.close(BAD_REQUEST)
            return
        number = int(self.scope["url_route"]["kwargs"]["number"])
        if number > LARGEST_SEQ or await in_database(position, number) is None:
            await self.close(NO_SUCH_RUN)
            return
        self._task = asyncio.create_task(self._serve(number, since))

    async def disconnect(self, code: int) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A reader has nothing to say; what it sends is dropped."""

    async def _serve(self, number: int, since: int) -> None:
        # Subscribed before the first look at the database: nothing falls in between.
        reader, subscription = readers.subscribe(number)
        try:
            await Feed(self, reader, subscription, since).run()
        except DatabaseError as error:
            # The page comes back by itself and asks again from where it was.
            log.warning("feed ended", run=number, error=str(error))
            await self.close(TRY_AGAIN)
        finally:
            await readers.unsubscribe(reader, subscription)


class NoSuchSocket(AsyncWebsocketConsumer):
    """Any other address: closed in words, not by an error."""

    channel_layer_alias = "sockets"

    async def connect(self) -> None:
        await self.accept()
        await self.close(NO_SUCH_RUN)


def refusal(scope: Any) -> int | None:
    """The code to close with, where this socket's user may not watch (any more)."""
    user = scope.get("user")
    if user is None or not user.is_authenticated:
        return SIGNED_OUT
    session = scope.get("session")
    if session is not None and not session.exists(session.session_key or ""):
        return SIGNED_OUT
    now = User.objects.filter(pk=user.pk).first()
    return None if now is not None and has_role(now, Role.VIEWER) else FORBIDDEN


class Feed:
    """Sends one client every row once, in order: `last` is the newest number sent."""

    def __init__(
        self, consumer: RunConsumer, reader: RunReader, subscription: Subscription, since: int
    ) -> None:
        self._consumer = consumer
        self._reader = reader
        self._subscription = subscription
        self.last = since

    async def run(self) -> None:
        number = self._reader.number
        start = await in_database(position, number)
        if start is None:
            return
        self.last = min(self.last, start.last)
        await self._send(
            {
                "t": "hello",
                "run": number,
                "last": start.last,
                "status": start.status,
                "server_ms": int(time.time() * 1000),
            }
        )
        await self._catch_up()
        checked = time.monotonic()
        while not await self._at_end():
            await self._forward()
            # A socket must not outlive the right to it: signed out, or switched off.
            if time.monotonic() - checked >= BEAT_SECONDS:
                checked = time.monotonic()
                refused = await in_database(refusal, self._consumer.scope)
                if refused is not None:
                    await self._consumer.close(refused)
                    return

    async def _forward(self) -> None:
        """Wait for chunks and pass them on; a chunk that does not fit means one was lost."""
        subscription = self._subscription
        try:
            await asyncio.wait_for(subscription.wake.wait(), BEAT_SECONDS)
        except TimeoutError:
            await self._send({"t": "beat", "last": self.last})
        subscription.wake.clear()
        while subscription.queue:
            chunk = subscription.queue.popleft()
            if chunk.last <= self.last:
                continue
            if chunk.after == self.last:
                await self._consumer.send(text_data=chunk.text)
                self.last = chunk.last
            else:
                await self._catch_up()

    async def _catch_up(self) -> None:
        """Send everything up to the newest row, as it is when the last of it was read.

        Not only up to where a lost chunk ended: once a run's samples are compacted, what is
        read here lacks the frames that chunks still waiting have. Those must not come after
        it, as instants that are older than the newest are dropped.
        """
        number = self._reader.number
        while (now := await in_database(position, number)) is not None and self.last < now.last:
            while self.last < now.last:
                chunk = await in_database(_first_chunk, number, self.last, now.last)
                await self._consumer.send(text_data=chunk.text)
                self.last = chunk.last

    async def _at_end(self) -> bool:
        """After the last row of an ended run: say so and close."""
        where = self._reader.position
        if where is None or not where.ended:
            return False
        await self._catch_up()
        await self._send({"t": "end", "last": self.last})
        await self._consumer.close(1000)
        return True

    async def _send(self, message: dict[str, Any]) -> None:
        await self._consumer.send(text_data=json.dumps(message, separators=(",", ":")))


def _first_chunk(number: int, after: int, upto: int) -> Any:
    return next(chunks(number, after, upto))


def _since(query: bytes) -> int | None:
    values = parse_qs(query.decode("latin-1")).get("since", ["0"])
    text = values[-1]
    if not text.isascii() or not text.isdigit():
        return None
    number = int(text[:17])
    return number if number <= LARGEST_SEQ else None
