"""Bench, catalogue, archive, targets: content, filters, empty states, imports."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from experiments_app.archive.exports import export_zip
from experiments_app.models import Run, RunStatus
from experiments_app.targets.base import Problem
from tests.archive.whole import whole_run
from tests.runs.scripted import queued_run
from tests.web.conftest import Lab

pytestmark = pytest.mark.django_db


def test_the_first_visit_offers_one_button(operating: Client) -> None:
    page = operating.get("/").content.decode()
    assert "Run burst-limits on local" in page
    assert "No run has ended yet" in page


def test_the_button_of_the_first_visit_launches(operating: Client) -> None:
    page = operating.get("/").content.decode()
    assert 'action="/experiments/burst-limits/launch/"' in page
    assert page.count('name="arms"') == 5


def test_bench_shows_what_runs_and_what_waits(operating: Client) -> None:
    running = queued_run()
    Run.objects.update(status=RunStatus.RUNNING)
    waiting = queued_run()
    page = operating.get("/now/").content.decode()
    assert f'data-live="{running.number}"' in page
    assert f"run {waiting.number}" in page
    assert "0 of 6 rounds" in page
    assert "Watch it live" in page


def test_bench_shows_the_last_runs(operating: Client) -> None:
    run = whole_run(repeats=1)
    page = operating.get("/").content.decode()
    assert f"/runs/{run.number}/" in page
    assert "throttled in" in page


def test_the_bench_keeps_its_button_and_offers_the_newest_run_again(operating: Client) -> None:
    run = queued_run()
    page = operating.get("/").content.decode()
    assert "Run burst-limits on local" in page
    assert f'action="/runs/{run.number}/again/"' in page
    assert f"Run again (run {run.number})" in page


def test_a_busy_machine_is_said_beside_the_buttons(operating: Client, lab: Lab) -> None:
    busy = Problem("machine-busy", "The machine is busy.", "End other work.", blocking=False)
    lab.targets["local"].problems = (busy,)
    for address in ("/", "/experiments/burst-limits/"):
        assert "The machine is busy. End other work." in operating.get(address).content.decode()


def test_targets_that_are_not_ready_are_one_line_on_the_bench(operating: Client) -> None:
    page = operating.get("/").content.decode()
    assert "Not ready: docker." in page
    assert "Docker is not there." not in page


def test_a_row_says_how_much_was_measured(operating: Client) -> None:
    whole_run(repeats=1)
    assert "2 of 2 arms" in operating.get("/archive/").content.decode()
    whole_run(repeats=2)
    assert "4 of 4 repeats" in operating.get("/archive/").content.decode()


def test_the_catalogue_has_a_card_for_each_experiment(operating: Client) -> None:
    page = operating.get("/catalogue/").content.decode()
    assert "Same job, four limits" in page
    assert "published wall of a round" in page
    assert "docker not ready" in page


def test_the_archive_filters_by_what_is_typed(operating: Client) -> None:
    queued_run()
    assert "two-arms" in operating.get("/archive/", {"q": "two queued"}).content.decode()
    nothing = operating.get("/archive/", {"q": "moon"}).content.decode()
    assert "No run matches “moon”" in nothing


def test_htmx_asks_for_the_rows_alone(operating: Client) -> None:
    queued_run()
    part = operating.get("/archive/", {"q": "two"}, headers={"HX-Request": "true"}).content.decode()
    assert "two-arms" in part
    assert "<html" not in part
    assert 'hx-replace-url="true"' in operating.get("/archive/").content.decode()
    assert "HX-Request" in operating.get("/archive/")["Vary"]


def test_the_empty_archive_says_what_to_do(operating: Client) -> None:
    assert b"Choose an experiment" in operating.get("/archive/").content


@pytest.mark.parametrize("query", ["<script>", "\0", "x" * 5000, "' OR 1=1"])
def test_odd_filters_do_no_harm(operating: Client, query: str) -> None:
    queued_run()
    answer = operating.get("/archive/", {"q": query, "before": "soon"})
    assert answer.status_code == 200
    assert "<script>" not in answer.content.decode().split("<main", 1)[1].split("json", 1)[0]


def test_an_export_comes_back_as_a_run(operating: Client) -> None:
    run = whole_run(repeats=1)
    data = export_zip(run)
    run.delete()
    file = SimpleUploadedFile("run.zip", data)
    answer = operating.post("/archive/import/", {"file": file}, follow=True)
    assert answer.status_code == 200
    assert Run.objects.get().imported
    assert b"Imported as run" in answer.content


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("run.json", b"", "empty"),
        ("run.json", b"{]", ""),
        ("run.zip", b"PK\x03\x04nonsense", ""),
        ("run.json", b'{"format": "something-else/9"}', ""),
    ],
)
def test_a_file_that_is_no_run_is_refused_in_words(
    operating: Client, name: str, data: bytes, words: str
) -> None:
    answer = operating.post("/archive/import/", {"file": SimpleUploadedFile(name, data)})
    assert answer.status_code == 400
    page = answer.content.decode()
    assert 'class="errors"' in page
    assert words in page
    assert not Run.objects.exists()


def test_no_file_is_refused_in_words(operating: Client) -> None:
    answer = operating.post("/archive/import/")
    assert answer.status_code == 400
    assert "Choose a file" in answer.content.decode()


def test_targets_are_ready_or_have_their_remedy(operating: Client, lab: Lab) -> None:
    page = operating.get("/targets/").content.decode()
    assert "6.18.0" in page
    assert "Use the target local instead." in page
    assert "shared with docker" in page
    assert page.count("0 queued") == 1  # a queue says nothing of what is not available


def test_an_unknown_address_is_a_page_of_ours(operating: Client) -> None:
    answer = operating.get("/nowhere/")
    assert answer.status_code == 404
    assert b"There is nothing at this address" in answer.content
