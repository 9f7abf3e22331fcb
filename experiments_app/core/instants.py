"""Instants as pages, documents and events carry them: UTC, whole milliseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


def milliseconds(at: datetime) -> int:
    """Epoch milliseconds, rounded down, in whole numbers.

    Through a float (`timestamp() * 1000`), an instant of .123 s can come out as .122.
    """
    return (at - _EPOCH) // _MS


def from_milliseconds(ms: int) -> datetime:
    """The instant again; `milliseconds` of it is `ms`."""
    return _EPOCH + ms * _MS


def iso(at: datetime) -> str:
    """ISO 8601 in UTC with milliseconds, as `2026-01-31T12:00:00.123Z`."""
    return from_milliseconds(milliseconds(at)).strftime("%Y-%m-%dT%H:%M:%S.") + (
        f"{milliseconds(at) % 1000:03d}Z"
    )


def parse_iso(text: str) -> datetime:
    """The instant of what `iso` wrote. Raises ValueError for any other form."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text, re.ASCII):
        raise ValueError(f"not an instant in UTC with milliseconds: {text[:40]}")
    return datetime.fromisoformat(text)
