"""Launching: an experiment becomes a queued run with everything it needs frozen in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from django.contrib.auth.models import User
from django.db import transaction

from experiments_app.archive.experiments import version_of
from experiments_app.catalogue import CATALOGUE_VERSION
from experiments_app.core.errors import LabError
from experiments_app.core.plan import Plan, make_plan
from experiments_app.core.spec import Spec, apply_settings, dump_spec, select_arms
from experiments_app.models import AuditEntry, EventKind, Repeat, Run
from experiments_app.runs.ledger import EventRow, store
from experiments_app.targets.base import Target, TargetStatus


class TargetNotReady(LabError):
    """The target cannot run anything now; the message has every blocking problem."""

    code = "target-not-ready"


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks to run. Empty `arms` means all; `repeats` None means as published.

    `own_version` is that of a run which is run again; otherwise the launch looks it up.
    """

    spec: Spec
    target: Target
    repeats: int | None = None
    arms: Sequence[str] = ()
    settings: Mapping[str, str] | None = None
    own_version: int | None = None


def launch(request: Request, *, user: User | None, who: str) -> Run:
    """Check, plan and store a run as queued; does not ring.

    Raises SpecError, PlanError or TargetNotReady; then nothing was stored.
    """
    spec = request.spec
    own_version = request.own_version or version_of(spec)
    if request.settings:
        spec = apply_settings(spec, request.settings)
    if request.arms:
        spec = select_arms(spec, request.arms)
    status = request.target.status()
    require_ready(status)
    plan = make_plan(
        spec,
        kind=request.target.kind,
        cpus=status.facts.cpus,
        repeats=request.repeats,
        cgroup={"v1": 1, "v2": 2}.get(status.facts.cgroup or ""),
    )
    with transaction.atomic():
        run = _store(spec, plan, status, user, who, own_version)
        AuditEntry.objects.create(
            who=who, action="launch", subject=f"run {run.number}: {spec.name} on {run.target}"
        )
    return run


def require_ready(status: TargetStatus) -> None:
    """Raise TargetNotReady with every blocking problem and its remedy."""
    blocking = [problem for problem in status.problems if problem.blocking]
    if blocking:
        raise TargetNotReady(
            f"Target {status.name} is not ready: "
            + " ".join(problem.message for problem in blocking),
            remedy=" ".join(problem.remedy for problem in blocking),
        )


def _store(
    spec: Spec,
    plan: Plan,
    status: TargetStatus,
    user: User | None,
    who: str,
    own_version: int | None,
) -> Run:
    run = Run.objects.create(
        experiment=spec.name,
        title=spec.heading[:200],
        spec=dump_spec(spec, full=True),
        plan=plan.to_dict(),
        catalogue_version=CATALOGUE_VERSION,
        own_version=own_version,
        target=status.name,
        target_kind=status.kind,
        machine=status.machine,
        facts=asdict(status.facts),
        repeats_asked=plan.repeats,
        expected_us=plan.expected_us,
        launched_by=user,
        launched_who=who[:150],
    )
    Repeat.objects.bulk_create(
        Repeat(run=run, order=order, arm=step.arm, arm_name=plan.arms[step.arm].name, n=step.n)
        for order, step in enumerate(plan.order)
    )
    notes = list(plan.notes)
    for arm in plan.arms:
        notes.extend(f"{arm.name}: {note}" for note in arm.notes)
    rows = [
        EventRow(EventKind.NOTE, {"repeat": None, "level": "info", "text": note}) for note in notes
    ]
    store(run.number, rows, 1)
    run.last_seq = len(rows)
    run.save(update_fields=["last_seq"])
    return run
