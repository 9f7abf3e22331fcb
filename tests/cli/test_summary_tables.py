"""What a terminal shows of each kind of result."""

from __future__ import annotations

from typing import Any

import pytest

from experiments_app.cli import common
from experiments_app.cli.app import run
from experiments_app.cli.follow import Follower
from experiments_app.models import Run
from tests.archive.service import SECOND, measure, served, telling
from tests.archive.support import a_run, add_note, add_rounds, set_totals

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "migrate", lambda: None)
    monkeypatch.setenv("COLUMNS", "200")


def shown(found: Run, capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """The cells of every line by its first."""
    assert run(["show", str(found.number)]) == 0
    lines = [line.strip().split("  ") for line in capsys.readouterr().out.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    return {line[0]: line[1:] for line in cells if line}


def test_latencies_of_a_service(capsys: pytest.CaptureFixture[str]) -> None:
    found = served()
    line = shown(found, capsys)["served"]
    assert line == [
        *("150", "20.0 ms", "30.0 ms", "30.0 ms", "n/m", "900 ms", "5 timeout", "n/m"),
        *("12 of 30", "600 CPU ms", "1.20 CPU s"),
    ]


def test_walls_are_shown_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    found = a_run("none", "500m")
    settled = {"usage_us": 8_000, "nr_periods": 2, "nr_throttled": 1, "throttled_us": 9_000}
    add_rounds(found, 1, [5_000, 7_000], settled=settled)
    lines = shown(found, capsys)
    assert lines["arm-0"] == ["n/m", "n/m", "n/m", "no limit", "no limit", "n/m"]
    assert lines["arm-1"] == ["5.00 ms", "n/m", "7.00 ms", "2 of 4", "18.0 CPU ms", "16.0 CPU ms"]


def pair(*, pinned: bool = True) -> dict[str, Any]:
    work = {"kind": "spin", "duration": "3s", "report": "1s"}
    containers = [
        {"name": "small", "request": "100m", "workload": work},
        {"name": "big", "request": "400m", "limit": "2", "workload": work},
    ]
    group = {"name": "pair", "containers": containers}
    steps = [{"pin": "work", "cpus": 1}] if pinned else []
    steps += [{"start": ["pair"]}, {"measure": "pair"}]
    arm = {"name": "weights", "groups": [group], "steps": steps}
    return {"name": "weights", "title": "Weights", "arms": [arm]}


def levels(**own: int | None) -> list[dict[str, Any]]:
    none = dict.fromkeys(("quota_us", "period_us", "burst_us", "weight", "shares"))
    return [{"path": "/", **none}, {"path": "/own", **none, **own}]


@pytest.mark.parametrize("pinned", [True, False])
def test_cpus_of_a_pod_and_shares_of_one_cpu(
    capsys: pytest.CaptureFixture[str], pinned: bool
) -> None:
    found = a_run(spec=pair(pinned=pinned))
    for name, usage in (("pair.small", 150_000), ("pair.big", 850_000)):
        add_rounds(
            found, 0, [SECOND] * 3, group=name, settled={"window_us": SECOND, "usage_us": usage}
        )
    set_totals(found, 0, "pair.big", window_us=3 * SECOND, usage_us=2_600_000, nr_periods=30,
               nr_throttled=2, throttled_us=4_000)  # fmt: skip
    repeat = found.repeats.get()
    repeat.tree = [
        {"group": "pair.small", "levels": levels(weight=17, period_us=100_000)},
        {"group": "pair.big", "levels": levels(shares=409, quota_us=200_000, period_us=100_000)},
    ]
    repeat.save()
    lines = shown(found, capsys)
    small, big = lines["weights: pair.small"], lines["weights: pair.big"]
    shares = (["15.0%"], ["85.0%"]) if pinned else ([], [])
    assert small == ["0.150", *shares[0], "17", "no limit", "no limit", "450 CPU ms"]
    assert big == ["0.850", *shares[1], "409 shares", "2 of 30", "4.00 CPU ms", "2.60 CPU s"]


def test_facts_of_a_process(capsys: pytest.CaptureFixture[str]) -> None:
    arms = [{"name": "seen", "limit": "1500m", "workload": {"kind": "info"}}]
    found = a_run(spec={"name": "facts", "title": "Facts", "arms": arms})
    repeat = found.repeats.get()
    program = {"gomaxprocs": 2, "num_cpu": 4, "build": "go1.25"}
    repeat.programs = {"app": {"group": "app", "mono_us": 1, "unix_us": 2, "program": program}}
    repeat.tree = [
        {"group": "app", "levels": levels(quota_us=150_000, period_us=100_000, weight=1)}
    ]
    repeat.save()
    assert shown(found, capsys)["seen"] == ["2", "4", "150000 100000", "1", "go1.25"]


def test_what_was_not_said_is_not_measured(capsys: pytest.CaptureFixture[str]) -> None:
    arms = [{"name": "seen", "workload": {"kind": "info"}}]
    found = a_run(spec={"name": "facts", "title": "Facts", "arms": arms})
    assert shown(found, capsys)["seen"] == ["n/m"] * 5


def test_following_prints_each_round_of_the_result_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Follower(served().number).look()
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("served #1: second 1: 100 answered, p50 10.")
    assert said[1].endswith("max 900 ms, 2 timeout")
    assert said[2] == "served #1: second 3: 0 answered, 3 timeout"
    assert len(said) == 3, "the server's seconds are not the result"


def test_following_a_pod_names_its_containers(capsys: pytest.CaptureFixture[str]) -> None:
    found = a_run(spec=pair())
    for row in add_rounds(
        found, 0, [SECOND], group="pair.big", told={1: telling(measure("x_us", []))}
    ):
        row.usage_us = 333_300
        row.save()
    Follower(found.number).look()
    assert capsys.readouterr().err == "weights #1 pair.big: report 1: 0.333 CPUs\n"


def test_warnings_stand_under_their_arm(capsys: pytest.CaptureFixture[str]) -> None:
    found = a_run("none", "500m", repeats=2)
    add_note(found, "The load was [late] by 30 ms.", order=3, level="warning")
    assert run(["show", str(found.number)]) == 0
    said = capsys.readouterr().out
    assert "  arm-1, repeat 2: warning: The load was [late] by 30 ms." in said.splitlines()


def test_what_a_latency_counts_from_is_said_by_its_kind(
    capsys: pytest.CaptureFixture[str],
) -> None:
    work = {"kind": "requests", "duration": "1s"}
    arms = [{"name": "tight", "limit": "500m", "workload": work}]
    found = a_run(spec={"name": "requests", "title": "Requests", "arms": arms})
    assert run(["show", str(found.number)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "counts from its own start" in said
    assert "to be sent" not in said
    assert run(["show", str(served().number)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "counts from when it was to be sent" in said
    assert "its own start" not in said
