"""How every run ends, whoever ends it: state, reason, its repeats, and the last event."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from experiments_app.core.instants import milliseconds
from experiments_app.models import EventKind, Repeat, RepeatState, Run, RunStatus
from experiments_app.runs.ledger import EventRow, store

_OPEN = (RepeatState.PREPARING, RepeatState.MEASURING, RepeatState.CLEANING)


@dataclass(frozen=True, slots=True)
class Ending:
    """Why and how a run ends; `code` stable, `reason` and `remedy` for a person."""

    status: RunStatus
    code: str = ""
    reason: str = ""
    remedy: str = ""


def end_run(*, number: int, ending: Ending, **only_if: Any) -> int | None:
    """End a run that still matches `only_if` (fence, status, heartbeat); its last seq or None.

    One transaction: whoever comes second finds nothing to end. The fence goes up, so a
    worker that is still alive can write nothing after the end.
    """
    now = timezone.now()
    with transaction.atomic():
        changed = Run.objects.filter(number=number, **only_if).update(
            status=ending.status,
            reason_code=ending.code,
            reason=ending.reason,
            remedy=ending.remedy,
            finished_at=now,
            fence=F("fence") + 1,
        )
        if not changed:
            return None
        rows = _end_repeats(number, ending, now)
        last: int = Run.objects.values_list("last_seq", flat=True).get(number=number)
        final = last + len(rows) + 1
        failed = Repeat.objects.filter(run_id=number, state=RepeatState.FAILED).count()
        body = {
            "status": ending.status.value,
            "code": ending.code,
            "reason": ending.reason,
            "remedy": ending.remedy,
            "failed_repeats": failed,
            "at": milliseconds(now),
            "final": final,
        }
        store(number, [*rows, EventRow(EventKind.RUN, body)], last + 1)
        Run.objects.filter(number=number).update(last_seq=final, failed_repeats=failed)
    return final


def _end_repeats(number: int, ending: Ending, now: datetime) -> list[EventRow]:
    """Repeats under way fail with the run's reason; those not begun are skipped."""
    rows: list[EventRow] = []
    for repeat in Repeat.objects.filter(run_id=number, state__in=(*_OPEN, RepeatState.WAITING)):
        begun = repeat.state != RepeatState.WAITING
        repeat.state = RepeatState.FAILED if begun else RepeatState.SKIPPED
        repeat.reason_code = ending.code
        repeat.reason = ending.reason or "The run had ended before this repeat began."
        repeat.finished_at = now
        repeat.save(update_fields=["state", "reason_code", "reason", "finished_at"])
        rows.append(EventRow(EventKind.REPEAT, repeat_body(repeat, now)))
    return rows


def repeat_body(repeat: Repeat, at: datetime) -> dict[str, Any]:
    """A repeat's state as an event carries it."""
    return {
        "repeat": repeat.pk,
        "arm": repeat.arm,
        "n": repeat.n,
        "state": str(repeat.state),
        "code": repeat.reason_code,
        "reason": repeat.reason,
        "at": milliseconds(at),
    }
