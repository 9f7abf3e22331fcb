"""Taking in a run that was exported, here or in another lab."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from experiments_app.archive.errors import AlreadyHere, DocumentError
from experiments_app.archive.incoming import Incoming, read_file
from experiments_app.archive.rebuild import Rebuilder
from experiments_app.archive.schema import RepeatShape
from experiments_app.models import AuditEntry, Repeat, Run

__all__ = ["AlreadyHere", "DocumentError", "import_run"]


def import_run(data: bytes, *, filename: str, user: User | None, who: str) -> Run:
    """Store the run of an exported document or zip; it keeps its uid and gets a number.

    The importer becomes `launched_by`: documents name no people. Raises DocumentError (code
    "bad-document") for a file that is not such an export, AlreadyHere (code "already-here")
    when the run is in this archive; then nothing was stored.
    """
    incoming = read_file(data, filename)
    uid = incoming.document.run.id
    _refuse_known(uid)
    try:
        with transaction.atomic():
            run = _store(incoming, user, who)
            AuditEntry.objects.create(
                who=who[:150],
                action="import",
                subject=f"run {run.number}: {run.experiment} on {run.target}"[:200],
            )
    except IntegrityError:
        # Somebody else imported the same run at the same moment.
        _refuse_known(uid)
        raise
    return run


def _refuse_known(uid: str) -> None:
    number = Run.objects.filter(uid=uid).values_list("number", flat=True).first()
    if number is not None:
        raise AlreadyHere(number)


def _store(incoming: Incoming, user: User | None, who: str) -> Run:
    document = incoming.document
    shape = document.run
    run = Run.objects.create(
        uid=shape.id,
        experiment=shape.experiment,
        title=shape.title,
        spec=incoming.spec,
        plan=incoming.plan,
        catalogue_version=shape.catalogue_version,
        own_version=shape.own_version,
        target=shape.target,
        target_kind=shape.target_kind,
        machine=shape.machine,
        facts=document.environment.model_dump(mode="json", exclude_unset=True),
        repeats_asked=shape.repeats_asked,
        expected_us=shape.expected_us,
        status=shape.status,
        reason_code=shape.reason_code or "",
        reason=shape.reason or "",
        remedy=shape.remedy or "",
        failed_repeats=sum(repeat.state == "failed" for _, repeat in document.repeats),
        started_at=shape.started_at,
        finished_at=shape.finished_at,
        launched_by=user,
        launched_who=who[:150],
        imported=True,
    )
    repeats = Repeat.objects.bulk_create(
        _repeat(run, arm, document.arms[arm].name, repeat) for arm, repeat in document.repeats
    )
    run.last_seq = Rebuilder(run, repeats, incoming).store()
    # auto_now_add has put the moment of the import there.
    run.created_at = shape.created_at
    run.save(update_fields=["last_seq", "created_at"])
    return run


def _repeat(run: Run, arm: int, arm_name: str, shape: RepeatShape) -> Repeat:
    groups = [(group.name, group) for group in shape.groups]
    return Repeat(
        run=run,
        order=shape.order,
        arm=arm,
        arm_name=arm_name,
        n=shape.n,
        state=shape.state,
        reason_code=shape.reason_code or "",
        reason=shape.reason or "",
        started_at=shape.started_at,
        finished_at=shape.finished_at,
        readback=_some(
            {"group": name, **_set(group.readback)} for name, group in groups if group.readback
        ),
        tree=_some(
            {"group": name, "levels": [_set(level) for level in group.tree]}
            for name, group in groups
            if group.tree is not None
        ),
        programs={
            name: {"group": name, **_set(group.clock), "program": group.program}
            for name, group in groups
            if group.clock
        },
        totals={name: _set(group.totals) for name, group in groups if group.totals},
        lab=shape.lab,
    )


def _set(shape: Any) -> dict[str, Any]:
    """What the document said, and no more: a key that it left out stays out."""
    values: dict[str, Any] = shape.model_dump(mode="json", exclude_unset=True)
    return values


def _some(entries: Any) -> list[dict[str, Any]] | None:
    return list(entries) or None
