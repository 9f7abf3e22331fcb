"""The run document, "throttle-lab.run/1": a run as JSON, complete enough to be rebuilt.

Times are ISO 8601 in UTC with milliseconds; durations are integers in microseconds; null is
"not measured". `summary`, `prediction` and `verdict` are derived from the rest: whoever
imports the document works them out again. Names of people are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from experiments_app.archive.notes import warnings_of
from experiments_app.archive.summary import ArmSummary, Figures, RepeatSummary, arm_summaries
from experiments_app.archive.tally import COUNTER_FIELDS
from experiments_app.core.instants import iso
from experiments_app.models import Repeat, Round, Run

FORMAT = "throttle-lab.run/1"
_PLAIN = ("n", "start_us", "wall_us", "late_us", *COUNTER_FIELDS)
_SETTLED = tuple(f"settled_{name}" for name in COUNTER_FIELDS)

Json = dict[str, Any]


def document(run: Run) -> Json:
    """The document of a run in any state; six queries at most, whatever its size."""
    repeats = {repeat.pk: repeat for repeat in Repeat.objects.filter(run_id=run.pk)}
    rounds = _rounds(run)
    warnings = warnings_of(run)
    return {
        "format": FORMAT,
        "run": _run(run),
        "environment": run.facts,
        "spec": run.spec,
        "plan": {key: run.plan[key] for key in ("kind", "cpus", "repeats", "notes")},
        "arms": [
            _arm(planned, arm, repeats, rounds, warnings)
            for planned, arm in zip(run.plan["arms"], arm_summaries(run), strict=True)
        ],
    }


def figures_json(figures: Figures) -> Json:
    """A summary as the document has it."""
    body = asdict(figures)
    walls = body.pop("wall_us")
    wall_us = {key: walls[key] for key in ("n", "p50", "p95", "p99", "max")}
    return {"window_us": body.pop("window_us"), "wall_us": wall_us, **body}


def _run(run: Run) -> Json:
    return {
        "id": run.uid,
        "number": run.number,
        "imported": run.imported,
        "experiment": run.experiment,
        "title": run.title,
        "catalogue_version": run.catalogue_version,
        "own_version": run.own_version,
        "target": run.target,
        "target_kind": run.target_kind,
        "machine": run.machine,
        "status": run.status,
        "reason_code": run.reason_code or None,
        "reason": run.reason or None,
        "remedy": run.remedy or None,
        "failed_repeats": run.failed_repeats,
        "repeats_asked": run.repeats_asked,
        "expected_us": run.expected_us,
        "created_at": _at(run.created_at),
        "started_at": _at(run.started_at),
        "finished_at": _at(run.finished_at),
    }


def _arm(
    planned: Mapping[str, Any],
    arm: ArmSummary,
    repeats: Mapping[int, Repeat],
    rounds: Mapping[int, list[Json]],
    warnings: Mapping[int, list[str]],
) -> Json:
    return {
        "name": arm.name,
        "label": arm.label,
        "settings": {key: value for key, value in planned["arm"].items() if key != "name"},
        "scale": arm.scale,
        "expected_us": planned["expected_us"],
        "notes": planned["notes"],
        "summary": {
            **figures_json(arm.summary),
            "repeats_done": arm.repeats_done,
            "repeats_failed": arm.repeats_failed,
            "partial": arm.partial,
        },
        "repeats": [
            _repeat(
                repeats[summary.id],
                summary,
                rounds.get(summary.id, []),
                warnings.get(summary.id, []),
            )
            for summary in arm.repeats
            if summary.id in repeats
        ],
        "prediction": None,
        "verdict": None,
    }


def _repeat(
    repeat: Repeat, summary: RepeatSummary, rounds: list[Json], warnings: list[str]
) -> Json:
    return {
        "n": repeat.n,
        "order": repeat.order,
        "state": repeat.state,
        "reason_code": repeat.reason_code or None,
        "reason": repeat.reason or None,
        "started_at": _at(repeat.started_at),
        "finished_at": _at(repeat.finished_at),
        "summary": figures_json(summary.summary),
        "groups": _groups(repeat, summary),
        "rounds": rounds,
        "lab": repeat.lab,
        "warnings": warnings,
    }


def _groups(repeat: Repeat, summary: RepeatSummary) -> list[Json]:
    """What is known of each unit; one that is only in the kernel's answers is one too."""
    readback = {str(entry["group"]): entry for entry in repeat.readback or ()}
    tree = {str(entry["group"]): entry["levels"] for entry in repeat.tree or ()}
    figures = {group.name: group.summary for group in summary.groups}
    others = sorted({*readback, *tree, *repeat.programs} - set(figures))
    return [
        _group(repeat, name, figures.get(name), readback.get(name), tree.get(name))
        for name in (*figures, *others)
    ]


def _group(
    repeat: Repeat, name: str, figures: Figures | None, readback: Json | None, tree: Any
) -> Json:
    program = repeat.programs.get(name)
    found = None
    if readback is not None:
        found = {key: value for key, value in readback.items() if key != "group"}
    return {
        "name": name,
        "pod": None,
        "node": None,
        "summary": figures_json(figures) if figures else None,
        "totals": repeat.totals.get(name),
        "tree": tree,
        "readback": found,
        # Who answered its requests: only a load tells that.
        "connections": (figures.servers if figures else None) or None,
        "program": program["program"] if program else None,
        # The same instant by the clock of the rounds and by the calendar.
        "clock": {key: program[key] for key in ("mono_us", "unix_us")} if program else None,
    }


def _rounds(run: Run) -> dict[int, list[Json]]:
    """The rounds of every repeat in the order in which they began."""
    found: dict[int, list[Json]] = defaultdict(list)
    rows = (
        Round.objects.filter(run_id=run.pk)
        .order_by("repeat_id", "start_us", "group", "n")
        .values_list("repeat_id", "group", "settled_seq", "detail", *_PLAIN, *_SETTLED)
    )
    for repeat, group, settled_seq, detail, *values in rows.iterator(chunk_size=5000):
        plain = dict(zip(_PLAIN, values, strict=False))
        settled = dict(zip(COUNTER_FIELDS, values[len(_PLAIN) :], strict=True))
        entry = {"group": group, **plain, "settled": None if settled_seq is None else settled}
        found[repeat].append(entry | (detail or {}))
    return found


def _at(at: datetime | None) -> str | None:
    return None if at is None else iso(at)
