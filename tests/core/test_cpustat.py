"""Counters as the kernel writes them, and as they arrive when something goes wrong."""

from __future__ import annotations

import itertools
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments_app.core.cpustat import (
    MAX_U64,
    CpuStat,
    FileGone,
    Reading,
    Usage,
    Version,
    add_counters,
    delta,
    parse_cpu_stat,
    parse_cpuacct_usage,
    throttled_bound_us,
    within_throttled_bound,
)
from experiments_app.core.records import Counters, Sample

V2 = """usage_usec 1602003
user_usec 1500000
system_usec 102003
nice_usec 0
core_sched.force_idle_usec 0
nr_periods 22
nr_throttled 10
throttled_usec 1301600
nr_bursts 1
burst_usec 20
"""
V1 = "nr_periods 22\nnr_throttled 10\nthrottled_time 1301600999\nnr_bursts 0\nburst_time 0\n"


def kinds(stat: CpuStat | Usage) -> list[tuple[str, str]]:
    return [(problem.kind, problem.key) for problem in stat.problems]


def test_v2_is_read_and_unknown_keys_do_not_matter() -> None:
    assert parse_cpu_stat(V2, 2) == CpuStat(
        version=2,
        usage_us=1_602_003,
        user_us=1_500_000,
        system_us=102_003,
        nr_periods=22,
        nr_throttled=10,
        throttled_us=1_301_600,
        nr_bursts=1,
        burst_us=20,
    )


def test_v1_counts_nanoseconds_and_keeps_usage_elsewhere() -> None:
    stat = parse_cpu_stat(V1, 1)
    assert stat.throttled_us == 1_301_600
    assert stat.usage_us is None
    assert stat.with_usage(parse_cpuacct_usage("1602003999\n")).usage_us == 1_602_003
    assert stat.problems == ()


def test_a_group_without_a_limit_has_no_counters_rather_than_zero() -> None:
    """cadvisor #3154: absent counters are not zero throttles."""
    stat = parse_cpu_stat("usage_usec 5\nuser_usec 3\nsystem_usec 2\n", 2)
    assert (stat.usage_us, stat.nr_periods, stat.nr_throttled, stat.throttled_us) == (
        5,
        None,
        None,
        None,
    )
    assert stat.problems == ()


def test_the_keys_of_the_other_version_are_unknown() -> None:
    assert parse_cpu_stat(V1, 2).throttled_us is None
    assert parse_cpu_stat(V2, 1).throttled_us is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nr_periods 1\nnr_periods 2\n", ("doubled", "nr_periods")),
        ("nr_periods 1\nnr_periods 1\n", ("doubled", "nr_periods")),
        ("nr_periods 12", ("truncated", "nr_periods")),
        ("nr_periods ", ("truncated", "nr_periods")),
        ("nr_periods", ("truncated", "nr_periods")),
        ("nr_per", ("truncated", "nr_per")),
        ("nr_periods\n", ("garbled", "nr_periods")),
        ("nr_periods x\n", ("garbled", "nr_periods")),
        ("nr_periods -1\n", ("garbled", "nr_periods")),
        ("nr_periods 1 2\n", ("garbled", "nr_periods")),
        ("nr_periods 1.5\n", ("garbled", "nr_periods")),
        ("nr_periods ²\n", ("garbled", "nr_periods")),
        (f"nr_periods {MAX_U64 + 1}\n", ("overflow", "nr_periods")),
        (f"nr_periods {'9' * 5000}\n", ("overflow", "nr_periods")),
        ("\x00\x00\x00\n", ("garbled", "\x00\x00\x00")),
    ],
)
def test_what_cannot_be_trusted_is_none_and_named(text: str, problem: tuple[str, str]) -> None:
    stat = parse_cpu_stat("usage_usec 5\n" + text, 2)
    assert stat.nr_periods is None
    assert stat.usage_us == 5
    assert kinds(stat) == [problem]


def test_a_third_line_of_the_same_key_does_not_bring_it_back() -> None:
    assert parse_cpu_stat("nr_periods 1\n" * 3, 2).nr_periods is None


def test_the_largest_counter_is_taken() -> None:
    assert parse_cpu_stat(f"nr_periods {MAX_U64}\n", 2).nr_periods == MAX_U64


def test_an_empty_read_is_all_none() -> None:
    assert parse_cpu_stat("", 2) == CpuStat(version=2)


@pytest.mark.parametrize(
    ("text", "usage_us", "problem"),
    [
        ("1999\n", 1, []),
        ("0\n", 0, []),
        ("1999", None, [("truncated", "cpuacct.usage")]),
        ("", None, [("truncated", "cpuacct.usage")]),
        ("\n", None, [("garbled", "cpuacct.usage")]),
        ("1 2\n", None, [("garbled", "cpuacct.usage")]),
        (f"{MAX_U64 + 1}\n", None, [("overflow", "cpuacct.usage")]),
    ],
)
def test_cpuacct_usage(text: str, usage_us: int | None, problem: list[tuple[str, str]]) -> None:
    usage = parse_cpuacct_usage(text)
    assert usage.usage_us == usage_us
    assert kinds(usage) == problem


