"""HDR histograms: read, added up, and nearest-rank percentiles of them."""

from __future__ import annotations

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from experiments_app.core.latencies import BadHistogram, Latencies, decode, summarise_measure
from experiments_app.core.percentile import percentile
from experiments_app.core.records import Measure


def encoded(values: list[int]) -> str:
    histogram = HdrHistogram(1, 3_600_000_000, 3)
    for value in values:
        histogram.record_value(value)
    return str(histogram.encode().decode())


def measure(values: list[int], **errors: int) -> Measure:
    return Measure("work_us", encoded(values), max(values, default=None), errors)


@given(st.lists(st.integers(1, 50_000_000), min_size=1, max_size=300))
def test_percentiles_are_nearest_rank_within_the_buckets_width(values: list[int]) -> None:
    found = summarise_measure(measure(values))
    ordered = sorted(values)
    for percent, got in (("50", found.p50), ("90", found.p90), ("99", found.p99)):
        exact = percentile(ordered, percent)
        if exact is None:
            assert got is None
        else:
            assert got is not None
            assert exact <= got <= exact + exact // 1000 + 1
    assert found.max == ordered[-1]
    assert found.n == len(values)


@given(
    st.lists(st.integers(1, 10_000_000), max_size=50), st.lists(st.integers(1, 1000), max_size=50)
)
def test_adding_up_is_the_histogram_of_all(one: list[int], other: list[int]) -> None:
    both = Latencies()
    both.add(measure(one, timeout=2))
    both.add(measure(other, timeout=1, refused=4))
    assert dict(both.counts) == dict(decode(encoded(one + other)))
    assert both.summary().errors == {"timeout": 3, "refused": 4}


def test_nothing_measured_is_none_not_zero() -> None:
    empty = summarise_measure(Measure("ping_us", encoded([]), None))
    assert (empty.n, empty.p50, empty.max) == (0, None, None)


@pytest.mark.parametrize("text", ["", "HISTFAAAA", "not base64!", "A" * 300_000])
def test_what_is_no_histogram_is_refused(text: str) -> None:
    with pytest.raises(BadHistogram):
        decode(text)
