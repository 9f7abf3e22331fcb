"""The experiment page and its launch form."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from experiments_app import catalogue
from experiments_app.core.spec import Spec
from experiments_app.models import AuditEntry, Run, RunStatus
from experiments_app.web import machines
from experiments_app.web.arm_table import arm_table
from experiments_app.web.figure_names import placed, written
from experiments_app.web.figure_tables import no_limit
from tests.web.conftest import Lab

pytestmark = pytest.mark.django_db

PAGE = "/experiments/burst-limits/"
LAUNCH = "/experiments/burst-limits/launch/"
ENTRIES = catalogue.entries()
ALL = ["no-limit", "limit-2", "limit-1", "limit-500m", "limit-1-two-threads"]


def form(**changes: Any) -> dict[str, Any]:
    return {"target": "local", "repeats": "1", "arms": ALL, **changes}


def test_it_shows_question_arms_published_figures_and_form(operating: Client) -> None:
    page = operating.get(PAGE).content.decode()
    for words in ("160 ms of CPU once a second", "limit 500m", "84.4", "Queue the run"):
        assert words in page
    assert "there is no finished run of yours" in page
    assert "Docker is not there." in page


def text_of(page: str) -> str:
    """What a reader sees of a page, spaces as one."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


@pytest.mark.parametrize("spec", ENTRIES, ids=[spec.name for spec in ENTRIES])
def test_every_published_figure_is_shown_with_its_window(operating: Client, spec: Spec) -> None:
    answer = operating.get(f"/experiments/{spec.name}/")
    assert answer.status_code == 200
    seen = text_of(answer.content.decode())
    source = catalogue.published(spec.name)
    assert source is not None
    for arm in spec.arms:
        for figure in source.figures(arm.name):
            table, column, value = placed(figure.scope, figure.name, figure.value)
            hidden = table == "counters" and no_limit(arm) and column.startswith(("nr_", "thr"))
            expected = "no limit" if hidden else " ".join(written(column, value).split())
            assert expected in seen, figure
            assert figure.window in seen, figure
    for sentence in (spec.question, *spec.shows, *spec.does_not_show, source.source):
        assert " ".join(sentence.split()) in seen


@pytest.mark.parametrize("spec", ENTRIES, ids=[spec.name for spec in ENTRIES])
def test_every_arm_and_all_that_it_runs_is_listed(operating: Client, spec: Spec) -> None:
    seen = text_of(operating.get(f"/experiments/{spec.name}/").content.decode())
    table = arm_table(spec)
    assert [arm.name for arm in table.arms] == [arm.name for arm in spec.arms]
    for arm in table.arms:
        assert arm.label in seen
        for line in arm.lines:
            for cell in line.cells:
                assert " ".join(cell.text.split()) in seen


def test_a_change_between_arms_stands_out(operating: Client) -> None:
    table = arm_table(catalogue.find("serve-steady"))
    changed = [
        [(line.unit, cell.key) for line in arm.lines for cell in line.cells if cell.changed]
        for arm in table.arms
    ]
    assert changed == [[], [("server", "limit")], [("server", "build")]]
    page = operating.get("/experiments/serve-steady/").content.decode()
    assert page.count("(differs from the arm above)") == 2


def test_the_form_shows_the_plan_of_its_arms_and_repeats(operating: Client) -> None:
    seen = text_of(operating.get("/experiments/serve-steady/").content.decode())
    assert "3 min 35 s for 1 repeat of 3 arms on local, 2 CPUs" in seen
    assert "limit 2, go 1.24 (scaled by 1/2)" in seen
    assert "The load has 1 CPU of its own" in seen
    assert "4 CPUs: not met, 2 here" in seen
    page = operating.get("/experiments/serve-steady/").content.decode()
    assert re.search(r"<script[^>]+htmx", page)
    part = operating.get(
        "/experiments/serve-steady/",
        {"target": "local", "repeats": "2", "arms": ["no-limit-go124"]},
        headers={"HX-Request": "true"},
    ).content.decode()
    assert "<html" not in part
    assert "2 min 23 s for 2 repeats of 1 arm on local" in text_of(part)
    assert "scaled" not in part


def test_a_plan_that_is_refused_says_why(operating: Client) -> None:
    part = operating.get(
        "/experiments/limit-tree/", {"target": "docker"}, headers={"HX-Request": "true"}
    ).content.decode()
    assert "does not run on a target of kind docker" in part
    odd = {"target": "local", "repeats": "0x7", "arms": ["nothing"]}
    answer = operating.get("/experiments/limit-tree/", odd, headers={"HX-Request": "true"})
    assert "1 repeat of 2 arms on local" in text_of(answer.content.decode())


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
