"""A WebSocket to an ASGI application, without a server (channels' own needs daphne)."""

from __future__ import annotations

import json
from typing import Any

from asgiref.testing import ApplicationCommunicator


class Socket(ApplicationCommunicator):
    """`scope` may be changed before `connect`."""

    def __init__(
        self, application: Any, path: str, headers: list[tuple[bytes, bytes]] | None = None
    ) -> None:
        bare, _, query = path.partition("?")
        self.scope: dict[str, Any] = {
            "type": "websocket",
            "path": bare,
            "query_string": query.encode(),
            "headers": headers or [],
            "subprotocols": [],
        }
        super().__init__(application, self.scope)

    async def connect(self, *, timeout: float = 5) -> bool:
        """True when it was accepted."""
        await self.send_input({"type": "websocket.connect"})
        answer = await self.receive_output(timeout)
        return bool(answer["type"] == "websocket.accept")

    async def receive_json(self, *, timeout: float = 5) -> dict[str, Any]:
        message = await self.receive_output(timeout)
        found: dict[str, Any] = json.loads(message["text"])
        return found

    async def disconnect(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(5)
