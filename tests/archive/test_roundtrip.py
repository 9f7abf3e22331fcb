"""Export, import, export: every measured field is the same, and the page replays the same."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from experiments_app.archive.document import document
from experiments_app.archive.exports import export_json, export_zip
from experiments_app.archive.imports import import_run
from experiments_app.archive.summary import COUNTERS
from experiments_app.core.records import Round as RoundRecord
from experiments_app.live.replay import rows_between
from experiments_app.models import AuditEntry, RepeatState, Round, Run, RunStatus, SampleBlock
from tests.archive.refusals import zipped
from tests.archive.service import measure, served, telling
from tests.archive.support import a_run, add_block, add_note, add_rounds, set_totals
from tests.archive.whole import whole_run


def without_origin(body: dict[str, Any]) -> dict[str, Any]:
    return body | {"run": {**body["run"], "number": None, "imported": None}}


def again(data: bytes, *, user: User | None = None) -> Run:
    """Import into an archive that no longer has the run."""
    Run.objects.all().delete()
    number = import_run(data, filename="run.zip", user=user, who="ines").number
    return Run.objects.get(number=number)


def replayed(run: Run) -> list[dict[str, Any]]:
    return rows_between(run.number, 0, run.last_seq)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("failing", [None, 2])
def test_a_whole_run_through_the_zip(failing: int | None) -> None:
    run = whole_run(failing=failing)
    before, data, rows = document(run), export_zip(run), replayed(run)
    copy = again(data)
    assert copy.imported
    assert without_origin(document(copy)) == without_origin(before)
    assert (copy.spec, copy.plan, copy.facts) == (run.spec, run.plan, run.facts)
    assert contents(export_zip(copy)) == contents(data)
    _check_replay(copy, rows)


@pytest.mark.django_db(transaction=True)
def test_a_whole_run_through_the_document_alone() -> None:
    run = whole_run()
    before, data = document(run), export_json(run)
    copy = again(data)
    assert without_origin(document(copy)) == without_origin(before)
    rows = replayed(copy)
    assert [row["s"] for row in rows] == list(range(1, copy.last_seq + 1))
    assert not SampleBlock.objects.exists()
    states = [row["state"] for row in rows if row["k"] == "repeat"]
    assert states == ["measuring", "done"] * 4


def contents(data: bytes) -> dict[str, Any]:
    """Every file of an export; what tells its number here is left out."""
    with zipfile.ZipFile(io.BytesIO(data)) as bundle:
        files: dict[str, Any] = {name: bundle.read(name) for name in bundle.namelist()}
    return files | {"run.json": without_origin(json.loads(files["run.json"]))}


def _check_replay(copy: Run, before: list[dict[str, Any]]) -> None:
    """The same rows of every kind, numbered without a gap; the last is the run's end."""
    after = replayed(copy)
    assert [row["s"] for row in after] == list(range(1, copy.last_seq + 1))
    last = after[-1]
    assert (last["k"], last["final"], last["status"]) == ("run", copy.last_seq, copy.status)
    orders = {repeat.pk: repeat.order for repeat in copy.repeats.all()}
    first = min(row["repeat"] for row in before if row.get("repeat"))

    def plain(row: dict[str, Any], order: int | None) -> str:
        left_out = {"s", "at", "repeat", "first", "final"}
        body = {key: value for key, value in row.items() if key not in left_out}
        return json.dumps([order, body], sort_keys=True)

    def listed(rows: list[dict[str, Any]], *, old: bool) -> list[str]:
        return sorted(
            plain(
                row,
                None
                if row.get("repeat") is None
                else row["repeat"] - first
                if old
                else orders[row["repeat"]],
            )
            for row in rows
        )

    assert listed(after, old=False) == listed(before, old=True)
    places = {(row["repeat"], row["n"]): row["s"] for row in after if row["k"] == "round"}
    for row in after:
        if row["k"] == "settled":
            assert row["s"] > places[row["repeat"], row["n"]]
    settled = Round.objects.filter(run=copy, settled_seq__isnull=False)
    assert all(entry.settled_seq == entry.seq + 1 for entry in settled)


