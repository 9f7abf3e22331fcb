"""A person's own experiments: versions that are only added, names, runs that know theirs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from experiments_app.archive import experiments as archive
from experiments_app.core.errors import SpecError
from experiments_app.core.spec import Spec, dump_toml, load_spec, parse_spec
from experiments_app.models import AuditEntry, OwnVersion, Run
from experiments_app.runs.experiments import (
    NewerVersion,
    NoOwnExperiment,
    hide,
    keep,
    restore,
)
from experiments_app.runs.launch import Request, launch
from tests.runs.scripted import ScriptedTarget

pytestmark = pytest.mark.django_db


def own(name: str = "mine", rounds: int = 3, **more: Any) -> Spec:
    workload = {"kind": "burst", "threads": 2, "work": "5ms", "interval": "100ms", "rounds": rounds}
    arms = [
        {"name": "half", "limit": "500m", "workload": workload},
        {"name": "free", "workload": workload},
    ]
    return parse_spec({"name": name, "title": "Mine", "targets": ["local"], "arms": arms, **more})


def test_a_save_adds_a_version_and_rewrites_none(operator: User) -> None:
    first = keep(own(rounds=3), user=operator, who="olga")
    second = keep(own(rounds=4), user=None, who="ulf (command line)")
    assert (first.version, first.changed) == (1, True)
    assert (second.version, second.changed) == (2, True)
    newest, oldest = archive.versions("mine")
    assert (newest.n, newest.saved_who, newest.spec) == (2, "ulf (command line)", own(rounds=4))
    assert (oldest.n, oldest.saved_who, oldest.spec) == (1, "olga", own(rounds=3))
    assert OwnVersion.objects.get(n=1).saved_by == operator
    assert archive.find_spec("mine") == own(rounds=4)
    assert archive.find_experiment(" Mine ").version == 2
    assert archive.version("mine", 1) == oldest
    assert archive.version("mine", 2**40) is None
    actions = AuditEntry.objects.order_by("pk").values_list("who", "action", "subject")
    assert list(actions) == [
        ("olga", "keep", "experiment mine version 1"),
        ("ulf (command line)", "keep", "experiment mine version 2"),
    ]


def test_a_save_that_changes_nothing_adds_nothing() -> None:
    keep(own(), user=None, who="olga")
    again = keep(load_spec(dump_toml(own())), user=None, who="ulf")
    assert (again.version, again.changed) == (1, False)
    assert len(archive.versions("mine")) == 1
    assert AuditEntry.objects.count() == 1


def test_a_version_keeps_its_defaults_written_out() -> None:
    keep(own(), user=None, who="olga")
    stored = OwnVersion.objects.get().spec
    assert stored["arms"][0]["period"] == "100ms"
    assert stored["repeats"] == 1


@pytest.mark.parametrize("name", ["burst-limits", "e2a"])
def test_names_of_the_catalogue_are_taken(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        keep(own(name), user=None, who="olga")
    assert caught.value.loc == ("name",)
    assert "burst-limits" in str(caught.value)
    assert not OwnVersion.objects.exists()


@pytest.mark.parametrize(("field", "value"), [("aliases", ["M1"]), ("reference", "kind-lab")])
def test_what_only_the_catalogue_has_is_refused(field: str, value: Any) -> None:
    with pytest.raises(SpecError) as caught:
        keep(own(**{field: value}), user=None, who="olga")
    assert caught.value.loc == (field,)
    assert f"Leave {field} out" in str(caught.value)


def test_two_people_do_not_overwrite_each_other() -> None:
    keep(own(rounds=3), user=None, who="olga", based_on=0)
    keep(own(rounds=4), user=None, who="ulf", based_on=1)
    with pytest.raises(NewerVersion) as caught:
        keep(own(rounds=5), user=None, who="olga", based_on=1)
    assert caught.value.newest == 2
    assert "ulf saved version 2" in str(caught.value)
    assert keep(own(rounds=5), user=None, who="olga", based_on=2).version == 3


def test_a_new_experiment_needs_a_new_name() -> None:
    keep(own(), user=None, who="olga", based_on=0)
    with pytest.raises(SpecError, match="already, version 1"):
        keep(own(rounds=9), user=None, who="ulf", based_on=0)


def test_a_refused_save_leaves_no_name_behind() -> None:
    with pytest.raises(SpecError):
        keep(own("e1"), user=None, who="olga", based_on=0)
    assert archive.own_entry("e1") is None
    assert archive.own_names() == []


def test_hidden_ones_leave_the_lists_and_are_still_found() -> None:
    keep(own(), user=None, who="olga")
    keep(own("other"), user=None, who="olga")
    hide("mine", who="olga")
    hide("mine", who="ulf")
    assert [entry.name for entry in archive.own_entries()] == ["other"]
    assert [entry.name for entry in archive.own_entries(hidden=True)] == ["mine"]
    assert archive.find_spec("mine") == own()
    restore("mine", who="ulf")
    assert archive.own_names() == ["mine", "other"]
    hide("mine", who="olga")
    keep(own(rounds=7), user=None, who="olga")
    entry = archive.own_entry("mine")
    assert entry is not None
    assert (entry.hidden_at, entry.versions, entry.newest.n) == (None, 2, 2)
    with pytest.raises(NoOwnExperiment):
        hide("burst-limits", who="olga")


def test_an_unknown_name_tells_the_nearest_of_both_kinds() -> None:
    keep(own("my-limits"), user=None, who="olga")
    with pytest.raises(SpecError, match="Did you mean my-limits") as caught:
        archive.find_spec("my-limit")
    assert "burst-limits" in str(caught.value)


def test_the_catalogue_is_found_by_name_and_alias() -> None:
    found = archive.find_experiment("E2A")
    assert (found.spec.name, found.version) == ("burst-limits", None)


def test_a_run_freezes_its_spec_and_knows_its_version() -> None:
    keep(own(rounds=3), user=None, who="olga")
    keep(own(rounds=4), user=None, who="olga")
    run = launch(Request(own(rounds=3), ScriptedTarget(), arms=["half"]), user=None, who="olga")
    newest = launch(Request(own(rounds=4), ScriptedTarget()), user=None, who="olga")
    other = launch(Request(own(rounds=8), ScriptedTarget()), user=None, who="olga")
    keep(own(rounds=5), user=None, who="olga")
    stored = [Run.objects.get(pk=each.pk).own_version for each in (run, newest, other)]
    assert stored == [1, 2, None]
    assert parse_spec(Run.objects.get(pk=newest.pk).spec) == own(rounds=4)
    again = Request(parse_spec(run.spec), ScriptedTarget(), own_version=run.own_version)
    assert launch(again, user=None, who="ulf").own_version == 1


def test_lists_ask_the_same_number_of_questions_however_many_there_are(
    django_assert_num_queries: object,
) -> None:
    for at in range(5):
        keep(own(f"mine-{at}"), user=None, who="olga")
        keep(own(f"mine-{at}", rounds=8), user=None, who="olga")
    with django_assert_num_queries(2):  # type: ignore[operator]
        found = archive.own_entries()
    assert [(entry.name, entry.versions) for entry in found] == [
        (f"mine-{at}", 2) for at in range(5)
    ]


@pytest.mark.django_db(transaction=True)
def test_saves_at_the_same_time_get_versions_of_their_own() -> None:
    """Whoever comes second waits for the first and adds to it."""

    def one(rounds: int) -> int:
        try:
            return keep(own(rounds=rounds), user=None, who=f"person {rounds}").version
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        kept = list(pool.map(one, range(1, 9)))
    assert sorted(kept) == list(range(1, 9))
    found = {each.n: each.spec for each in archive.versions("mine")}
    assert found == {n: own(rounds=rounds) for n, rounds in zip(kept, range(1, 9), strict=True)}
