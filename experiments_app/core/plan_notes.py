"""What a person should know about a planned arm before it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments_app.core.places import LOAD_PLACE
from experiments_app.core.quantity import limit_to_quota, say_duration
from experiments_app.core.scaling import GOMAXPROCS, Room, differences
from experiments_app.core.spec_model import Arm, Container
from experiments_app.core.timing import (
    MAX_HZ,
    SAMPLES_A_PERIOD,
    sample_hz,
)
from experiments_app.core.workloads import Burst

if TYPE_CHECKING:
    from experiments_app.core.plan import PlannedArm


def arm_notes(arm: Arm, room: Room) -> tuple[str, ...]:
    """Notes for every container of the arm, each once."""
    notes: dict[str, None] = dict.fromkeys(_place_notes(arm, room))
    for group in arm.groups:
        cpus = room.cpus_at(arm, group.place)
        for container in group.containers:
            notes |= dict.fromkeys(_container_notes(container, cpus))
    return tuple(notes)


def scale_notes(arm: PlannedArm, arms: Sequence[PlannedArm]) -> tuple[str, ...]:
    """What scaling takes from the comparison of an arm with the other `arms` of its plan."""
    if arm.scale is None:
        return ()
    notes = []
    whole = [other.label for other in arms if other.scale is None]
    if whole:
        runs = "runs" if len(whole) == 1 else "run"
        notes.append(f"{'; '.join(whole)} {runs} unscaled: compare within one scale.")
    alike = [
        other.label
        for other in arms
        if other.index < arm.index and other.scale is not None and _only_builds(arm.arm, other.arm)
    ]
    if alike:
        notes.append(
            f"But for the build the same as {'; '.join(alike)} here: scaling sets GOMAXPROCS, so "
            "what the builds would choose by themselves does not show."
        )
    return tuple(notes)


def _only_builds(one: Arm, other: Arm) -> bool:
    """Whether two arms differ in builds alone, each with GOMAXPROCS set."""
    found = differences(one, other)
    containers = [c for arm in (one, other) for group in arm.groups for c in group.containers]
    return (
        bool(found)
        and all(name.rpartition(".")[2] == "build" for name in found)
        and all(GOMAXPROCS in c.env for c in containers if c.workload.busy)
    )


def _place_notes(arm: Arm, room: Room) -> list[str]:
    """How the CPUs of one machine are split between places, and what that does to limits."""
    if room.cpus is None or not room.one_machine or len(arm.places) < 2:
        return []
    if LOAD_PLACE not in arm.places:
        return []
    if room.cpus < 2:
        return ["The load shares the one CPU with what it loads: its latencies are its own too."]
    own = room.cpus_at(arm, LOAD_PLACE) or 0
    rest = room.cpus - own
    notes = [
        f"The load has {_cpus(own)} of its own, everything else the other "
        f"{_cpus(rest) if rest > 1 else 'one'}."
    ]
    for group in arm.groups:
        cpus = room.cpus_at(arm, group.place)
        limits = [c.limit_milli for c in group.containers if c.workload.busy]
        if cpus is not None and any(milli is not None and milli >= cpus * 1000 for milli in limits):
            notes.append(
                f"Group {group.name} is limited to all of the {_cpus(cpus)} that it has: the "
                "limit hardly ever binds."
            )
    return notes


def _cpus(count: int) -> str:
    return f"{count} CPU" if count == 1 else f"{count} CPUs"


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
    wall = work.wall_us(cpus)
    if cpus is not None and wall > work.work_us:
        notes.append(
            f"{work.threads} threads share {cpus} CPUs: a round of "
            f"{say_duration(work.round_cpu_us)} CPU takes at least {say_duration(wall)}, "
            "with or without a limit."
        )
    pace = work.pace_us(container.limits, cpus)
    if pace > work.interval_us:
        notes.append(
            f"A round needs {say_duration(pace)} here, more than the interval of "
            f"{say_duration(work.interval_us)}: rounds start late, one after the other."
        )
    return notes
