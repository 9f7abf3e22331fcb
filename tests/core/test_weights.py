"""Requests to shares and weights, against the published table."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments_app.core.weights import shares_from_milli, weight_linear, weight_new


@pytest.mark.parametrize(
    ("milli", "linear", "new"),
    [
        (10, 1, 4),
        (50, 2, 11),
        (100, 4, 17),
        (250, 10, 35),
        (500, 20, 59),
        (1_000, 39, 100),
        (2_000, 79, 174),
        (4_000, 157, 303),
        (8_000, 313, 532),
    ],
)
def test_the_published_weights(milli: int, linear: int, new: int) -> None:
    shares = shares_from_milli(milli)
    assert (weight_linear(shares), weight_new(shares)) == (linear, new)


def test_the_ends() -> None:
    assert [shares_from_milli(m) for m in (None, 0, 1, 2, 1_000, 10**9)] == [
        2,
        2,
        2,
        2,
        1024,
        262_144,
    ]
    assert [weight_linear(s) for s in (0, 2, 262_144, 10**9)] == [1, 1, 10_000, 10_000]
    assert [weight_new(s) for s in (0, 2, 262_144, 10**9)] == [1, 1, 10_000, 10_000]
    assert weight_linear(shares_from_milli(10_000)) == 391


@settings(deadline=None)
@given(st.integers(2, 262_143))
def test_more_shares_never_weigh_less(shares: int) -> None:
    assert weight_linear(shares) <= weight_linear(shares + 1)
    assert weight_new(shares) <= weight_new(shares + 1)
    assert 1 <= weight_new(shares) <= 10_000
