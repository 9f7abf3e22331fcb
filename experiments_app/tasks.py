"""Celery's entry points; each only wires settings to the service that does the work."""

from __future__ import annotations

from celery import shared_task, signals

from experiments_app.runs import wiring


@shared_task(name="experiments_app.tasks.work")
def work(machine: str) -> None:
    """The doorbell of a machine's worker."""
    wiring.worker(machine).drain()


@shared_task(name="experiments_app.tasks.tend")
def tend() -> None:
    """Control's round: reap, sweep, compact, ring again."""
    wiring.tend()


@signals.worker_shutting_down.connect
def end_the_run(**_: object) -> None:
    """SIGTERM: the run under way ends as interrupted instead of being waited for."""
    wiring.shut_down_worker()
