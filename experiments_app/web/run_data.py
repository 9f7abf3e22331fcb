"""What a run page embeds; everything else comes over the socket."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from django.urls import reverse

from experiments_app.core.instants import milliseconds
from experiments_app.core.plan import Plan, PlannedArm
from experiments_app.core.records import Counters
from experiments_app.core.workloads import Burst, Parallel, Spin
from experiments_app.models import Repeat, Run
from experiments_app.web.published import beside
from experiments_app.web.run_units import counted_group, unit_data

# The names of the counters that rows of the socket have.
COUNTERS = (*(field.name for field in fields(Counters)), "run_delay_us")


def planned_arms(run: Run) -> tuple[PlannedArm, ...]:
    """The arms as they were frozen at launch."""
    return Plan.from_dict(run.plan).arms


def run_data(run: Run, arms: Iterable[PlannedArm], repeats: Iterable[Repeat]) -> dict[str, Any]:
    """The page's run-data; times as epoch ms, durations as us."""
    return {
        "number": run.number,
        "uid": run.uid,
        "experiment": run.experiment,
        "title": run.title,
        "status": run.status,
        "reason": run.reason,
        "remedy": run.remedy,
        "target": run.target,
        "target_kind": run.target_kind,
        "machine": run.machine,
        "created_at": milliseconds(run.created_at),
        "started_at": milliseconds(run.started_at) if run.started_at else None,
        "finished_at": milliseconds(run.finished_at) if run.finished_at else None,
        "expected_us": run.expected_us,
        "ws": f"/ws/runs/{run.number}/",
        "urls": {"page": reverse("web:run", args=[run.number])},
        "cpus": run.facts.get("cpus") or 1,
        "counters": COUNTERS,
        "arms": [arm_data(run, arm) for arm in arms],
        "repeats": [
            {
                "id": repeat.pk,
                "arm": repeat.arm,
                "n": repeat.n,
                "state": repeat.state,
                "reason": repeat.reason,
                "readback": repeat.readback,
                "lab": repeat.lab,
            }
            for repeat in repeats
        ],
    }


def arm_data(run: Run, arm: PlannedArm) -> dict[str, Any]:
    """One arm's settings; its limits are those of the first unit whose counters are its own."""
    container = arm.measured.containers[0]
    work = container.workload
    burst = work if isinstance(work, Burst) else None
    units = [{**unit, "pinned_cpus": pinned_cpus(arm, unit)} for unit in unit_data(arm)]
    counted = next(unit for unit in units if unit["counted"])
    limited = counted_group(arm).containers[0]
    return {
        "index": arm.index,
        "name": arm.name,
        "label": arm.label,
        "scale": arm.scale,
        "kind": work.kind,
        "result": arm.result,
        "units": units,
        "quota_us": counted["quota_us"],
        "period_us": counted["period_us"],
        "burst_us": counted["burst_us"],
        "limit_text": counted["limit_text"],
        "threads": work.processes if isinstance(work, Parallel) else burst.threads if burst else 1,
        "work_us": work.work_us if isinstance(work, Burst | Parallel) else 0,
        "interval_us": burst.interval_us if burst else 0,
        "report_us": work.report_us if isinstance(work, Spin) else None,
        "rounds": arm.rounds,
        "gomaxprocs": dict(limited.env).get("GOMAXPROCS"),
        "sample_hz": arm.sample_hz,
        "expected_us": arm.expected_us,
        "published": beside(run.experiment, arm),
    }


def pinned_cpus(arm: PlannedArm, unit: Mapping[str, Any]) -> int | None:
    """On how many CPUs a step keeps the unit's place or group; None where none does."""
    wanted = (unit["group"], unit["place"])
    found = [step.cpus for step in arm.arm.steps if step.pin in wanted and step.cpus is not None]
    return min(found, default=None)


def live_data(run: Run) -> dict[str, Any]:
    """For a small strip elsewhere: the run's data and where its newest rows begin."""
    repeats = list(run.repeats.all())
    return {**run_data(run, planned_arms(run), repeats), "since": max(0, run.last_seq - 120)}
