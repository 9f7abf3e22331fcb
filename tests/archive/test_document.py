"""The run document says what was measured, in the form that was promised."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields

import pytest
from pytest_django import DjangoAssertNumQueries

from experiments_app.archive.document import document
from experiments_app.archive.exports import export_json, export_zip
from experiments_app.archive.round_schema import CountersShape, RoundShape
from experiments_app.archive.samples import pieces
from experiments_app.archive.schema import (
    EnvironmentShape,
    GroupShape,
    LevelShape,
    LimitsShape,
    ReadbackShape,
)
from experiments_app.core import packing
from experiments_app.core.records import Counters, Limits, Readback, Sample, TreeLevel
from experiments_app.core.spec import dump_spec, parse_spec
from experiments_app.models import RepeatState, Run, RunStatus, SampleFrame
from experiments_app.runs.compact import compact
from experiments_app.targets.base import TargetFacts
from tests.archive.support import BEGUN, a_run, add_block, add_rounds, set_totals
from tests.archive.whole import whole_run
from tests.runs.scripted import SPEC

WALLS_KEYS = ["n", "p50", "p95", "p99", "max"]


@pytest.mark.django_db(transaction=True)
def test_the_document_of_a_whole_run() -> None:
    run = whole_run(repeats=1)
    body = document(run)
    assert list(body) == ["format", "run", "environment", "spec", "plan", "arms"]
    assert body["format"] == "throttle-lab.run/1"
    about = body["run"]
    assert (about["id"], about["experiment"], about["target"]) == (run.uid, "two-arms", "local")
    assert (about["status"], about["reason"], about["number"]) == ("finished", None, run.number)
    assert body["spec"] == SPEC
    assert [arm["name"] for arm in body["arms"]] == ["none", "half"]
    arm = body["arms"][1]
    assert arm["settings"]["limit"] == "500m"
    assert arm["settings"]["workload"]["threads"] == 2
    assert (arm["scale"], arm["prediction"], arm["verdict"]) == (None, None, None)
    summary = arm["summary"]
    assert list(summary["wall_us"]) == WALLS_KEYS
    assert summary["wall_us"] == {"n": 3, "p50": 9_002, "p95": None, "p99": None, "max": 9_003}
    assert (summary["counters_from"], summary["throttled_us"]) == ("outside", 123_000)
    (repeat,) = arm["repeats"]
    assert (repeat["n"], repeat["order"], repeat["state"], repeat["reason"]) == (1, 1, "done", None)
    assert repeat["lab"]["window_us"] > 0
    (group,) = repeat["groups"]
    assert repeat["warnings"] == ["The sampler missed 3 of 100 readings."]
    assert (group["name"], group["connections"], group["pod"]) == ("app", None, None)
    assert group["tree"][0]["shares"] == 1024
    assert group["readback"]["asked"]["quota_us"] == 50_000
    assert group["program"] == {"go": "go1.25", "gomaxprocs": 2}
    assert group["clock"] == {"mono_us": 900_000, "unix_us": 1_770_000_000_000_000}
    assert group["totals"]["usage_us"] == 30_300
    assert [entry["n"] for entry in repeat["rounds"]] == [1, 2, 3]
    entry = repeat["rounds"][0]
    assert (entry["start_us"], entry["wall_us"], entry["throttled_us"]) == (
        1_050_000,
        9_001,
        40_000,
    )
    assert entry["settled"]["throttled_us"] == 41_000
    assert json.loads(export_json(run)) == body


@pytest.mark.django_db
def test_times_are_utc_with_milliseconds() -> None:
    run = a_run("none")
    assert document(run)["run"]["started_at"] == "2026-03-01T12:00:00.123Z"
    assert BEGUN.microsecond == 123_456


@pytest.mark.django_db
def test_what_was_not_measured_is_null() -> None:
    run = a_run("none")
    add_rounds(run, 0, [5_000])
    (repeat,) = document(run)["arms"][0]["repeats"]
    (entry,) = repeat["rounds"]
    assert entry["settled"] is None
    assert entry["usage_us"] is None
    assert repeat["groups"][0]["totals"] is None
    assert repeat["groups"][0]["readback"] is None
    assert repeat["lab"] is None
    assert repeat["summary"]["usage_us"] is None


@pytest.mark.django_db
@pytest.mark.parametrize("status", list(RunStatus))
def test_there_is_a_document_in_every_state(status: RunStatus) -> None:
    state = RepeatState.WAITING if status == RunStatus.QUEUED else RepeatState.SKIPPED
    body = document(a_run("none", "1", status=status, state=state))
    assert body["run"]["status"] == status.value
    assert [len(arm["repeats"][0]["rounds"]) for arm in body["arms"]] == [0, 0]


@pytest.mark.django_db
def test_few_queries_for_many_repeats(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = a_run("none", "1", repeats=5)
    for order in range(10):
        add_rounds(run, order, [1, 2, 3])
    with django_assert_num_queries(5):
        document(run)


def test_the_schema_mirrors_the_records() -> None:
    def names(kind: type) -> set[str]:
        return {field.name for field in fields(kind)}

    assert set(CountersShape.model_fields) == names(Counters) | {"run_delay_us"}
    assert set(LevelShape.model_fields) == names(TreeLevel)
    assert set(LimitsShape.model_fields) == names(Limits)
    assert set(ReadbackShape.model_fields) == names(Readback) - {"group"}
    assert set(EnvironmentShape.model_fields) == names(TargetFacts)


@pytest.mark.django_db
def test_the_schema_knows_what_the_document_writes() -> None:
    run = a_run("none")
    add_rounds(run, 0, [5_000], settled={"usage_us": 1})
    set_totals(run, 0, window_us=1)
    (repeat,) = document(run)["arms"][0]["repeats"]
    told = {"measures", "facts", "servers"}
    assert set(repeat["rounds"][0]) == set(RoundShape.model_fields) - told
    assert set(repeat["groups"][0]) == set(GroupShape.model_fields)


@pytest.mark.django_db
def test_the_zip_holds_document_log_and_samples() -> None:
    run = a_run("none", "500m")
    add_rounds(run, 0, [5_000])
    add_block(run, 1, 3_000_000, 30)
    add_block(run, 0, 2_000_000, 10)
    with zipfile.ZipFile(io.BytesIO(export_zip(run))) as bundle:
        assert bundle.namelist() == [
            "README.txt",
            "run.json",
            "log.ndjson",
            "samples/00000.bin",
            "samples/00001.bin",
            "samples.json",
        ]
        assert bundle.read("run.json") == export_json(run)
        index = json.loads(bundle.read("samples.json"))
        assert index["blocks"][1] == {
            "repeat": 1,
            "group": "app",
            "t0_us": 3_000_000,
            "t1_us": 3_580_000,
            "count": 30,
            "file": "samples/00001.bin",
        }
        assert len(packing.unpack(bundle.read("samples/00001.bin"))) == 30
        assert run.uid in bundle.read("README.txt").decode()


@pytest.mark.django_db(transaction=True)
def test_the_log_of_a_whole_run() -> None:
    run = whole_run(repeats=1, failing=2)
    with zipfile.ZipFile(io.BytesIO(export_zip(run))) as bundle:
        lines = [json.loads(line) for line in bundle.read("log.ndjson").splitlines()]
    assert [line["kind"] for line in lines] == ["run", *["repeat"] * 2, "note", *["repeat"] * 4,
                                                "note", "repeat", "repeat", "run"]  # fmt: skip
    assert lines[3] | {"at": ""} == {
        "at": "",
        "kind": "note",
        "repeat": 0,
        "level": "warning",
        "text": "The sampler missed 3 of 100 readings.",
    }
    assert lines[-2]["state"] == "failed"
    assert lines[-2]["reason"].startswith("The workload was killed.")
    assert lines[-1]["status"] == "finished"
    assert lines[-1]["code"] == "finished-with-failures"


@pytest.mark.django_db(transaction=True)
def test_the_same_run_gives_the_same_bytes() -> None:
    number = whole_run().number
    first = export_zip(Run.objects.get(number=number))
    assert export_zip(Run.objects.get(number=number)) == first


@pytest.mark.django_db
def test_samples_are_the_same_before_and_after_they_were_compacted() -> None:
    run = a_run("none", "500m")
    seq = 0
    for order, group in ((0, "app"), (1, "app"), (0, "other")):
        repeat = run.repeats.get(order=order)
        for part in range(230):
            seq += 1
            first = 5_000_000 * order + part * 100_000
            samples = [Sample(first + 20_000 * i, part * 5 + i, None, i, part) for i in range(5)]
            SampleFrame.objects.create(run=run, repeat=repeat, group=group, first_seq=seq, seq=seq,
                                       t0_us=first, t1_us=first + 80_000, count=5,
                                       data=packing.pack(samples))  # fmt: skip
    before = list(pieces(run))
    assert len(before) == 9
    assert sum(piece.count for piece in before) == 3 * 230 * 5
    exported = export_zip(run)
    compact(run.number)
    assert list(pieces(run)) == before
    assert export_zip(run) == exported


def test_the_spec_of_the_tests_is_in_its_own_written_form() -> None:
    assert parse_spec(dump_spec(parse_spec(SPEC))) == parse_spec(SPEC)
