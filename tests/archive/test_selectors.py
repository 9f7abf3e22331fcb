"""Searching the archive, an experiment's past, and a machine's queue."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from pytest_django import DjangoAssertNumQueries

from experiments_app.archive.selectors import neighbours, past_runs, queue, search_runs
from experiments_app.models import RepeatState, RunStatus
from tests.archive.support import BEGUN, a_run, add_rounds, spec_of

pytestmark = pytest.mark.django_db


def numbers(query: str, **options: int) -> list[int]:
    return [row.run.number for row in search_runs(query, **options)]


def test_newest_first_a_page_at_a_time() -> None:
    made = [a_run("none").number for _ in range(5)]
    assert numbers("", limit=2) == made[:2:-1]
    assert numbers("", limit=2, before=made[3]) == [made[2], made[1]]
    assert numbers("", limit=2, before=made[0]) == []


def test_every_word_must_match_somewhere(operator: User) -> None:
    burst = a_run(
        "none", spec=spec_of("none", name="burst-limits"), launched_by=operator, launched_who="olga"
    )
    kind = a_run("none", target="kind", status=RunStatus.FAILED, reason="No CPU was left.")
    taken = a_run("none", title="Weights 100%", imported=True)
    assert numbers("BURST") == [burst.number]
    assert numbers("olga burst") == [burst.number]
    assert numbers("olga kind") == []
    assert numbers("kind failed") == [kind.number]
    assert numbers("cpu left") == [kind.number]
    assert numbers("imported") == [taken.number]
    assert numbers("100%") == [taken.number]
    assert numbers("weights_") == []
    assert numbers("\0 \t ") == [taken.number, kind.number, burst.number]


def test_a_number_is_found_by_itself() -> None:
    made = [a_run("none").number for _ in range(12)]
    first = made[0]
    mentions = a_run("none", reason=f"As in run {first}.").number
    assert numbers(f"run {first}") == [first]
    assert numbers(f"#{first}") == [first]
    assert numbers(str(first)) == [mentions, first]
    assert numbers("run 999999") == []
    assert numbers("9" * 40) == []
    assert numbers("run") == [mentions]


def test_a_row_has_what_the_table_shows() -> None:
    run = a_run("none", "500m", "1", repeats=2)
    settled: dict[str, int | None] = {"throttled_us": 0}
    add_rounds(run, 0, [5, 6], settled=settled)
    add_rounds(run, 1, [7, 8], settled={"throttled_us": 3})
    run.repeats.filter(order=5).update(state=RepeatState.FAILED)
    (row,) = search_runs()
    assert (row.arms, row.repeats, row.repeats_done, row.repeats_failed) == (3, 6, 5, 1)
    assert (row.rounds, row.spark) == (4, [5, 6, 7, 8])
    assert (row.arms_counted, row.arms_throttled) == (2, 1)
    assert row.line == "throttled in 1 of 2 arms measured"


@pytest.mark.parametrize(
    ("throttled", "line"),
    [
        ([], "no rounds"),
        ([None, None], "throttling not measured"),
        ([0, 0], "not throttled in 2 arms"),
        ([0], "not throttled in 1 arm measured"),
        ([0, 1], "throttled in 1 of 2 arms"),
        ([2, 1], "throttled in 2 of 2 arms"),
    ],
)
def test_the_line_says_what_was_measured(throttled: list[int | None], line: str) -> None:
    run = a_run("none", "500m")
    for order, count in enumerate(throttled):
        add_rounds(run, order, [5], settled={"throttled_us": count})
    assert search_runs()[0].line == line


def test_queries_do_not_grow(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for _ in range(6):
        add_rounds(a_run("none", "1"), 0, [1, 2])
    with django_assert_max_num_queries(4):
        rows = search_runs("arms")
        assert [str(row.run.launched_by) for row in rows] == ["None"] * 6


def test_past_runs_and_neighbours() -> None:
    ours = [a_run("none").number for _ in range(3)]
    other = a_run("none", spec=spec_of("none", name="other"))
    assert [row.run.number for row in past_runs("two-arms")] == ours[::-1]
    assert [row.run.number for row in past_runs("two-arms", limit=1)] == ours[2:]
    assert past_runs("unknown") == []
    middle = neighbours(past_runs("two-arms")[1].run)
    assert middle.older is not None
    assert middle.newer is not None
    assert (middle.older.number, middle.newer.number) == (ours[0], ours[2])
    assert neighbours(other) == type(middle)(None, None)


def queued(expected_s: float, **columns: Any) -> int:
    waiting = RepeatState.WAITING
    run = a_run("none", status=RunStatus.QUEUED, state=waiting, **columns)
    run.expected_us = int(expected_s * 1_000_000)
    run.save()
    return run.number


def test_the_queue_of_an_idle_machine() -> None:
    first, second, third = queued(10), queued(20.5), queued(5)
    queued(1, machine="bench-2")
    found = queue("bench-1")
    assert (found.machine, found.running, found.remaining_s) == ("bench-1", None, None)
    assert [(place.run.number, place.place, place.starts_in_s) for place in found.places] == [
        (first, 1, 0),
        (second, 2, 10),
        (third, 3, 31),
    ]
    assert queue("nowhere").places == ()


@pytest.mark.parametrize(
    ("after_s", "remaining", "starts"),
    [(0, 60, [60, 70]), (45, 15, [15, 25]), (70, 0, [0, 10]), (91, None, [None, None]),
     (-5, 60, [60, 70])],
)  # fmt: skip
def test_the_queue_behind_a_running_run(
    after_s: int, remaining: int | None, starts: list[int | None]
) -> None:
    a_run("none", status=RunStatus.RUNNING, expected_us=60_000_000)
    queued(10)
    queued(10)
    found = queue("bench-1", now=BEGUN + timedelta(seconds=after_s))
    assert found.remaining_s == remaining
    assert [place.starts_in_s for place in found.places] == starts


def test_what_is_not_known_is_not_guessed() -> None:
    queued(10)
    queued(0)
    queued(10)
    assert [place.starts_in_s for place in queue("bench-1").places] == [0, 10, None]
    a_run("none", status=RunStatus.RUNNING, expected_us=0, started_at=timezone.now())
    found = queue("bench-1")
    assert found.remaining_s is None
    assert [place.starts_in_s for place in found.places] == [None, None, None]


WORDS = ["run", "#", "41", "%", "_", "'", '"', ";", chr(92)]


class AnyQuery(TestCase):
    @settings(max_examples=60, deadline=None)
    @given(st.text(max_size=30) | st.lists(st.sampled_from(WORDS)).map(" ".join))
    def test_any_text_can_be_searched(self, query: str) -> None:
        search_runs(query)
