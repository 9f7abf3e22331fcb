"""What a person should know about a planned arm before it runs."""

from __future__ import annotations

from experiments_app.core.quantity import limit_to_quota, say_duration
from experiments_app.core.spec_model import Arm, Container
from experiments_app.core.timing import (
    MAX_HZ,
    SAMPLES_A_PERIOD,
    burst_pace_us,
    burst_wall_us,
    sample_hz,
)
from experiments_app.core.workloads import Burst


def arm_notes(arm: Arm, cpus: int | None) -> tuple[str, ...]:
    """Notes for every container of the arm, each once."""
    notes: dict[str, None] = {}
    for group in arm.groups:
        for container in group.containers:
            notes |= dict.fromkeys(_container_notes(container, cpus))
    return tuple(notes)


def _container_notes(container: Container, cpus: int | None) -> list[str]:
    limits = container.limits
    notes = [limit_to_quota(container.limit_milli, container.period_us).note]
    samples = sample_hz(limits) * limits.period_us / 1_000_000
    if limits.quota_us is not None and samples < SAMPLES_A_PERIOD:
        notes.append(
            f"A period of {say_duration(limits.period_us)} is too short for "
            f"{SAMPLES_A_PERIOD} samples each: counters are read {MAX_HZ} times a second, "
            f"{samples:g} times a period."
        )
    work = container.workload
    if isinstance(work, Burst):
        notes += _burst_notes(work, container, cpus)
    return [note for note in notes if note]


def _burst_notes(work: Burst, container: Container, cpus: int | None) -> list[str]:
    notes: list[str] = []
    wall = burst_wall_us(work, cpus)
    if cpus is not None and wall > work.work_us:
        notes.append(
            f"{work.threads} threads share {cpus} CPUs: a round of "
            f"{say_duration(work.round_cpu_us)} CPU takes at least {say_duration(wall)}, "
            "with or without a limit."
        )
    pace = burst_pace_us(work, container.limits, cpus)
    if pace > work.interval_us:
        notes.append(
            f"A round needs {say_duration(pace)} here, more than the interval of "
            f"{say_duration(work.interval_us)}: rounds start late, one after the other."
        )
    return notes
