"""Instants: whole milliseconds, there and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments_app.core.instants import from_milliseconds, iso, milliseconds, parse_iso

instants = st.datetimes(
    datetime(2000, 1, 1), datetime(2999, 12, 31), timezones=st.just(UTC)
)  # fmt: skip


@given(st.integers(946_684_800_000, 32_503_680_000_000))
def test_milliseconds_there_and_back(ms: int) -> None:
    assert milliseconds(from_milliseconds(ms)) == ms
    assert milliseconds(parse_iso(iso(from_milliseconds(ms)))) == ms


@given(instants)
def test_iso_drops_what_is_below_a_millisecond(at: datetime) -> None:
    back = parse_iso(iso(at))
    assert timedelta(0) <= at - back < timedelta(milliseconds=1)


def test_other_zones_become_utc() -> None:
    at = datetime(2026, 3, 1, 14, 0, 0, 7_999, tzinfo=timezone(timedelta(hours=2)))
    assert iso(at) == "2026-03-01T12:00:00.007Z"


@pytest.mark.parametrize(
    "text", ["", "2026-03-01", "2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000+00:00",
             "2026-02-30T12:00:00.000Z", "2026-03-01T12:00:00.000Z\n"],
)  # fmt: skip
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"instant|day"):
        parse_iso(text)
