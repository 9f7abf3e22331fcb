"""What must hold between the groups and the steps of an arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments_app.core.fields import refuse, refuse_twice
from experiments_app.core.units import units_of
from experiments_app.core.workloads import Load, Serve

if TYPE_CHECKING:
    from experiments_app.core.spec_model import Arm, Group


# Each is a control group, most are programs, and all of them run at once.
MAX_UNITS = 100


def check_arm(arm: Arm) -> None:
    """Refuse an arm whose steps do not fit its groups, or whose load has nobody to call."""
    names = [group.name for group in arm.groups]
    refuse_twice("group", names)
    units = sum(
        len(units_of(g.name, g.replicas, tuple(c.name for c in g.containers))) for g in arm.groups
    )
    if units > MAX_UNITS:
        raise refuse(
            f"The arm has {units} pods and containers, replicas counted.",
            f"At most {MAX_UNITS} can run at once: give fewer replicas or containers.",
        )
    started = _starts(arm, names)
    idle = [name for name in names if name not in started]
    if idle:
        raise refuse(f"Group {idle[0]} is never started.", "Start it in a step, or drop it.")
    if sum(step.measure is not None for step in arm.steps) != 1:
        raise refuse("An arm measures exactly one group.", 'Give one step {measure = "GROUP"}.')
    _check_measured(arm)
    for group in arm.groups:
        _check_load(arm, group, started)


def _starts(arm: Arm, names: list[str]) -> list[str]:
    """The groups in the order in which they start."""
    started: list[str] = []
    for step in arm.steps:
        for name in (*(step.start or ()), *((step.measure,) if step.measure else ())):
            if name not in names:
                raise refuse(
                    f"A step names {name}, which is no group of this arm.",
                    f"Its groups: {', '.join(names)}.",
                )
        twice = [name for name in step.start or () if name in started]
        if twice:
            raise refuse(f"Group {min(twice)} is started twice.", "Start each group once.")
        if step.pin is not None:
            _check_pin(arm, step.pin, names, started)
        started += step.start or ()
        if step.measure is not None and step.measure not in started:
            raise refuse(
                f"Group {step.measure} is measured before it is started.",
                f'Put {{start = ["{step.measure}"]}} before it.',
            )
    return started


def _check_pin(arm: Arm, pin: str, names: list[str], started: list[str]) -> None:
    if pin not in names and pin not in arm.places:
        raise refuse(
            f"A step pins {pin}, which is neither a place nor a group of this arm.",
            f"Its places: {', '.join(arm.places)}; its groups: {', '.join(names)}.",
        )
    if started:
        raise refuse(
            f"{pin} is pinned after {started[0]} was started.",
            "Put the pins before the first start: a program looks at its CPUs once.",
        )


def _check_measured(arm: Arm) -> None:
    endless = [c.name for c in arm.measured.containers if not c.workload.ends]
    if endless:
        raise refuse(
            f"Group {arm.measured.name} is measured, but its container {endless[0]} never ends.",
            "Measure the load instead of the server, or give a spin a duration.",
        )


def _check_load(arm: Arm, group: Group, started: list[str]) -> None:
    """A load's server is a group of the arm that serves, and is up before the load starts."""
    for container in group.containers:
        work = container.workload
        if not isinstance(work, Load):
            continue
        serving = [
            other.name
            for other in arm.groups
            if any(isinstance(c.workload, Serve) for c in other.containers)
        ]
        if work.to not in serving:
            known = f"Its serving groups: {', '.join(serving)}." if serving else ""
            raise refuse(
                f"The load {group.name} calls {work.to}, which serves nothing in this arm.",
                f'Name a group whose workload is of kind "serve" as to = "...". {known}'.strip(),
            )
        if started.index(work.to) > started.index(group.name):
            raise refuse(
                f"The load {group.name} is started before {work.to}, which it calls.",
                "Start the server first.",
            )
