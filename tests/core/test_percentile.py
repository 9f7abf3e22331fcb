"""Nearest-rank percentiles, and where they keep silent."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments_app.core.percentile import Summary, needed, percentile, summarise


@pytest.mark.parametrize(
    ("percent", "n"), [("90", 10), ("95", 20), ("99", 100), ("99.9", 1_000), ("99.99", 10_000)]
)
def test_a_percentile_needs_enough_values_to_differ_from_the_maximum(percent: str, n: int) -> None:
    assert needed(Fraction(percent)) == n
    assert percentile(range(n - 1), percent) is None
    found = percentile(range(n), percent)
    assert found is not None
    assert found < n - 1


def test_nearest_rank() -> None:
    assert percentile([10, 20, 30, 40], "50") == 20
    assert percentile([10, 20, 30, 40, 50], "50") == 30
    assert percentile(range(1, 21), "95") == 19
    assert percentile(range(1, 101), "99") == 99
    assert percentile(range(1, 1_001), "99.9") == 999
    assert percentile([7], "50") == 7
    assert percentile([], "50") is None


@pytest.mark.parametrize("percent", ["0", "100", "-1", "101"])
def test_the_ends_are_no_percentiles(percent: str) -> None:
    with pytest.raises(ValueError, match="between 0 and 100"):
        percentile([1], percent)


def test_a_summary_leaves_out_what_was_not_measured() -> None:
    assert summarise([3, None, 1, 2]) == Summary(3, 2, None, None, 3, 1)
    assert summarise([None]) == Summary(0, None, None, None, None, None)
    assert summarise(range(1, 21)).p95 == 19
    assert summarise(range(1, 101)).p99 == 99


@settings(deadline=None)
@given(st.lists(st.integers(), min_size=1), st.sampled_from(["25", "50", "95", "99"]))
def test_a_percentile_has_its_share_at_or_below(values: list[int], percent: str) -> None:
    found = percentile(sorted(values), percent)
    if found is not None:
        assert found in values
        at_or_below = sum(value <= found for value in values)
        assert at_or_below * 100 >= int(percent) * len(values)