@pytest.mark.django_db
@pytest.mark.parametrize("logged", [0, 1, 2, 3])
def test_warnings_come_back_whether_a_log_has_them_or_not(logged: int) -> None:
    run = a_run("none", "500m")
    texts = ["Late by 30 ms.", "Late by 30 ms.", "The sampler missed 3 of 100 readings."]
    add_rounds(run, 1, [5_000])
    for text in texts:
        add_note(run, text, order=1, level="warning")
    add_note(run, "Of the run itself.", level="warning")
    add_note(run, "No warning.", order=1)
    body = document(run)
    assert [arm["repeats"][0]["warnings"] for arm in body["arms"]] == [[], texts]
    files = contents(export_zip(run)) | {"run.json": export_json(run)}
    lines = files["log.ndjson"].splitlines(keepends=True)
    warned = [line for line in lines if b'"level":"warning"' in line and b'"repeat":1' in line]
    assert len(warned) == len(texts)
    others = [line for line in lines if line not in warned]
    files["log.ndjson"] = b"".join([*others, *warned[:logged]])
    copy = again(zipped(files))
    (repeat,) = document(copy)["arms"][1]["repeats"]
    assert sorted(repeat["warnings"]) == sorted(texts)


@pytest.mark.django_db
def test_warnings_of_a_document_alone_stand_in_its_repeat() -> None:
    run = a_run("none")
    add_note(run, "Late by 30 ms.", order=0, level="warning")
    copy = again(export_json(run))
    (repeat,) = document(copy)["arms"][0]["repeats"]
    assert repeat["warnings"] == ["Late by 30 ms."]
    kinds = [(row["k"], row.get("state") or row.get("level")) for row in replayed(copy)]
    assert kinds.index(("note", "warning")) < kinds.index(("repeat", "done"))


@pytest.mark.django_db
def test_a_service_through_the_document() -> None:
    run = served()
    before, data, rows = document(run), export_json(run), rounds_of(replayed(run))
    points = list(run.rounds.order_by("group", "n").values_list("point_us", "detail"))
    copy = again(data)
    assert without_origin(document(copy)) == without_origin(before)
    assert list(copy.rounds.order_by("group", "n").values_list("point_us", "detail")) == points
    assert rounds_of(replayed(copy)) == rows
    assert contents(export_zip(again(export_zip(copy))))["run.json"] == without_origin(before)


