"""What a page does with the socket, in Python: the same rule as static/js/run-store.js."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from channels.routing import URLRouter
from django.contrib.auth.models import User

from experiments_app.live.routing import websocket_urlpatterns
from tests.live.sockets import Socket


@dataclass
class Client:
    """Keeps rows by the rule "ignore what is not newer"; reconnects from the last it has."""

    number: int
    user: User
    rows: list[dict[str, Any]] = field(default_factory=list)
    last: int = 0
    ended: bool = False
    _socket: Socket | None = None

    async def connect(self) -> None:
        path = f"/ws/runs/{self.number}/?since={self.last}"
        socket = Socket(URLRouter(websocket_urlpatterns), path)
        socket.scope["user"] = self.user
        assert await socket.connect()
        self._socket = socket

    async def drop(self) -> None:
        """Lose the connection; what was under way is lost with it."""
        if self._socket is not None:
            await self._socket.disconnect()
            self._socket = None

    async def read(self, *, seconds: float) -> bool:
        """Take one message in; False when none came."""
        assert self._socket is not None
        # Not receive_output: that ends the application when its time is up.
        try:
            message = await asyncio.wait_for(self._socket.output_queue.get(), seconds)
        except TimeoutError:
            return False
        if message["type"] == "websocket.send":
            self._take(json.loads(message["text"]))
        return True

    async def read_to_end(self) -> None:
        while not self.ended:
            assert await self.read(seconds=15), f"silence after row {self.last}"

    def _take(self, message: dict[str, Any]) -> None:
        if message["t"] == "rows":
            for row in message["rows"]:
                if row["s"] > self.last:
                    self.rows.append(row)
                    self.last = row["s"]
            self.last = max(self.last, message["last"])
        elif message["t"] == "end":
            self.ended = True