@settings(deadline=None)
@given(st.text(max_size=200), st.sampled_from([1, 2]))
def test_no_text_makes_the_parsers_fail(text: str, version: Version) -> None:
    parse_cpu_stat(text, version)
    parse_cpuacct_usage(text)


@settings(deadline=None)
@given(st.integers(0, len(V2)))
def test_a_read_cut_anywhere_never_gives_a_wrong_number(cut: int) -> None:
    whole, part = parse_cpu_stat(V2, 2), parse_cpu_stat(V2[:cut], 2)
    for field in fields(CpuStat):
        if field.name not in {"version", "problems"}:
            assert getattr(part, field.name) in {None, getattr(whole, field.name)}


def reading(mono_us: int, generation: int | None = 7, version: Version = 2, **kw: Any) -> Reading:
    return Reading(mono_us, CpuStat(version, **kw), generation)


def test_a_delta_is_the_gain_over_its_window() -> None:
    a = reading(1_000, usage_us=5, nr_periods=1, throttled_us=100)
    b = reading(3_000, usage_us=9, nr_periods=1, throttled_us=350)
    assert delta(a, b) == Counters(2_000, usage_us=4, nr_periods=0, throttled_us=250)


def test_a_field_absent_in_one_reading_is_none() -> None:
    gained = delta(reading(0, usage_us=5), reading(10, usage_us=9, nr_periods=3))
    assert gained == Counters(10, usage_us=4)


def test_a_smaller_value_is_a_reset_of_the_whole_file() -> None:
    gained = delta(reading(0, usage_us=5, nr_periods=9), reading(10, usage_us=9, nr_periods=3))
    assert gained == Counters(10)


def test_on_v1_usage_is_another_controller_and_keeps_its_own() -> None:
    a = reading(0, version=1, usage_us=5, nr_periods=9)
    b = reading(10, version=1, usage_us=2, nr_periods=11)
    assert delta(a, b) == Counters(10, nr_periods=2)
    unknown = reading(0, None, version=1, usage_us=5, nr_periods=9)
    assert delta(unknown, b) == Counters(10)


def test_another_generation_is_all_none() -> None:
    assert delta(reading(0, 7, usage_us=5), reading(10, 8, usage_us=9)) == Counters(10)


def test_readings_in_the_wrong_order_are_a_programming_error() -> None:
    with pytest.raises(ValueError, match="wrong order"):
        delta(reading(10), reading(0))


counters = st.fixed_dictionaries(
    {name: st.one_of(st.none(), st.integers(0, 50)) for name in ("usage_us", "nr_periods")}
)


@settings(deadline=None)
@given(counters, counters, st.sampled_from([1, 2]))
def test_no_delta_is_ever_negative(a: dict[str, int], b: dict[str, int], version: Version) -> None:
    gained = delta(reading(0, None, version, **a), reading(10, None, version, **b))
    for value in (gained.usage_us, gained.nr_periods):
        assert value is None or value >= 0


@settings(deadline=None)
@given(st.lists(st.integers(0, 100), min_size=2, max_size=10))
def test_deltas_of_adjoining_windows_add_up(gains: list[int]) -> None:
    at, readings = 0, [reading(0, usage_us=0)]
    for i, gain in enumerate(gains, 1):
        at += gain
        readings.append(reading(i * 10, usage_us=at))
    parts = [delta(a, b) for a, b in itertools.pairwise(readings)]
    assert add_counters(parts) == delta(readings[0], readings[-1])


def test_a_sum_with_something_unknown_is_unknown() -> None:
    assert add_counters([Counters(5, usage_us=1), Counters(5)]) == Counters(10)
    assert add_counters([]) == Counters(0)


def test_the_throttled_bound() -> None:
    assert throttled_bound_us(1_000, 2, 200) == 1_800
    assert throttled_bound_us(1_000, 1, 1_200) == 0
    assert within_throttled_bound(Counters(1_000, usage_us=200, throttled_us=1_800), 2) is True
    assert within_throttled_bound(Counters(1_000, usage_us=200, throttled_us=1_801), 2) is False
    assert within_throttled_bound(Counters(1_000, usage_us=200, throttled_us=1_801), 2, 1) is True
    assert within_throttled_bound(Counters(1_000, usage_us=200), 2) is None


def test_a_reading_becomes_a_sample() -> None:
    one = reading(5, usage_us=1, nr_throttled=2)
    assert one.sample() == Sample(5, 1, None, 2, None)


def test_a_vanished_file_is_a_value() -> None:
    assert FileGone("/x/cpu.stat", "no such device").path == "/x/cpu.stat"
