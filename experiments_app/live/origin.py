"""Sockets are for pages of this very host and port; a cookie alone knows no ports."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host


class SameOrigin:
    """Refuses a socket whose Origin is not the host that it was asked of, or none of ours."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1").lower()
        origin = headers.get(b"origin", b"").decode("latin-1").lower()
        if same_origin(host, origin):
            await self._application(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.close", "code": 4403})


def same_origin(host: str, origin: str) -> bool:
    """Whether a page of `origin` belongs to `host`, and `host` is one of ours."""
    domain, _ = split_domain_port(host)
    try:
        found = urlsplit(origin)
        same = found.scheme in ("http", "https") and found.netloc == host
    except ValueError:
        return False
    return same and bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)
