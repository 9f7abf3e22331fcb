"""The form of an own experiment: what it offers, what it says is wrong, its two looks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from experiments_app.core.spec import dump_spec, load_spec, parse_spec
from experiments_app.core.spec_errors import kinds
from experiments_app.web.own_schema import STARTS, blank, form_schema
from tests.runs.test_experiments import own
from tests.web.drafts import check, data

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", [each["kind"] for each in form_schema()["kinds"]])
def test_every_kind_of_the_form_begins_sound(kind: str) -> None:
    workload = {"kind": kind, **STARTS[kind]}
    parse_spec({"name": "mine", "arms": [{"name": "one", "workload": workload}]})


def test_the_form_has_every_field_of_every_kind_that_can_stand_alone() -> None:
    described = {each["kind"]: each["fields"] for each in form_schema()["kinds"]}
    assert set(described) == set(kinds()) - {"serve", "load"}
    for kind, fields in described.items():
        assert [f["name"] for f in fields] == [n for n in kinds()[kind].model_fields if n != "kind"]
        assert all(field["help"] for field in fields)
        assert all(field["default"] is not None or field["required"] for field in fields)
    threads = described["burst"][0]
    assert (threads["type"], threads["required"]) == ("number", True)
    assert "1 to 512" in threads["help"]
    assert [f["type"] for f in described["burst"][1:3]] == ["duration", "duration"]
    assert described["info"][0]["type"] == "yes"


def test_a_new_form_begins_sound_but_for_its_name(operating: Client) -> None:
    page = operating.get(reverse("web:own-new"))
    assert data(page)["spec"] == {"name": "", **{"arms": blank()["arms"]}}
    answer = check(operating, spec=blank(), target="local")
    assert [error["path"] for error in answer["errors"]] == [["name"]]
    assert "for 1 repeat of 1 arm on <b>local</b>, 2 CPUs" in answer["preview"]


def test_the_check_tells_the_field_and_the_way_out(operating: Client) -> None:
    raw = dump_spec(own())
    raw["arms"][0]["limit"] = "half"
    raw["arms"][1]["workload"]["threads"] = "0"
    del raw["arms"][1]["workload"]["rounds"]
    answer = check(operating, spec=raw, target="local")
    found = {tuple(error["path"]): error for error in answer["errors"]}
    assert set(found) == {
        ("arms", 0, "limit"),
        ("arms", 1, "workload", "threads"),
        ("arms", 1, "workload", "rounds"),
    }
    assert "0 is out of range" in found["arms", 1, "workload", "threads"]["message"]
    assert "1 to 512" in found["arms", 1, "workload", "threads"]["remedy"]
    assert found["arms", 1, "workload", "rounds"]["message"] == "is missing."
    assert answer["preview"] is None


def test_a_rule_between_fields_is_told_at_the_field_it_names(operating: Client) -> None:
    raw = dump_spec(own())
    raw["arms"][0]["burst"] = "90ms"
    raw["arms"][1]["workload"]["interval"] = "2ms"
    answer = check(operating, spec=raw)
    assert [error["path"] for error in answer["errors"]] == [
        ["arms", 0, "burst"],
        ["arms", 1, "workload", "work"],
    ]


def test_form_and_file_are_two_looks_at_one_experiment(operating: Client) -> None:
    spec = own(question='Is "it" hurt?', needs={"cpus": 2})
    from_form = check(operating, spec=dump_spec(spec), target="local")
    assert load_spec(from_form["toml"]) == spec
    from_file = check(operating, toml=from_form["toml"], target="local")
    assert parse_spec(from_file["spec"]) == spec
    assert from_file["errors"] == from_form["errors"] == []
    assert from_file["preview"] == from_form["preview"]


def test_a_long_arm_goes_through_both_looks_unchanged(operating: Client) -> None:
    text = """
name = "served"
[[arms]]
name = "two"
steps = [{ start = ["server"] }, { start = ["load"] }, { measure = "load" }]
[[arms.groups]]
name = "server"
[[arms.groups.containers]]
workload = { kind = "serve" }
[[arms.groups]]
name = "load"
role = "load"
place = "load"
[[arms.groups.containers]]
workload = { kind = "load", rate = 50, duration = "5s" }
"""
    first = check(operating, toml=text)
    assert first["errors"] == []
    second = check(operating, spec=first["spec"])
    assert load_spec(second["toml"]) == load_spec(text)


def test_a_draft_with_mistakes_can_still_be_turned_into_a_file(operating: Client) -> None:
    raw = {"name": "mine", "arms": [{"name": "one", "limit": "much"}]}
    answer = check(operating, spec=raw)
    back = check(operating, toml=answer["toml"])
    assert back["spec"] == raw
    assert back["errors"] == answer["errors"] != []


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"toml": 'name = "a\n'}, "line 1, column"),
        ({"toml": ""}, "is missing"),
        ({"toml": "x = " + "[" * 5000}, ""),
        ({"spec": None}, "is no experiment"),
        ({"spec": []}, "is no experiment"),
        ({"spec": {"name": "a", "arms": 4}}, "is not a list"),
        ({"spec": {"name": "a", "arms": [None]}}, "is not a table"),
        ({"spec": {"name": None, "arms": [{"name": "b", "workload": {"kind": 1.5}}]}}, ""),
        ({}, "is no experiment"),
        ({"toml": 'name = "a"\nwhen = 2026-01-01\narms = []'}, "when"),
    ],
)
def test_whatever_is_sent_gets_an_answer(
    sent: dict[str, Any], words: str, operating: Client
) -> None:
    answer = check(operating, **sent)
    assert answer["errors"]
    assert answer["preview"] is None
    assert any(words in json.dumps(error) for error in answer["errors"])


@pytest.mark.parametrize("body", [b"", b"[", b"[1]", b"\xff", b"[" * 200_000])
def test_what_is_no_draft_is_refused(body: bytes, operating: Client) -> None:
    answer = operating.post("/own/check/", body, content_type="application/json")
    assert answer.status_code == 400
    assert "Load the page again" in answer.json()["error"]


def test_the_preview_says_why_a_target_cannot_run_it(operating: Client) -> None:
    spec = dump_spec(own())
    assert "Docker is not there" in check(operating, spec=spec, target="docker")["preview"]
    spec["targets"] = ["kubernetes"]
    assert "does not run on a target" in check(operating, spec=spec, target="local")["preview"]
