"""The services of one process, made from the settings when they are first needed."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import cache

from django.conf import settings

from experiments_app.runs.announce import Announcer
from experiments_app.runs.reap import Reaper
from experiments_app.runs.ring import ring_again
from experiments_app.runs.sweep import compact_ended, sweep
from experiments_app.runs.work import Worker
from experiments_app.targets.base import Target
from experiments_app.targets.registry import DEFAULTS, Registry


@cache
def registry() -> Registry:
    """The configured targets; those without a machine of their own are on this one."""
    folder = settings.ENV.cpulab_dir
    return Registry(
        (replace(config, machine=config.machine or settings.ENV.machine) for config in DEFAULTS),
        builds={build: folder / f"cpulab-{build}" for build in ("go1.24", "go1.25")},
    )


def targets_on(machine: str) -> list[Target]:
    """The targets that compete for a machine's CPUs."""
    return [target for target in registry() if target.machine == machine]


@cache
def announcer() -> Announcer:
    return Announcer().__enter__()


@cache
def worker(machine: str) -> Worker:
    """This process's worker for a machine; one process serves one machine."""
    return Worker(
        machine=machine,
        registry=registry(),
        lab=settings.LAB_ID,
        announce=announcer(),
        lease_seconds=settings.ENV.lease_seconds,
    )


@cache
def reaper() -> Reaper:
    return Reaper(lease_seconds=settings.ENV.lease_seconds)


def tend() -> None:
    """Reap the runs of dead owners and clean up after them, then ring for what waits."""
    announce = announcer()
    for run in reaper().reap():
        run.refresh_from_db(fields=["last_seq"])
        announce(run.number, run.last_seq)
        if run.machine == settings.ENV.machine:
            for target in targets_on(run.machine):
                sweep(target=target, lab=settings.LAB_ID)
    compact_ended()
    ring_again()


def shut_down_worker() -> None:
    """For a signal handler: a thread asks the worker to stop, since the handler may have
    interrupted the very code that holds the flag's lock."""
    thread = threading.Thread(
        target=lambda: worker(settings.ENV.machine).shut_down(), name="shut-down", daemon=True
    )
    thread.start()
