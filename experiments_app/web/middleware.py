"""What every page is sent with."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_only_middleware

Handler = Callable[[HttpRequest], HttpResponseBase]


@sync_only_middleware
def no_store(get_response: Handler) -> Handler:
    """Pages hold what only signed-in people may see: no cache keeps them after signing out."""

    def handle(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response

    return handle
