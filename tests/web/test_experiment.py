"""The experiment page and its launch form."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from experiments_app.models import AuditEntry, Run, RunStatus
from experiments_app.web import machines
from tests.web.conftest import Lab

pytestmark = pytest.mark.django_db

PAGE = "/experiments/burst-limits/"
LAUNCH = "/experiments/burst-limits/launch/"
ALL = ["no-limit", "limit-2", "limit-1", "limit-500m", "limit-1-two-threads"]


def form(**changes: Any) -> dict[str, Any]:
    return {"target": "local", "repeats": "1", "arms": ALL, **changes}


def test_it_shows_question_arms_published_figures_and_form(operating: Client) -> None:
    page = operating.get(PAGE).content.decode()
    for words in ("160 ms of CPU once a second", "limit 500m", "84.4", "17 of 77", "Queue the run"):
        assert words in page
    assert "Docker is not there." in page


def test_an_alias_leads_to_the_experiment(operating: Client) -> None:
    answer = operating.get("/experiments/e2a/")
    assert answer.status_code == 302
    assert answer["Location"] == PAGE


def test_an_unknown_name_says_what_was_meant(operating: Client) -> None:
    answer = operating.get("/experiments/burst-limit/")
    assert answer.status_code == 404
    assert b"burst-limits" in answer.content


def test_launching_queues_a_run_and_rings(operating: Client, lab: Lab) -> None:
    answer = operating.post(LAUNCH, form(repeats="2"))
    run = Run.objects.get()
    assert answer["Location"] == f"/runs/{run.number}/"
    assert run.status == RunStatus.QUEUED
    assert run.repeats.count() == 10
    assert lab.rung == ["local"]
    assert AuditEntry.objects.filter(action="launch", who="olga").count() == 1


def test_only_the_ticked_arms_run(operating: Client) -> None:
    operating.post(LAUNCH, form(arms=["limit-1", "no-limit"]))
    names = [arm["name"] for arm in Run.objects.get().plan["arms"]]
    assert names == ["no-limit", "limit-1"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"repeats": "0"}, "from 1 to 50"),
        ({"repeats": "51"}, "from 1 to 50"),
        ({"repeats": "many"}, "whole number from 1 to 50"),
        ({"repeats": ""}, "1 to 50"),
        ({"target": ""}, "Choose a target"),
        ({"target": "moon"}, "no target “moon”"),
        ({"arms": []}, "at least one arm"),
        ({"arms": ["limit-9"]}, "no arm “limit-9”"),
    ],
)
def test_bad_input_is_said_beside_the_form(
    operating: Client, changes: dict[str, Any], words: str
) -> None:
    answer = operating.post(LAUNCH, form(**changes))
    assert answer.status_code == 400
    assert words in answer.content.decode()
    assert not Run.objects.exists()


def test_a_target_that_is_not_ready_refuses_with_its_remedy(operating: Client) -> None:
    answer = operating.post(LAUNCH, form(target="docker"))
    assert answer.status_code == 409
    assert b"Use the target local instead." in answer.content
    assert not Run.objects.exists()


def test_without_a_ready_target_the_page_says_where_to_look(operating: Client, lab: Lab) -> None:
    lab.targets["local"].problems = lab.targets["docker"].problems
    machines.forget()
    assert b"No target is ready" in operating.get(PAGE).content
