"""CPU quantities, durations and limits."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments_app.core.errors import SpecError
from experiments_app.core.quantity import (
    MAX_MILLI,
    CpuMax,
    format_cpu,
    format_cpu_max,
    format_duration,
    limit_to_quota,
    parse_cpu,
    parse_cpu_max,
    parse_duration,
    say_duration,
)


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("none", None),
        ("0", 0),
        ("500m", 500),
        ("2", 2000),
        ("+2", 2000),
        ("2.", 2000),
        (".5", 500),
        ("1.5", 1500),
        ("0.1", 100),
        ("0.001", 1),
        ("1e3", 1_000_000),
        ("1E3", 1_000_000),
        ("25e-2", 250),
        ("2e+1", 20_000),
        ("1k", 1_000_000),
        ("1Ki", 1_024_000),
        ("1M", 10**9),
        ("1000u", 1),
        ("500000u", 500),
        ("1000000n", 1),
        ("-0", 0),
    ],
)
def test_a_cpu_quantity_is_read_as_kubernetes_reads_it(text: str, milli: int | None) -> None:
    assert parse_cpu(text) == milli


def test_a_quantity_beyond_64_bits_is_refused() -> None:
    with pytest.raises(SpecError, match="larger than a quantity"):
        parse_cpu("1E")


@pytest.mark.parametrize("text", ["0.5m", "100u", "1n", "0.0001", "1e-4", "1.0005"])
def test_finer_than_one_milli_is_refused_as_kubernetes_refuses_it(text: str) -> None:
    with pytest.raises(SpecError, match="precision finer than 1m") as error:
        parse_cpu(text)
    assert text in error.value.message
    assert error.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "2 ",
        "m",
        ".",
        "1.5.5",
        "2cpu",
        "500M i",
        "0x10",
        "1e",
        "1e3m",
        "١",
        "None",
        "-1",
        "-500m",
        "1e999",
        "1e-999",
        "9" * 100,
        "nan",
        "inf",
        "1_000",
        "1\n",
    ],
)
def test_what_is_no_cpu_quantity_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(SpecError) as error:
        parse_cpu(text)
    assert error.value.remedy
    assert error.value.message.isprintable()


@settings(deadline=None)
@given(st.one_of(st.none(), st.integers(0, MAX_MILLI)))
def test_cpu_round_trip(milli: int | None) -> None:
    assert parse_cpu(format_cpu(milli)) == milli


@settings(deadline=None)
@given(st.integers(0, 10**12))
def test_a_decimal_means_the_same_as_milli(milli: int) -> None:
    assert parse_cpu(f"{milli // 1000}.{milli % 1000:03d}") == parse_cpu(f"{milli}m") == milli


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("0", 0),
        ("0s", 0),
        ("20ms", 20_000),
        ("1s", 1_000_000),
        ("1m30s", 90_000_000),
        ("250us", 250),
        ("250µs", 250),
        ("250\u03bcs", 250),
        ("1.037s", 1_037_000),
        ("3.75ms", 3_750),
        (".5s", 500_000),
        ("1h", 3_600_000_000),
        ("1h1ms", 3_600_001_000),
        ("5000ns", 5),
    ],
)
def test_a_duration_is_exact(text: str, us: int) -> None:
    assert parse_duration(text) == us


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("20", "has no unit"),
        ("1.5", "has no unit"),
        ("", "is not a duration"),
        ("ms", "is not a duration"),
        ("-5ms", "is not a duration"),
        ("20 ms", "is not a duration"),
        ("20ms ", "is not a duration"),
        ("1d", "is not a duration"),
        ("1s5", "is not a duration"),
        ("1..5s", "is not a duration"),
        ("500ns", "finer than a microsecond"),
        ("0.0001ms", "finer than a microsecond"),
        ("1" * 100 + "s", "is not a duration"),
    ],
)
def test_a_wrong_duration_says_why(text: str, why: str) -> None:
    with pytest.raises(SpecError, match=why) as error:
        parse_duration(text)
    assert error.value.remedy


@settings(deadline=None)
@given(st.integers(0, 10**15))
def test_duration_round_trip(us: int) -> None:
    assert parse_duration(format_duration(us)) == us


@pytest.mark.parametrize(
    ("us", "text", "said"),
    [
        (0, "0s", "0 s"),
        (250, "250us", "250 us"),
        (3_750, "3.75ms", "3.75 ms"),
        (160_000, "160ms", "160 ms"),
        (1_037_000, "1.037s", "1.037 s"),
        (90_500_000, "1m30.5s", "1 min 30.5 s"),
        (3_600_000_000, "1h", "1 h"),
    ],
)
def test_a_duration_is_written_as_a_person_would(us: int, text: str, said: str) -> None:
    assert format_duration(us) == text
    assert say_duration(us) == said


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("max 100000", CpuMax(None, 100_000)),
        ("max 100000\n", CpuMax(None, 100_000)),
        ("50000 100000", CpuMax(50_000, 100_000)),
        ("50000", CpuMax(50_000, 100_000)),
        ("max", CpuMax(None, 100_000)),
        ("5000 10000", CpuMax(5_000, 10_000)),
    ],
)
def test_cpu_max_is_read(text: str, limit: CpuMax) -> None:
    assert parse_cpu_max(text) == limit


@pytest.mark.parametrize(
    "text", ["", "x", "-1 100000", "1 2 3", "50000 max", "1.5 100000", "1 0", "²", "9" * 30]
)
def test_what_is_no_cpu_max_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match=r"cpu\.max|period of 0"):
        parse_cpu_max(text)


@settings(deadline=None)
@given(st.one_of(st.none(), st.integers(1_000, 10**12)), st.integers(1_000, 1_000_000))
def test_cpu_max_round_trip(quota_us: int | None, period_us: int) -> None:
    limit = CpuMax(quota_us, period_us)
    assert parse_cpu_max(format_cpu_max(limit)) == limit


def test_a_limit_becomes_quota_and_period() -> None:
    assert limit_to_quota(None).limit == CpuMax(None, 100_000)
    assert limit_to_quota(500).limit == CpuMax(50_000, 100_000)
    assert limit_to_quota(2000, 10_000).limit == CpuMax(20_000, 10_000)
    assert limit_to_quota(10).note == ""
    assert CpuMax(20_000, 10_000).millicpu == Fraction(2000)
    assert CpuMax(None).millicpu is None


def test_a_limit_below_the_kernels_smallest_quota_says_what_it_acts_as() -> None:
    small = limit_to_quota(5)
    assert small.limit == CpuMax(1_000, 100_000)
    assert "5m acts as 10m" in small.note
    assert "50m acts as 100m" in limit_to_quota(50, 10_000).note


@pytest.mark.parametrize("period_us", [0, -1, 999, 1_000_001])
def test_a_period_that_the_kernel_refuses_is_refused(period_us: int) -> None:
    with pytest.raises(SpecError, match="outside what the kernel takes"):
        limit_to_quota(500, period_us)


def test_a_limit_of_nothing_is_refused() -> None:
    with pytest.raises(SpecError, match="lets nothing run"):
        limit_to_quota(0)


def test_negative_values_are_a_programming_error() -> None:
    with pytest.raises(ValueError, match="negative"):
        format_cpu(-1)
    with pytest.raises(ValueError, match="negative"):
        format_duration(-1)
