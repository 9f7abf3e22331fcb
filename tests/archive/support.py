"""Runs as rows, made directly: what the archive reads, without a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from experiments_app.archive.details import detail_of, point_of
from experiments_app.core import packing
from experiments_app.core.plan import make_plan
from experiments_app.core.records import Round as RoundRecord
from experiments_app.core.records import Sample
from experiments_app.core.spec import dump_spec, parse_spec
from experiments_app.models import (
    Event,
    EventKind,
    Repeat,
    RepeatState,
    Round,
    Run,
    RunStatus,
    SampleBlock,
)

BEGUN = datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)
WORKLOAD = {"kind": "burst", "threads": 2, "work": "5ms", "interval": "50ms", "rounds": 3}


def spec_of(*limits: str, name: str = "two-arms") -> dict[str, Any]:
    """A spec with an arm for each limit, named arm-0, arm-1, ..."""
    arms = [
        {"name": f"arm-{index}", "limit": limit, "workload": WORKLOAD}
        for index, limit in enumerate(limits)
    ]
    return dump_spec(parse_spec({"name": name, "title": "Some arms", "arms": arms}))


def a_run(
    *limits: str,
    repeats: int = 1,
    status: RunStatus = RunStatus.FINISHED,
    state: RepeatState = RepeatState.DONE,
    spec: Mapping[str, Any] | None = None,
    **columns: Any,
) -> Run:
    """A run with its repeats and no rounds."""
    written = dict(spec or spec_of(*(limits or ("none", "500m"))))
    plan = make_plan(parse_spec(written), kind="local", cpus=2, repeats=repeats)
    ended = status not in (RunStatus.QUEUED, RunStatus.RUNNING)
    begun = status != RunStatus.QUEUED
    values: dict[str, Any] = {
        "experiment": plan.experiment,
        "title": "Some arms",
        "spec": written,
        "plan": plan.to_dict(),
        "catalogue_version": "abc123",
        "target": "local",
        "target_kind": "local",
        "machine": "bench-1",
        "facts": {"kernel": "6.18.0", "cgroup": "v1", "cpus": 2, "extra": {"hz": "250"}},
        "repeats_asked": repeats,
        "expected_us": plan.expected_us,
        "status": status,
        "started_at": BEGUN if begun else None,
        "finished_at": BEGUN + timedelta(seconds=9) if ended else None,
    }
    run = Run.objects.create(**values | columns)
    Repeat.objects.bulk_create(
        Repeat(
            run=run,
            order=order,
            arm=step.arm,
            arm_name=plan.arms[step.arm].name,
            n=step.n,
            state=state,
        )
        for order, step in enumerate(plan.order)
    )
    return run


def add_rounds(
    run: Run,
    order: int,
    walls: Sequence[int],
    *,
    settled: Mapping[str, int | None] | None = None,
    without: Sequence[int] = (),
    group: str = "app",
    told: Mapping[int, RoundRecord] | None = None,
) -> list[Round]:
    """Rounds of the repeat `order`, from n = 1; `settled` counters for each, but `without`.

    `told` has records whose measures, facts and servers the round of that n has too.
    """
    repeat = run.repeats.get(order=order)
    made: list[Round] = []
    for n, wall_us in enumerate(walls, start=1):
        run.last_seq += 2
        detail = detail_of(told[n]) if told and n in told else None
        row = Round(
            run=run,
            repeat=repeat,
            detail=detail,
            point_us=point_of(detail),
            seq=run.last_seq - 1,
            group=group,
            n=n,
            start_us=1_000_000 * (order + 1) + n * 50_000,
            wall_us=wall_us,
            window_us=wall_us,
        )
        if settled is not None and n not in without:
            row.settled_seq = run.last_seq
            for name, value in {"window_us": 50_000, **settled}.items():
                setattr(row, f"settled_{name}", value)
        made.append(row)
    Round.objects.bulk_create(made)
    run.save(update_fields=["last_seq"])
    return made


def set_totals(run: Run, order: int, group: str = "app", **counters: int | None) -> None:
    repeat = run.repeats.get(order=order)
    repeat.totals = {**repeat.totals, group: counters}
    repeat.save()


def add_note(run: Run, text: str, *, order: int | None = None, level: str = "info") -> None:
    repeat = None if order is None else run.repeats.get(order=order).pk
    run.last_seq += 1
    Event.objects.create(
        run=run,
        seq=run.last_seq,
        kind=EventKind.NOTE,
        at=BEGUN,
        body={"repeat": repeat, "level": level, "text": text},
    )
    run.save(update_fields=["last_seq"])


def add_block(run: Run, order: int, first_us: int, count: int, group: str = "app") -> None:
    samples = [
        Sample(first_us + 20_000 * i, 1_000 * i, i // 5 if i % 7 else None, i // 5, 500 * i)
        for i in range(count)
    ]
    run.last_seq += 1
    SampleBlock.objects.create(
        run=run,
        repeat=run.repeats.get(order=order),
        group=group,
        first_seq=run.last_seq,
        seq=run.last_seq,
        t0_us=samples[0].mono_us,
        t1_us=samples[-1].mono_us,
        count=count,
        data=packing.pack(samples),
    )
    run.save(update_fields=["last_seq"])
