"""The command line: bad input is a message and exit status 2, good input one document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments_app.cli import common, run_command
from experiments_app.cli.app import run
from experiments_app.models import Run, RunStatus
from experiments_app.runs import wiring
from experiments_app.targets.registry import Registry
from tests.runs.scripted import SPEC, ScriptedTarget, queued_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def quiet_migrate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "migrate", lambda: None)


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    from experiments_app.core.spec import dump_toml, parse_spec

    path = tmp_path / "two-arms.toml"
    path.write_text(dump_toml(parse_spec(SPEC)))
    return path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["frobnicate"], "No such command"),
        (["run"], "Missing argument"),
        (["run", "burst-limits"], "--target"),
        (["run", "burst-limit", "-t", "local"], "Did you mean"),
        (["run", "burst-limits", "-t", "locl"], "Did you mean local?"),
        (["run", "burst-limits", "-t", "local", "--repeats", "0"], "--repeats"),
        (["run", "burst-limits", "-t", "local", "--repeats", "x"], "--repeats"),
        (["run", "burst-limits", "-t", "local", "--arms", "limit-3"], "Did you mean"),
        (["run", "burst-limits", "-t", "local", "--set", "rounds"], "KEY=VALUE"),
        (["run", "burst-limits", "-t", "local", "--set", "colour=red"], "colour"),
        (["run", "burst-limits", "-t", "local", "--set", "rounds=many"], "rounds"),
        (["run", "./nothing.toml", "-t", "local"], "cannot be read"),
        (["show", "4711"], "There is no run"),
        (["cancel", "zzz"], "There is no run"),
        (["export", "9"], "There is no run"),
        (["import", "./nothing.zip"], "cannot be read"),
        (["experiments", "nope"], "no experiment"),
    ],
)
def test_bad_input(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""
    assert "Traceback" not in err
    assert Run.objects.count() == 0, "nothing was queued"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "line 1"),
        ("name = 'x'\narms = 3", "arms"),
        (b"\xff\xfe", "not UTF-8"),
        ("name = 'x'\n[[arms]]\nname = 'a'\nlimt = '1'", "Did you mean"),
    ],
)
def test_bad_files(
    text: str | bytes, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert run(["run", str(path), "-t", "local"]) == 2
    assert said in capsys.readouterr().err


def test_the_catalogue_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["experiments", "--json"]) == 0
    aliases = {each["name"]: each["aliases"] for each in json.loads(capsys.readouterr().out)}
    assert aliases["burst-limits"] == ["E2a"]
    assert run(["experiments", "E2a", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "burst-limits"


def test_doctor_says_what_is_there_and_what_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    targets = {target["name"]: target for target in document["targets"]}
    assert list(targets) == ["local", "docker", "kind", "kind-old", "simulated"]
    assert not targets["docker"]["ready"]
    assert all(p["remedy"] for target in targets.values() for p in target["problems"])
    assert {"python", "broker", "database"} <= {part["name"] for part in document["parts"]}


class Scripted(Registry):
    """The registry of one scripted target."""

    def __init__(self, target: ScriptedTarget) -> None:
        self._targets = {target.name: target}
        self._configs = {}


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch) -> ScriptedTarget:
    target = ScriptedTarget()
    monkeypatch.setattr(wiring, "registry", lambda: Scripted(target))
    return target


def test_run_by_itself_prints_one_document(
    target: ScriptedTarget, spec_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", str(spec_file), "-t", "local", "--json", "--repeats", "2"]
    assert run([*arguments, "--arms", "half", "--set", "rounds=4"]) == 0
    out, err = capsys.readouterr()
    document: dict[str, Any] = json.loads(out)
    assert document["format"] == "throttle-lab.run/1"
    assert document["run"]["status"] == "finished"
    assert [arm["name"] for arm in document["arms"]] == ["half"]
    assert len(document["arms"][0]["repeats"]) == 2
    assert document["arms"][0]["repeats"][0]["rounds"][0]["wall_us"] == 9_001
    assert "half #1: measuring" in err
    stored = Run.objects.get()
    assert stored.spec["arms"][0]["workload"]["rounds"] == 4
    assert run(["show", stored.uid[:6], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == document


def test_a_failed_run_exits_with_one(target: ScriptedTarget, spec_file: Path) -> None:
    from experiments_app.core.errors import TargetError

    target.prepare_error = TargetError("No.")
    assert run(["run", str(spec_file), "-t", "local"]) == 1
    assert Run.objects.get().status == RunStatus.FAILED


def test_list_and_cancel(capsys: pytest.CaptureFixture[str]) -> None:
    queued = queued_run()
    assert run(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["status"] == "queued"
    assert run(["cancel", str(queued.number)]) == 0
    queued.refresh_from_db()
    assert queued.status == RunStatus.CANCELLED
    assert run(["cancel", str(queued.number)]) == 0


def test_settings_are_pairs() -> None:
    assert run_command.parse_settings(["a=1", " b = x=y "]) == {"a": "1", "b": "x=y"}
