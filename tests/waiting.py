"""Waiting for a condition instead of a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T | None], what: str, *, seconds: float = 20) -> T:
    """The first true value of `condition`; fails saying what was waited for."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds:g} s in vain until {what}")
        time.sleep(0.02)
