"""Removing what runs left on a target when their worker could not."""

from __future__ import annotations

import structlog

from experiments_app.core.errors import LabError
from experiments_app.models import Run, RunStatus
from experiments_app.runs.compact import compact
from experiments_app.targets.base import Target

log = structlog.get_logger(__name__)


def sweep(*, target: Target, lab: str) -> list[str]:
    """Clean up after every run of this lab that left something and is not running now.

    Looks at the target, not at a list: what a killed worker had no time to write down is
    found all the same. Returns what was removed.
    """
    removed: list[str] = []
    try:
        uids = target.leftovers(lab=lab)
    except LabError as error:
        log.error("cannot look for leftovers", target=target.name, error=str(error))
        return removed
    running = set(
        Run.objects.filter(uid__in=uids, status=RunStatus.RUNNING).values_list("uid", flat=True)
    )
    for uid in uids:
        if uid in running:
            continue
        try:
            removed.extend(target.cleanup(lab=lab, run=uid))
        except LabError as error:
            log.error("sweep failed", target=target.name, run=uid, error=str(error))
    return removed


def compact_ended() -> None:
    """Compact the frames of ended runs whose worker did not get to it."""
    numbers = (
        Run.objects.exclude(status__in=(RunStatus.QUEUED, RunStatus.RUNNING))
        .filter(frames__isnull=False)
        .values_list("number", flat=True)
        .distinct()
    )
    for number in list(numbers):
        compact(number)
