"""Cancelling: at once while queued, within seconds while running."""

from __future__ import annotations

from django.utils import timezone

from experiments_app.models import AuditEntry, Run, RunStatus
from experiments_app.runs.ending import Ending, end_run


def cancel(*, number: int, who: str) -> RunStatus:
    """Ask a run to stop; returns its status afterwards. An ended run stays as it is.

    A queued run ends here. A running one is asked through the database: its owner looks
    once a second, and the reaper ends it when the owner is gone.
    """
    Run.objects.filter(
        number=number,
        status__in=(RunStatus.QUEUED, RunStatus.RUNNING),
        cancel_requested_at=None,
    ).update(cancel_requested_at=timezone.now(), cancelled_by=who)
    ending = Ending(RunStatus.CANCELLED, "cancelled", "Cancelled before it began.")
    end_run(number=number, ending=ending, status=RunStatus.QUEUED)
    AuditEntry.objects.create(who=who, action="cancel", subject=f"run {number}")
    return RunStatus(Run.objects.values_list("status", flat=True).get(number=number))
