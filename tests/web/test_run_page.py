"""The run page, what it embeds, and what can be done with a run."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client

from experiments_app.models import Run, RunStatus
from experiments_app.runs.ending import Ending, end_run
from tests.archive.whole import whole_run
from tests.runs.scripted import queued_run
from tests.web.conftest import Lab

pytestmark = pytest.mark.django_db


def embedded(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="run-data" type="application/json">(.*?)</script>', page, re.S)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_it_embeds_the_plan(operating: Client) -> None:
    run = queued_run(repeats=2)
    data = embedded(operating.get(f"/runs/{run.number}/").content.decode())
    assert data["ws"] == f"/ws/runs/{run.number}/"
    assert [arm["quota_us"] for arm in data["arms"]] == [None, 50_000]
    assert data["arms"][1] == data["arms"][1] | {
        "period_us": 100_000,
        "limit_text": "500m",
        "threads": 2,
        "work_us": 5_000,
        "interval_us": 50_000,
        "rounds": 3,
        "published": None,
    }
    assert [(r["arm"], r["n"], r["state"]) for r in data["repeats"]] == [
        (0, 1, "waiting"),
        (1, 1, "waiting"),
        (0, 2, "waiting"),
        (1, 2, "waiting"),
    ]


def test_published_figures_lie_beside_an_arm_that_runs_as_published(operating: Client) -> None:
    operating.post(
        "/experiments/burst-limits/launch/",
        {"target": "local", "repeats": "1", "arms": ["no-limit", "limit-1"]},
    )
    run = Run.objects.get()
    data = embedded(operating.get(f"/runs/{run.number}/").content.decode())
    beside = data["arms"][1]["published"]
    assert beside["wall_us_p50"] == 84_400
    assert (beside["nr_throttled"], beside["nr_periods"]) == (20, 60)
    assert beside["rounds_window"]


def test_it_says_what_this_machine_cannot_reach_and_what_is_shown(operating: Client) -> None:
    arms = ["no-limit", "limit-2", "limit-1"]
    data = {"target": "local", "repeats": "1", "arms": arms}
    operating.post("/experiments/burst-limits/launch/", data)
    page = operating.get(f"/runs/{Run.objects.get().number}/").content.decode()
    assert (
        "Published on 10 CPUs, measured on 2 CPUs: 8 threads × 20.0 ms need at least 80.0 ms, "
        "so 34.3 ms (no limit) and 34.6 ms (limit 2) are out of reach here."
    ) in page
    assert page.count("kind lab, 10 CPUs") == 1
    assert "What it does not show" in page


def test_published_figures_are_named_only_where_there_are_some(operating: Client) -> None:
    run = queued_run()
    page = operating.get(f"/runs/{run.number}/").content.decode().split("<script id=", 1)[0]
    assert "ublished" not in page


def test_the_footprint_of_a_repeat_is_embedded(operating: Client) -> None:
    run = queued_run()
    lab = {"window_us": 1, "machine_busy_us": 2, "steal_us": None, "cpus": 2}
    run.repeats.filter(order=run.repeats.order_by("order")[0].order).update(lab=lab)
    data = embedded(operating.get(f"/runs/{run.number}/").content.decode())
    assert [repeat["lab"] for repeat in data["repeats"]] == [lab, None]


def test_an_arm_that_was_changed_has_nothing_published_beside_it(operating: Client) -> None:
    operating.post(
        "/experiments/burst-limits/launch/",
        {"target": "local", "repeats": "1", "arms": ["limit-1"]},
    )
    run = Run.objects.get()
    run.plan["arms"][0]["arm"]["limit"] = "750m"
    run.save()
    data = embedded(operating.get(f"/runs/{run.number}/").content.decode())
    assert data["arms"][0]["published"] is None


def test_an_ended_run_says_why_and_what_to_do(operating: Client) -> None:
    run = queued_run()
    ending = Ending(
        RunStatus.INTERRUPTED, "worker-gone", "The worker went away.", "Start it again."
    )
    end_run(number=run.number, ending=ending)
    page = operating.get(f"/runs/{run.number}/").content.decode()
    assert "Interrupted" in page
    assert "The worker went away." in page
    assert "Start it again." in page


def test_a_queued_run_says_why_it_waits(operating: Client) -> None:
    run = queued_run()
    Run.objects.update(ring_error="The broker does not answer.")
    page = operating.get(f"/runs/{run.number}/").content.decode()
    assert "The broker does not answer." in page
    assert "stays queued" in page


@pytest.mark.parametrize("number", ["0", "999", "9" * 30])
def test_a_run_that_is_not_there_is_not_found(operating: Client, number: str) -> None:
    answer = operating.get(f"/runs/{number}/")
    assert answer.status_code == 404
    assert b"archive" in answer.content


def test_cancel_ends_a_queued_run(operating: Client) -> None:
    run = queued_run()
    answer = operating.post(f"/runs/{run.number}/cancel/")
    assert answer["Location"] == f"/runs/{run.number}/"
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELLED
    assert run.cancelled_by == "olga"
    again = operating.post(f"/runs/{run.number}/cancel/", follow=True)
    assert b"had ended already" in again.content


def test_again_queues_the_same(operating: Client, lab: Lab) -> None:
    run = queued_run(repeats=3)
    answer = operating.post(f"/runs/{run.number}/again/")
    new = Run.objects.get(number__gt=run.number)
    assert answer["Location"] == f"/runs/{new.number}/"
    assert new.repeats.count() == 6
    assert new.plan == run.plan
    assert lab.rung == ["local"]


def test_again_on_a_target_that_is_gone_says_so(operating: Client) -> None:
    run = queued_run(target="moon")
    answer = operating.post(f"/runs/{run.number}/again/")
    assert answer.status_code == 409
    assert b"no target named" in answer.content
    assert Run.objects.count() == 1


def test_exports_are_files_named_after_the_run(operating: Client) -> None:
    run = whole_run(repeats=1)
    for ending, kind in (
        ("export.json", "application/json"),
        ("export.zip", "application/zip"),
        ("repeats.csv", "text/csv; charset=utf-8"),
        ("rounds.csv", "text/csv; charset=utf-8"),
    ):
        answer = operating.get(f"/runs/{run.number}/{ending}")
        assert answer.status_code == 200
        assert answer["Content-Type"] == kind
        name = f"run-{run.number}-two-arms"
        assert name in answer["Content-Disposition"]
        assert answer.content


def test_the_failed_repeats_of_a_finished_run_are_said(operating: Client) -> None:
    run = whole_run(repeats=1, failing=2)
    assert run.failed_repeats == 1
    page = operating.get(f"/runs/{run.number}/").content.decode()
    assert 'data-role="reason" hidden' not in page