def rounds_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rounds by unit and number, without what an archive gives them."""
    found = [row for row in rows if row["k"] == "round"]
    found.sort(key=lambda row: (row["group"], row["n"]))
    return [{k: v for k, v in row.items() if k not in {"s", "repeat"}} for row in found]


@pytest.mark.django_db
def test_what_a_page_is_sent_adds_up_to_the_document() -> None:
    run = served()
    sent = [
        row["measures"]["work_us"] for row in replayed(run) if "work_us" in row.get("measures", {})
    ]
    counts: Counter[int] = Counter()
    for measured in sent:
        assert "hdr" not in measured
        assert measured["n"] == sum(count for _, count in measured["counts"])
        counts.update(dict(measured["counts"]))
    whole = document(run)["arms"][0]["summary"]["measures"]["work_us"]
    assert whole["n"] == counts.total()
    ordered = sorted(counts.elements())
    assert whole["p50"] == ordered[len(ordered) // 2 - 1]
    assert whole["max"] == max(measured["max"] or 0 for measured in sent)
    plain = [row for row in replayed(run) if row["k"] == "round" and row["group"] == "server"]
    assert all(row["measures"] == {} and row["facts"]["gc_count"] for row in plain)


@pytest.mark.django_db
def test_a_round_that_tells_nothing_is_sent_as_before() -> None:
    run = a_run("none")
    add_rounds(run, 0, [5])
    (row,) = replayed(run)
    assert not {"detail", "point_us", "measures", "facts", "servers"} & set(row)


@pytest.mark.django_db
def test_a_run_that_was_cancelled_before_it_began() -> None:
    run = a_run("none", "1", status=RunStatus.CANCELLED, state=RepeatState.SKIPPED,
                started_at=None, reason_code="cancelled", reason="Cancelled before.")  # fmt: skip
    before, data = document(run), export_zip(run)
    copy = again(data)
    assert without_origin(document(copy)) == without_origin(before)
    kinds = [(row["k"], row.get("state", row.get("status"))) for row in replayed(copy)]
    assert kinds == [("repeat", "skipped"), ("repeat", "skipped"), ("run", "cancelled")]


@pytest.mark.django_db
def test_the_import_is_audited_and_belongs_to_the_importer(operator: User) -> None:
    data = export_json(a_run("none"))
    copy = again(data, user=operator)
    assert copy.launched_by == operator
    entry = AuditEntry.objects.get()
    assert (entry.who, entry.action) == ("ines", "import")
    assert entry.subject == f"run {copy.number}: two-arms on local"


@pytest.mark.django_db
def test_the_run_keeps_the_day_it_was_made() -> None:
    run = a_run("none")
    Run.objects.filter(number=run.number).update(created_at="2025-01-02T03:04:05.678Z")
    copy = again(export_json(Run.objects.get(number=run.number)))
    assert copy.created_at.isoformat(timespec="milliseconds") == "2025-01-02T03:04:05.678+00:00"


maybe_known = st.integers(0, 2**53 - 1)
maybe = st.none() | maybe_known
counted = st.fixed_dictionaries(dict.fromkeys(COUNTERS, maybe))
text = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


latencies = st.dictionaries(
    st.sampled_from(["work_us", "ping_us", "lag_us", "request_us"]),
    st.lists(st.integers(0, 3_600_000_000), max_size=4),
)
names = st.dictionaries(
    st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True), maybe_known, max_size=3
)


def told_rounds(told: list[tuple[Any, ...]]) -> dict[int, RoundRecord]:
    """Records by round, with these latencies, facts and answers."""
    return {
        n: telling(
            *(measure(name, each, **errors) for name, each in measures.items()),
            facts=errors,
            servers={name: (count, 1) for name, count in answers.items()},
        )
        for n, (measures, errors, answers) in enumerate(told, start=1)
    }


@st.composite
def repeats(draw: st.DrawFn) -> dict[str, Any]:
    walls = draw(st.lists(st.integers(0, 2**40), max_size=5))
    return {
        "walls": walls,
        "settled": draw(st.none() | counted),
        "without": draw(st.lists(st.sampled_from([1, 2, 3]), max_size=2)),
        "totals": draw(st.none() | counted),
        "state": draw(st.sampled_from([RepeatState.DONE, RepeatState.FAILED])),
        "reason": draw(text),
        "samples": draw(st.integers(0, 20)),
        "note": draw(st.none() | text),
        "told": draw(st.lists(st.tuples(latencies, names, names), max_size=5)),
    }


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(repeats(), min_size=2, max_size=2), text)
def test_whatever_was_measured_survives(made: list[dict[str, Any]], reason: str) -> None:
    Run.objects.all().delete()
    run = a_run("none", "500m", reason=reason)
    for order, repeat in enumerate(made):
        add_rounds(run, order, repeat["walls"], settled=repeat["settled"],
                   without=repeat["without"], told=told_rounds(repeat["told"]))  # fmt: skip
        if repeat["totals"] is not None:
            set_totals(run, order, window_us=1_000, **repeat["totals"])
        if repeat["samples"]:
            add_block(run, order, 1_000_000, repeat["samples"])
        if repeat["note"] is not None:
            add_note(run, repeat["note"], order=order)
        run.repeats.filter(order=order).update(state=repeat["state"], reason=repeat["reason"])
    failed = sum(repeat["state"] == RepeatState.FAILED for repeat in made)
    Run.objects.filter(number=run.number).update(failed_repeats=failed)
    run.refresh_from_db()
    before, data = document(run), export_zip(run)
    copy = again(data)
    assert without_origin(document(copy)) == without_origin(before)
    logged = contents(export_zip(copy))["log.ndjson"]
    twice = again(export_zip(copy))
    # The first import gave the repeats' ends, which these rows never had, to the log.
    assert contents(export_zip(twice)) == {**contents(data), "log.ndjson": logged}
