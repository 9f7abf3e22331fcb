"""A document's latencies must be what its histograms say; anything else is refused in words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from experiments_app.archive.exports import export_json
from experiments_app.archive.imports import import_run
from experiments_app.models import Run
from tests.archive.refusals import Body, edited, taken
from tests.archive.service import encoded, served

pytestmark = pytest.mark.django_db

Edit = Callable[[Body], object]


def on_work(**values: Any) -> Edit:
    """Change the first second's work latencies."""
    return lambda body: _round(body)["measures"]["work_us"].update(values)


def on_round(**values: Any) -> Edit:
    return lambda body: _round(body).update(values)


def _round(body: Body) -> Body:
    rounds = body["arms"][0]["repeats"][0]["rounds"]
    found: Body = next(entry for entry in rounds if entry["group"] == "load")
    return found


def without_n(body: Body) -> None:
    del _round(body)["measures"]["work_us"]["n"]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (on_work(hdr="HISTFAAA"), "hdr is no histogram"),
        (on_work(hdr=""), "hdr is no histogram"),
        (on_work(hdr="A" * 200_001), "is too long"),
        (on_work(hdr=12), "hdr: 12 is not text."),
        (on_work(n=99), "n = 99, but hdr gives 100."),
        (on_work(p50=1), "p50 = 1, but hdr gives"),
        (on_work(p999=1), "p999 = 1, but hdr gives null."),
        (on_work(n=-1), "n: -1 is out of range."),
        (on_work(n=1.0), "n: 1.0 is not a whole number."),
        (on_work(max=None), "max is there if and only if"),
        (on_work(max=25_000), "max = 25000 is not in the last bucket"),
        (on_work(hdr=encoded([])), "max is there if and only if"),
        (on_work(errors={"timeout": -1}), "errors.timeout: -1 is out of range."),
        (on_work(errors={"=cmd()": 1}), "is not accepted."),
        (on_work(counts=[]), "counts: is not known here."),
        (on_round(measures={"pong_us": {}}), "is not one of"),
        (on_round(measures=[]), "measures: a list is not an object."),
        (on_round(facts={"sent_count": "5"}), 'facts.sent_count: "5" is not a whole number.'),
        (on_round(facts={"sent_count": -5}), "facts.sent_count: -5 is out of range."),
        (on_round(facts={str(n): n for n in range(300)}), "is not accepted."),
        (on_round(servers={"server": {"responses": 1}}), "connections: is missing."),
        (on_round(servers={"../x": {"responses": 1, "connections": 1}}), "is not accepted."),
        (without_n, "n: is missing."),
    ],
)
def test_what_contradicts_itself_is_refused(edit: Edit, words: str) -> None:
    message = taken(edited(served(), edit))
    assert words in message
    assert "rounds[" in message


def test_the_summary_of_latencies_is_derived_again() -> None:
    def edit(body: Body) -> None:
        body["arms"][0]["summary"]["measures"]["work_us"]["p50"] = 1

    run = served()
    before = json.loads(export_json(run))["arms"][0]["summary"]
    copy = import_run(edited(run, edit), filename="f", user=None, who="i")
    assert json.loads(export_json(Run.objects.get(pk=copy.pk)))["arms"][0]["summary"] == before


def test_an_older_document_without_any_of_it_is_taken() -> None:
    def edit(body: Body) -> None:
        for entry in body["arms"][0]["repeats"][0]["rounds"]:
            for name in ("measures", "facts", "servers"):
                del entry[name]

    copy = import_run(edited(served(), edit), filename="f", user=None, who="i")
    assert set(copy.rounds.values_list("detail", flat=True)) == {None}
