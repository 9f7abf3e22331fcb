"""Database calls from the event loop, on a few threads of their own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async

P = ParamSpec("P")
T = TypeVar("T")

# A page that takes long to render must not hold up what is live.
_threads = ThreadPoolExecutor(max_workers=3, thread_name_prefix="live")
# What is new must not queue up behind the replays of a crowd that arrives at once.
_first = ThreadPoolExecutor(max_workers=1, thread_name_prefix="live-first")


async def in_database(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking query on the live threads; connections are closed when stale."""
    wrapped = database_sync_to_async(call, thread_sensitive=False, executor=_threads)
    result: T = await wrapped(*args, **kwargs)
    return result


async def at_once(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for the readers, on a thread of their own."""
    wrapped = database_sync_to_async(call, thread_sensitive=False, executor=_first)
    result: T = await wrapped(*args, **kwargs)
    return result
