"""Ringing a machine's worker: a hint that something is queued, never the queue itself."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.db.models import Q
from django.utils import timezone

from experiments_app.models import Run, RunStatus
from experiments_app.runs.announce import broker_errors

log = structlog.get_logger(__name__)

AGAIN_AFTER = timedelta(seconds=5)
EXPIRES_SECONDS = 30
WORK = "experiments_app.tasks.work"


def ring(machine: str) -> str:
    """Send the doorbell; returns "" or, where the broker is away, why it could not be sent."""
    # Here, not above: a page is served before Celery is imported.
    from labsite.celery import app, machine_queue

    try:
        app.send_task(
            WORK,
            args=[machine],
            queue=machine_queue(machine),
            expires=EXPIRES_SECONDS,
            retry=False,
        )
    except broker_errors() as error:
        why = f"The worker could not be told: the broker does not answer ({error})."[:300]
        log.warning("doorbell not sent", machine=machine, error=str(error))
    else:
        why = ""
    queued = Run.objects.filter(machine=machine, status=RunStatus.QUEUED)
    queued.update(rung_at=timezone.now(), ring_error=why)
    return why


def ring_again() -> list[str]:
    """Ring for every idle machine that has queued runs and has not been rung lately."""
    now = timezone.now()
    busy = Run.objects.filter(status=RunStatus.RUNNING).values("machine")
    stale = Q(rung_at=None) | Q(rung_at__lt=now - AGAIN_AFTER)
    machines = (
        Run.objects.filter(stale, status=RunStatus.QUEUED)
        .exclude(machine__in=busy)
        .values_list("machine", flat=True)
        .distinct()
        .order_by("machine")
    )
    rung = list(machines)
    for machine in rung:
        ring(machine)
    return rung
