"""How much CPU each unit of an arm got: one definition for every table that says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from experiments_app.archive.arms import groups_of
from experiments_app.archive.summary import ArmSummary, Figures
from experiments_app.core.plan import PlannedArm
from experiments_app.core.units import Unit
from experiments_app.models import RepeatState


@dataclass(frozen=True, slots=True)
class UnitCpu:
    """CPU of one unit, in thousandths of a CPU: the mean of its last three reports.

    Over `repeats` repeats the mean of their means. `of_one_cpu`: all it can get is one CPU, to
    which its place or group is pinned, so that the number is a share; elsewhere it is CPUs.
    """

    milli: int | None
    repeats: int
    of_one_cpu: bool


def unit_cpus(planned: PlannedArm, arm: ArmSummary) -> Mapping[str, UnitCpu]:
    """Every unit of the arm that was given CPU to burn, by name, over the repeats that are done.

    Where none is done, over what the others measured. A whole pod has what its containers have
    together; a repeat in which one of them has no three reports is left out.
    """
    own = groups_of(planned.to_dict()["arm"]).own
    done = [repeat for repeat in arm.repeats if repeat.state == RepeatState.DONE]
    measured = [
        {group.name: group.summary for group in repeat.groups} for repeat in done or arm.repeats
    ]
    found: dict[str, UnitCpu] = {}
    for group in planned.groups:
        one = pinned_to_one_cpu(planned, group.name, group.place)
        for unit in group.units:
            names = [part.name for part in _parts(unit, group.units) if own[part.name] == "cpu"]
            if names:
                means = [mean for each in measured if (mean := _mean(names, each)) is not None]
                found[unit.name] = UnitCpu(_rounded(means), len(means), one)
    return found


def pinned_to_one_cpu(planned: PlannedArm, group: str, place: str) -> bool:
    """Whether a step of the arm keeps the group, or its place, on one CPU."""
    return any(step.pin in (group, place) and step.cpus == 1 for step in planned.arm.steps)


def _parts(unit: Unit, units: tuple[Unit, ...]) -> list[Unit]:
    """The unit itself, or the containers of a whole pod."""
    if unit.container is not None:
        return [unit]
    return [part for part in units if part.replica == unit.replica and part.container is not None]


def _mean(names: list[str], figures: Mapping[str, Figures]) -> int | None:
    """Of these units together in one repeat; None where one of them was not measured."""
    found = [figures[name].last_reports_milli for name in names if name in figures]
    known = [milli for milli in found if milli is not None]
    return sum(known) if len(known) == len(names) else None


def _rounded(means: list[int]) -> int | None:
    return int(Fraction(sum(means), len(means)) + Fraction(1, 2)) if means else None
