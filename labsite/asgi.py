"""ASGI entry: pages over HTTP, runs over WebSocket."""

from __future__ import annotations

import asyncio
import os
from functools import cache
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labsite.settings")
pages = get_asgi_application()


@cache
def sockets() -> Any:
    """The sockets' side: only pages of this host, with their session."""
    from channels.auth import AuthMiddlewareStack
    from channels.routing import URLRouter

    from experiments_app.live.origin import SameOrigin
    from experiments_app.live.routing import websocket_urlpatterns

    return SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))


class Application:
    """Serves the first page before the sockets' side, with its broker client, is imported."""

    def __init__(self) -> None:
        self._sockets: asyncio.Task[Any] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            serve = await self._load()
            await serve(scope, receive, send)
            return
        await pages(scope, receive, send)
        self._load()

    def _load(self) -> asyncio.Task[Any]:
        if self._sockets is None:
            self._sockets = asyncio.create_task(asyncio.to_thread(sockets))
        return self._sockets


application = Application()
