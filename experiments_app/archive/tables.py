"""A run as CSV: a line a repeat, or a line a round. Empty is "not measured".

`requests_per_1000_s` is the throughput of requests that were made one after the other, in
whole requests of 1,000 s. A run with latencies has columns for each name of them, after the
others: work_us gives work_p50_us ... work_max_us, work_n (answered) and work_errors (failed, of
every kind).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from experiments_app.archive.summary import (
    COUNTERS,
    ArmSummary,
    Figures,
    RepeatSummary,
    arm_summaries,
)
from experiments_app.archive.tally import COUNTER_FIELDS
from experiments_app.core.instants import iso
from experiments_app.models import Repeat, Round, Run

Cell = str | int | None

REPEAT_COLUMNS = (
    "run",
    "experiment",
    "target",
    "arm",
    "scale",
    "repeat",
    "order",
    "state",
    "reason",
    "started_at",
    "finished_at",
    "rounds",
    "wall_p50_us",
    "wall_p95_us",
    "wall_p99_us",
    "wall_max_us",
    "rounds_throttled",
    "rounds_counted",
    "counters_from",
    "window_us",
    *COUNTERS,
    "avg_cpu_milli",
    "last_reports_milli",
    "requests_per_1000_s",
)
ROUND_COLUMNS = (
    "run",
    "arm",
    "repeat",
    "group",
    "round",
    "start_us",
    "wall_us",
    "late_us",
    *COUNTER_FIELDS,
    *(f"settled_{name}" for name in COUNTER_FIELDS),
)
LATENCY_FIGURES = ("p50", "p90", "p99", "p999", "max")


def repeats_csv(run: Run) -> Iterator[str]:
    """Header and a line a repeat, in the order of the run. Text is safe in a spreadsheet."""
    pairs = [(arm, repeat) for arm in arm_summaries(run) for repeat in arm.repeats]
    names = sorted({name for _, repeat in pairs for name in repeat.summary.measures})
    yield _line((*REPEAT_COLUMNS, *_latency_columns(names)))
    times = {
        pk: (started, finished)
        for pk, started, finished in Repeat.objects.filter(run_id=run.pk).values_list(
            "pk", "started_at", "finished_at"
        )
    }
    for arm, repeat in sorted(pairs, key=lambda pair: pair[1].order):
        measures = {name: asdict(found) for name, found in repeat.summary.measures.items()}
        cells = _repeat(run, arm, repeat, *times.get(repeat.id, (None, None)))
        yield _line((*cells, *_latencies(measures, names)))


def rounds_csv(run: Run) -> Iterator[str]:
    """Header and a line a round, by repeat in the order of the run; read as it is asked for."""
    names = _names(run)
    yield _line((*ROUND_COLUMNS, *_latency_columns(names)))
    rows = (
        Round.objects.filter(run_id=run.pk)
        .order_by("repeat__order", "start_us", "group", "n")
        .values_list(
            "detail",
            "repeat__arm_name",
            "repeat__n",
            "group",
            "n",
            "start_us",
            "wall_us",
            "late_us",
            *COUNTER_FIELDS,
            *(f"settled_{name}" for name in COUNTER_FIELDS),
        )
    )
    for detail, *row in rows.iterator(chunk_size=2000):
        told: Mapping[str, Any] = detail or {}
        yield _line((run.number, *row, *_latencies(told.get("measures", {}), names)))


def _names(run: Run) -> list[str]:
    """The names of all latencies that any round of the run has."""
    details = Round.objects.filter(run_id=run.pk, detail__isnull=False)
    found: set[str] = set()
    for detail in details.order_by().values_list("detail", flat=True).iterator(chunk_size=2000):
        found.update((detail or {}).get("measures", {}))
    return sorted(found)


def _latency_columns(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        what = name.removesuffix("_us")
        yield from (f"{what}_{figure}_us" for figure in LATENCY_FIGURES)
        yield from (f"{what}_n", f"{what}_errors")


def _latencies(measures: Mapping[str, Any], names: Sequence[str]) -> Iterator[Cell]:
    """The cells of `_latency_columns`; empty where the round or the repeat has none."""
    for name in names:
        measure = measures.get(name)
        if measure is None:
            yield from [None] * (len(LATENCY_FIGURES) + 2)
            continue
        yield from (measure[figure] for figure in LATENCY_FIGURES)
        yield from (measure["n"], sum(measure["errors"].values()))


def _repeat(
    run: Run,
    arm: ArmSummary,
    repeat: RepeatSummary,
    started: datetime | None,
    finished: datetime | None,
) -> Iterator[Cell]:
    figures: Figures = repeat.summary
    walls, values = figures.wall_us, asdict(figures)
    yield from (run.number, run.experiment, run.target, arm.name, arm.scale)
    yield from (repeat.n, repeat.order, repeat.state, repeat.reason)
    yield from (None if at is None else iso(at) for at in (started, finished))
    yield from (figures.rounds, walls.p50, walls.p95, walls.p99, walls.max)
    yield from (figures.rounds_throttled, figures.rounds_counted, figures.counters_from)
    yield figures.window_us
    yield from (values[name] for name in COUNTERS)
    yield from (figures.avg_cpu_milli, figures.last_reports_milli, _throughput(figures))


def _throughput(figures: Figures) -> int | None:
    """Requests done one after the other, in 1,000 s of their rounds; a load's rate is set."""
    done = figures.measures.get("request_us")
    if done is None or not figures.timed_us:
        return None
    return (done.n * 1_000_000_000 + figures.timed_us // 2) // figures.timed_us


def _line(cells: Iterable[Cell]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow([_safe(cell) for cell in cells])
    return out.getvalue()


def _safe(cell: Cell) -> Cell:
    """A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    if isinstance(cell, str) and cell.lstrip()[:1] in ("=", "+", "-", "@"):
        return f"'{cell}"
    if isinstance(cell, str) and cell[:1] in ("\t", "\r", "\n"):
        return f"'{cell}"
    return cell
