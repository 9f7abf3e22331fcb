"""Numbers are written alike by templates and by scripts: one table of cases for both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments_app.templatetags import pictures, quantities

CASES = json.loads((Path(__file__).parent.parent / "js" / "numbers.json").read_text())
FILTERS = {
    "number": quantities.number,
    "count": quantities.count,
    "time": quantities.time_us,
    "cpuTime": quantities.cpu_us,
    "cpus": quantities.cpus,
}


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [(name, value, text) for name, cases in CASES.items() for value, text in cases],
)
def test_a_filter_writes_as_the_script_does(name: str, value: float | None, text: str) -> None:
    plain = FILTERS[name](value).replace("\u00a0", " ").replace("\u2009", "_")
    assert plain == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "not known"), (59_400_000, "59 s"), (72_000_000, "1 min 12 s"), (3.9e9, "1 h 05 min")],
)
def test_durations_are_for_people(value: float | None, text: str) -> None:
    assert quantities.duration_us(value).replace("\u00a0", " ") == text


def test_a_spark_leaves_a_hole_for_what_was_not_measured() -> None:
    assert pictures.spark_path([]) == ""
    assert pictures.spark_path([10, None, 20]).count("M") == 2
