"""What is not a run document is refused with a sentence, and nothing of it is stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from experiments_app.archive.exports import export_json, export_zip
from experiments_app.archive.imports import AlreadyHere, import_run
from experiments_app.core.errors import LabError
from experiments_app.models import RepeatState, Run
from tests.archive.refusals import Body, edited, taken

pytestmark = pytest.mark.django_db


def test_the_same_run_twice(full: Run) -> None:
    data = export_zip(full)
    with pytest.raises(AlreadyHere, match=f"already here as run {full.number}") as caught:
        import_run(data, filename="run.zip", user=None, who="ines")
    assert (caught.value.code, caught.value.number) == ("already-here", full.number)
    assert isinstance(caught.value, LabError)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "file.json is empty"),
        (b"hello", "file.json is not a run document: line 1, column 1"),
        (b"\xff\xfe\x00", "byte 0 is not UTF-8"),
        (b"[]", '"format" is not throttle-lab.run/1'),
        (b"null", "not a run document"),
        (b"12", "not a run document"),
        (b'{"format": "other/1"}', "not a run document"),
        (b'{"format": "throttle-lab.run/2"}', "reads throttle-lab.run/1. Update Throttle Lab"),
        (b'{"format": "throttle-lab.run/1"}', "run: is missing."),
        (b'{"a": 1, "a": 2}', 'the key "a" is given twice'),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": 1e999}', "1e999 is too large"),
        (b'{"a": ' + b"9" * 5000 + b"}", "more than 18 digits"),
        (b'{"a": "\\u0000"}', "holds NUL"),
        (b'{"a": ["\\ud800"]}', "half a surrogate pair"),
        (b"[" * 100_000, "nested too deeply"),
        (b"PK\x03\x04 and no more", "damaged or was cut short"),
    ],
)
def test_garbage(data: bytes, words: str) -> None:
    assert words in taken(data)


def test_an_escaped_backslash_is_no_nul(full: Run) -> None:
    data = edited(full, lambda body: body["run"].update(reason="C:\\u0000 and \\ud83d"))
    assert import_run(data, filename="f", user=None, who="i").reason == "C:\\u0000 and \\ud83d"


def put(*path: str | int, to: Any) -> Callable[[Body], None]:
    def edit(body: Body) -> None:
        at: Any = body
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = to

    return edit


ROUND = ("arms", 0, "repeats", 0, "rounds", 0)
GROUP = ("arms", 0, "repeats", 0, "groups", 0)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (put(*ROUND, "wall_us", to="12"), 'rounds[0].wall_us: "12" is not a whole number.'),
        (put(*ROUND, "wall_us", to=1.5), "wall_us: 1.5 is not a whole number."),
        (put(*ROUND, "wall_us", to=True), "wall_us: true is not a whole number."),
        (put(*ROUND, "wall_us", to=-1), "wall_us: -1 is out of range."),
        (put(*ROUND, "wall_us", to=2**53), "is out of range."),
        (put(*ROUND, "settled", to=7), "settled: 7 is not an object."),
        (put(*ROUND, "n", to=2), "Round 2 of app is there twice."),
        (put(*ROUND, "group", to="other"), "A round is of other, which is none of the groups."),
        (put(*ROUND, "group", to="../x"), '"../x" is not accepted.'),
        (put(*ROUND, "colour", to=1), "rounds[0].colour: is not known here."),
        (put(*GROUP, "pod", to="web-1"), '"web-1" is not null'),
        (put(*GROUP, "program", to={}), "Either program or clock is there"),
        (put("run", "id", to="XYZ"), 'run.id: "XYZ" is not accepted.'),
        (put("run", "finished_at", to="yesterday"), "This is not an instant."),
        (put("run", "finished_at", to="2026-02-30T00:00:00.000Z"), "This is not an instant."),
        (put("run", "finished_at", to=None), "had not ended"),
        (put("run", "status", to="running"), "had not ended when it was exported"),
        (put("run", "status", to="tired"), '"tired" is not one of'),
        (put("run", "title", to="x" * 201), "is too long: at most 200."),
        (put("arms", to=[]), "arms: is empty."),
        (put("arms", 1, "repeats", 0, "order", to=0), "Two repeats have the same order."),
        (put("arms", 0, "repeats", 0, "state", to="waiting"), '"waiting" is not one of'),
        (
            put("arms", 0, "settings", "limit", to="lots"),
            'settings of arms[0] "arm-0": limit: "lots"',
        ),
        (put("arms", 0, "settings", to={}), 'settings of arms[0] "arm-0": workload: is missing.'),
        (put("spec", to={}), "spec: "),
        (put("spec", "arms", 0, "limit", to="-3"), "spec: "),
        (put("plan", "kind", to="moon"), '"moon" is not one of'),
        (put("environment", "cpus", to="two"), 'environment.cpus: "two" is not a whole number.'),
    ],
)
def test_a_wrong_field_is_named(full: Run, edit: Callable[[Body], None], words: str) -> None:
    message = taken(edited(full, edit), "run-41.json")
    assert words in message
    assert message.startswith("run-41.json: ")


def test_many_wrong_fields_are_counted(full: Run) -> None:
    def edit(body: Body) -> None:
        body["run"] = dict.fromkeys(body["run"])

    message = taken(edited(full, edit))
    assert "more places are wrong." in message
    assert len(message.splitlines()) == 6


def test_fields_that_are_derived_do_not_matter(full: Run) -> None:
    def edit(body: Body) -> None:
        body["arms"][0] |= {"verdict": {"code": "x"}, "prediction": {"model": 3}, "summary": None}

    number = import_run(edited(full, edit), filename="f", user=None, who="i").number
    assert json.loads(export_json(Run.objects.get(number=number)))["arms"][0]["verdict"] is None


def test_failed_repeats_are_counted_anew(full: Run) -> None:
    full.repeats.filter(order=1).update(state=RepeatState.FAILED)
    data = edited(full, lambda body: body["run"].update(failed_repeats=40))
    assert import_run(data, filename="f", user=None, who="i").failed_repeats == 1
