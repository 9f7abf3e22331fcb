"""Own experiments on the command line: kept from a file, listed, printed, run by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments_app.archive import experiments as archive
from experiments_app.catalogue import entries
from experiments_app.cli import common
from experiments_app.cli.app import run
from experiments_app.core.spec import dump_toml, load_spec
from experiments_app.models import AuditEntry, OwnVersion, Run
from experiments_app.runs import wiring
from experiments_app.runs.experiments import hide, keep
from tests.cli.test_commands import Scripted
from tests.runs.scripted import ScriptedTarget
from tests.runs.test_experiments import own

pytestmark = pytest.mark.django_db(transaction=True)

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def quiet_migrate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "migrate", lambda: None)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "any-name.toml"
    path.write_text(dump_toml(own(rounds=3)))
    return path


def test_a_file_is_kept_and_kept_again_only_when_it_differs(file: Path, capsys: Capture) -> None:
    assert run(["experiments", "--keep", str(file)]) == 0
    assert capsys.readouterr().out == "mine version 1\n"
    assert run(["experiments", "--keep", str(file)]) == 0
    out, err = capsys.readouterr()
    assert out == "mine version 1\n"
    assert "Nothing has changed" in err
    file.write_text(dump_toml(own(rounds=4)))
    assert run(["experiments", "--keep", str(file), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"name": "mine", "version": 2, "changed": True}
    assert archive.find_spec("mine") == own(rounds=4)
    whose = set(AuditEntry.objects.filter(action="keep").values_list("who", flat=True))
    assert whose == {common.person()}


def test_own_ones_are_listed_below_the_catalogue(capsys: Capture) -> None:
    keep(own(title="[/bold] a [red]title"), user=None, who="olga")
    keep(own("gone"), user=None, who="olga")
    hide("gone", who="olga")
    assert run(["experiments"]) == 0
    out = capsys.readouterr().out
    listed, mine = out.split("Your own experiments")
    assert "burst-limits" in listed
    assert "mine: [/bold] a [red]title" in mine
    assert "version 1, kept" in mine
    assert "by olga" in mine
    assert "gone" not in out
    assert run(["experiments", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in found] == [*(spec.name for spec in entries()), "mine"]
    assert (found[-1]["own"], found[-1]["version"], found[-1]["saved_by"]) == (True, 1, "olga")
    assert run(["experiments", "mine"]) == 0
    assert "version 1: kept" in capsys.readouterr().out


def test_an_own_one_is_printed_as_a_file(capsys: Capture) -> None:
    keep(own(), user=None, who="olga")
    assert run(["experiments", "mine", "--toml"]) == 0
    assert load_spec(capsys.readouterr().out) == own()


def test_an_own_one_is_run_by_its_name(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Scripted(ScriptedTarget())
    monkeypatch.setattr(wiring, "registry", lambda: registry)
    keep(own(rounds=2), user=None, who="olga")
    keep(own(rounds=3), user=None, who="olga")
    assert run(["run", "mine", "-t", "local", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["run"]["experiment"] == "mine"
    assert Run.objects.get().own_version == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["experiments", "--keep", "./nothing.toml"], "cannot be read"),
        (["experiments", "mine", "--keep", "FILE"], "--keep takes its name from the file"),
        (["experiments", "--toml", "--keep", "FILE"], "Give only --keep FILE"),
        (["experiments", "burst-limit"], "Did you mean burst-limits?"),
    ],
)
def test_bad_input(arguments: list[str], said: str, file: Path, capsys: Capture) -> None:
    given = [str(file) if each == "FILE" else each for each in arguments]
    assert run(given) == 2
    out, err = capsys.readouterr()
    assert (out, said in err) == ("", True)
    assert not OwnVersion.objects.exists()


def test_a_catalogue_file_is_refused_with_the_way_out(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "copy.toml"
    text = dump_toml(entries()[0])
    path.write_text(text)
    assert run(["experiments", "--keep", str(path)]) == 2
    assert "is a name of the catalogue" in capsys.readouterr().err
    path.write_text(text.replace(f'name = "{entries()[0].name}"', 'name = "mine"', 1))
    assert run(["experiments", "--keep", str(path)]) == 2
    assert "Leave aliases out" in capsys.readouterr().err
