"""Figures of arms, repeats and groups, counted by hand."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from experiments_app.archive.summary import arm_summaries, spark, wall_spark, wall_sparks
from experiments_app.models import RepeatState, RunStatus
from tests.archive.support import WORKLOAD, a_run, add_rounds, set_totals

pytestmark = pytest.mark.django_db

SETTLED: dict[str, int | None] = {
    "usage_us": 10_000,
    "nr_periods": 2,
    "nr_throttled": 1,
    "throttled_us": 4_000,
    "nr_bursts": None,
    "burst_us": None,
    "run_delay_us": 300,
}


def test_outside_totals_are_preferred_and_said() -> None:
    run = a_run("500m")
    add_rounds(run, 0, [9_000, 7_000, 8_000], settled=SETTLED)
    set_totals(run, 0, window_us=200_000, usage_us=30_500, nr_periods=7, nr_throttled=3,
               throttled_us=12_100, nr_bursts=None, burst_us=None, run_delay_us=900)  # fmt: skip
    (arm,) = arm_summaries(run)
    figures = arm.summary
    assert (arm.name, arm.label, arm.scale, arm.partial) == ("arm-0", "arm-0", None, False)
    assert figures.counters_from == "outside"
    assert (figures.window_us, figures.usage_us, figures.nr_periods) == (200_000, 30_500, 7)
    assert (figures.nr_throttled, figures.throttled_us, figures.run_delay_us) == (3, 12_100, 900)
    assert (figures.nr_bursts, figures.burst_us) == (None, None)
    assert figures.avg_cpu_milli == 153  # 152.5 of 1000, to the nearest
    assert (figures.rounds, figures.rounds_counted, figures.rounds_throttled) == (3, 3, 3)
    walls = figures.wall_us
    assert (walls.n, walls.p50, walls.p95, walls.p99, walls.max) == (3, 8_000, None, None, 9_000)


def test_sums_of_settled_rounds_where_nothing_came_from_outside() -> None:
    run = a_run("500m")
    add_rounds(run, 0, [1, 2, 3, 4], settled=SETTLED, without=[4])
    (arm,) = arm_summaries(run)
    figures = arm.summary
    assert figures.counters_from == "rounds"
    assert (figures.window_us, figures.usage_us, figures.nr_periods) == (150_000, 30_000, 6)
    assert (figures.nr_throttled, figures.throttled_us, figures.run_delay_us) == (3, 12_000, 900)
    assert figures.nr_bursts is None
    assert figures.avg_cpu_milli == 200
    assert (figures.rounds, figures.rounds_counted) == (4, 3)


def test_nothing_measured_is_none_and_never_zero() -> None:
    run = a_run("none")
    add_rounds(run, 0, [5_000, 6_000])
    (arm,) = arm_summaries(run)
    figures = arm.summary
    assert figures.wall_us.p50 == 5_000
    for name in ("window_us", "usage_us", "nr_periods", "nr_throttled", "throttled_us",
                 "nr_bursts", "burst_us", "run_delay_us", "avg_cpu_milli", "rounds_throttled",
                 "counters_from"):  # fmt: skip
        assert getattr(figures, name) is None, name


def test_a_group_without_limit_has_usage_but_no_periods() -> None:
    run = a_run("none")
    add_rounds(run, 0, [5_000, 6_000], settled={"usage_us": 8_000})
    figures = arm_summaries(run)[0].summary
    assert (figures.usage_us, figures.nr_periods, figures.nr_throttled) == (16_000, None, None)
    assert (figures.rounds_counted, figures.rounds_throttled) == (0, None)
    assert figures.avg_cpu_milli == 160


def test_a_round_whose_counters_were_reset_is_left_out_with_its_window() -> None:
    run = a_run("500m")
    rounds = add_rounds(run, 0, [1, 2, 3], settled=SETTLED)
    for name in SETTLED:
        setattr(rounds[1], f"settled_{name}", 300 if name == "run_delay_us" else None)
    rounds[1].save()
    figures = arm_summaries(run)[0].summary
    assert (figures.window_us, figures.usage_us, figures.run_delay_us) == (100_000, 20_000, 600)
    assert (figures.rounds, figures.rounds_counted, figures.rounds_throttled) == (3, 2, 2)


def test_half_a_sum_is_no_sum() -> None:
    run = a_run("500m")
    rounds = add_rounds(run, 0, [1, 2], settled=SETTLED)
    rounds[0].settled_throttled_us = None
    rounds[0].save()
    figures = arm_summaries(run)[0].summary
    assert figures.throttled_us is None
    assert (figures.usage_us, figures.nr_throttled) == (20_000, 2)


def test_an_arm_adds_up_its_done_repeats_only() -> None:
    run = a_run("500m", repeats=3)
    for order, wall in enumerate((10, 20, 30)):
        add_rounds(run, order, [wall, wall + 1], settled=SETTLED)
    run.repeats.filter(order=1).update(state=RepeatState.FAILED, reason="It was killed.")
    (arm,) = arm_summaries(run)
    assert (arm.repeats_done, arm.repeats_failed, arm.partial) == (2, 1, False)
    assert (arm.summary.wall_us.n, arm.summary.wall_us.p50, arm.summary.usage_us) == (4, 11, 40_000)
    assert [(r.n, r.state, r.reason, r.summary.wall_us.max) for r in arm.repeats] == [
        (1, "done", "", 11),
        (2, "failed", "It was killed.", 21),
        (3, "done", "", 31),
    ]


def test_what_an_interrupted_repeat_measured_is_shown_as_partial() -> None:
    run = a_run("500m", "1", status=RunStatus.INTERRUPTED, state=RepeatState.FAILED)
    add_rounds(run, 0, [10, 20], settled=SETTLED, without=[2])
    first, second = arm_summaries(run)
    assert (first.partial, first.summary.wall_us.n, first.summary.usage_us) == (True, 2, 10_000)
    assert (second.partial, second.summary.wall_us.n, second.summary.usage_us) == (False, 0, None)


@pytest.mark.parametrize(
    ("outside", "inside", "usage_us", "source"),
    [
        ((True, True), (True, True), 200, "outside"),
        ((True, False), (True, True), 20_000, "rounds"),
        ((True, False), (False, True), 100, "outside"),
        ((False, False), (True, False), 10_000, "rounds"),
        ((True, False), (False, False), 100, "outside"),
    ],
)
def test_sources_are_never_mixed(
    outside: tuple[bool, bool], inside: tuple[bool, bool], usage_us: int, source: str
) -> None:
    run = a_run("500m", repeats=2)
    for order in (0, 1):
        add_rounds(run, order, [10], settled=SETTLED if inside[order] else None)
        if outside[order]:
            set_totals(run, order, window_us=1_000, usage_us=100)
    figures = arm_summaries(run)[0].summary
    assert (figures.usage_us, figures.counters_from) == (usage_us, source)


def test_a_measured_load_has_its_own_walls_and_the_servers_counters() -> None:
    container = {"limit": "1", "workload": WORKLOAD}
    groups = [
        {"name": "load", "role": "load", "containers": [container]},
        {"name": "server", "containers": [container]},
    ]
    steps: list[dict[str, Any]] = [{"start": ["server", "load"]}, {"measure": "load"}]
    spec = {"name": "served", "arms": [{"name": "one", "groups": groups, "steps": steps}]}
    run = a_run(spec=spec)
    add_rounds(run, 0, [100, 200], group="load")
    set_totals(run, 0, "server", window_us=1_000, usage_us=700, nr_throttled=4)
    set_totals(run, 0, "load", window_us=1_000, usage_us=5)
    (arm,) = arm_summaries(run)
    assert (arm.summary.wall_us.max, arm.summary.usage_us, arm.summary.nr_throttled) == (
        200,
        700,
        4,
    )
    groups_of_repeat = {group.name: group.summary for group in arm.repeats[0].groups}
    assert list(groups_of_repeat) == ["load", "server"]
    assert groups_of_repeat["load"].usage_us == 5
    assert groups_of_repeat["server"].wall_us.n == 0


def test_percentiles_appear_when_they_can_be_told() -> None:
    run = a_run("none")
    add_rounds(run, 0, list(range(1, 101)))
    walls = arm_summaries(run)[0].summary.wall_us
    assert (walls.n, walls.p50, walls.p95, walls.p99, walls.max) == (100, 50, 95, 99, 100)


def test_summaries_take_two_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = a_run("none", "500m", "1", repeats=3)
    for order in range(9):
        add_rounds(run, order, [10, 20], settled=SETTLED)
    with django_assert_num_queries(2):
        assert len(arm_summaries(run)) == 3


def test_spark_has_a_median_an_arm() -> None:
    run = a_run("none", "500m", "1")
    add_rounds(run, 0, [10, 30, 20])
    add_rounds(run, 2, [40])
    assert spark(run) == [20, None, 40]


def test_wall_spark_keeps_few_walls_as_they_are() -> None:
    run = a_run("none")
    walls = [5, 3, 9] * 20
    add_rounds(run, 0, walls)
    assert wall_spark(run) == walls


@pytest.mark.parametrize("count", [61, 100, 1_000])
def test_wall_spark_of_many_keeps_the_extremes(count: int) -> None:
    run = a_run("none")
    walls = [100 + n % 7 for n in range(count)]
    walls[count // 2], walls[count - 1] = 9_999, 1
    add_rounds(run, 0, walls)
    points = wall_spark(run)
    assert 30 <= len(points) <= 60
    assert (max(points), min(points)) == (9_999, 1)
    assert 1 in points[-2:]


def test_wall_sparks_of_many_runs_are_one_query(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    runs = [a_run("none") for _ in range(4)]
    for number, run in enumerate(runs[:3]):
        add_rounds(run, 0, [number] * 70)
        add_rounds(run, 0, [5_000] * 3, group="neighbour")
    with django_assert_num_queries(1):
        found = wall_sparks(runs)
    assert [found[run.pk] for run in runs] == [[0] * 30, [1] * 30, [2] * 30, []]
    assert wall_sparks([]) == {}
