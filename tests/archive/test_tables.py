"""CSV: a line a repeat, a line a round, units in the names, nothing that a spreadsheet runs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

import pytest

from experiments_app.archive.tables import REPEAT_COLUMNS, repeats_csv, rounds_csv
from experiments_app.models import RepeatState
from tests.archive.support import a_run, add_rounds, set_totals

pytestmark = pytest.mark.django_db


def read(lines: Iterable[str]) -> list[dict[str, str]]:
    return list(csv.DictReader("".join(lines).splitlines()))


def test_a_line_a_repeat_in_the_order_of_the_run() -> None:
    run = a_run("none", "500m", repeats=2)
    add_rounds(
        run, 1, [5_000, 7_000], settled={"usage_us": 8_000, "nr_throttled": 1, "throttled_us": 9}
    )
    set_totals(run, 2, window_us=1_000, usage_us=250, nr_periods=3)
    lines = read(repeats_csv(run))
    assert [(line["arm"], line["repeat"]) for line in lines] == [
        ("arm-0", "1"),
        ("arm-1", "1"),
        ("arm-0", "2"),
        ("arm-1", "2"),
    ]
    one = lines[1]
    assert (one["wall_p50_us"], one["wall_p95_us"], one["wall_max_us"]) == ("5000", "", "7000")
    assert (one["usage_us"], one["nr_throttled"], one["nr_periods"]) == ("16000", "2", "")
    assert (one["counters_from"], one["rounds_throttled"], one["rounds_counted"]) == (
        "rounds",
        "2",
        "2",
    )
    two = lines[2]
    assert (two["counters_from"], two["window_us"], two["avg_cpu_milli"]) == (
        "outside",
        "1000",
        "250",
    )
    assert (two["wall_p50_us"], two["rounds"]) == ("", "0")


def test_a_line_a_round() -> None:
    run = a_run("none", "500m")
    add_rounds(run, 1, [7_000])
    add_rounds(run, 0, [5_000, 6_000], settled={"usage_us": 8_000}, without=[2])
    lines = read(rounds_csv(run))
    assert [(line["arm"], line["round"], line["wall_us"]) for line in lines] == [
        ("arm-0", "1", "5000"),
        ("arm-0", "2", "6000"),
        ("arm-1", "1", "7000"),
    ]
    assert lines[0]["settled_usage_us"] == "8000"
    assert lines[0]["settled_nr_periods"] == ""
    assert lines[1]["settled_usage_us"] == ""
    assert lines[0]["run"] == str(run.number)


def test_a_run_without_rounds_has_its_header() -> None:
    run = a_run("none", state=RepeatState.SKIPPED)
    (header,) = rounds_csv(run)
    assert header.startswith("run,arm,repeat,group,round,start_us,wall_us")
    (line,) = read(repeats_csv(run))
    assert (line["state"], line["rounds"], line["window_us"]) == ("skipped", "0", "")
    assert tuple(line) == REPEAT_COLUMNS


def test_lines_come_as_they_are_asked_for() -> None:
    run = a_run("none")
    assert isinstance(repeats_csv(run), Iterator)
    assert isinstance(rounds_csv(run), Iterator)


@pytest.mark.parametrize("reason", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\r=1"])
def test_text_is_never_a_formula(reason: str) -> None:
    run = a_run("none")
    run.repeats.update(reason=reason)
    text = "".join(repeats_csv(run))
    (row,) = list(csv.reader(text.split("\r\n", 1)[1].splitlines(keepends=True)))[:1]
    assert row[REPEAT_COLUMNS.index("reason")].startswith("'")


def test_commas_quotes_and_lines_stay_in_their_cell() -> None:
    run = a_run("none")
    run.repeats.update(reason='He said "no", then\nleft.')
    rows = list(csv.reader("".join(repeats_csv(run)).splitlines(keepends=True)))
    assert rows[1][REPEAT_COLUMNS.index("reason")] == 'He said "no", then\nleft.'
