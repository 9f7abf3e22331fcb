"""What runs in an arm's cgroups: for each container the program, its arguments, its patience."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from experiments_app.core.errors import TargetError
from experiments_app.core.spec_model import Arm, Container, Group
from experiments_app.core.units import Unit, units_of
from experiments_app.targets.local.commands import Command, command_of

_SLACK_US = 10_000_000
_START_CPU_US = 1_000_000  # a program's start is CPU under its limit too
_SLOWEST = 10  # times slower than its limit alone explains: then something is wrong


@dataclass(frozen=True, slots=True)
class Job:
    """One container of the arm, ready to run; `unit` is what its records are called by."""

    unit: str
    group: str
    measured: bool
    build: str
    command: Command
    env: dict[str, str] = field(default_factory=dict)

    @property
    def ends_with_a_line(self) -> bool:
        """Whether its stream closes with an end line that says why it ended."""
        return self.command.arguments[0] != "info"

    def patience_us(self, quota_us: int | None, period_us: int | None) -> int:
        """How long without a line is too long, given the limit that is in force."""
        cpus = quota_us / period_us if quota_us is not None and period_us else 1.0
        step_us = int((self.command.cpu_us * _SLOWEST + _START_CPU_US) / min(cpus, 1.0))
        # The quota may be used up when a step starts, or be smaller than a period shows.
        return self.command.pause_us + step_us + 2 * (period_us or 0) + _SLACK_US


def jobs_of(arm: Arm) -> tuple[Job, ...]:
    """Every container of every replica of every group, in the spec's order."""
    measured = arm.measured.name
    return tuple(
        _job(group, unit, _container(group, unit.container), measured=group.name == measured)
        for group in arm.groups
        for unit in units_of(group.name, group.replicas, tuple(c.name for c in group.containers))
        if unit.container is not None
    )


def binary(builds: dict[str, Path], build: str) -> Path:
    """The workload program of a build. Raises TargetError when it is not there."""
    path = builds.get(build)
    if path is None or not path.is_file():
        where = f" at {path}" if path is not None else ""
        raise TargetError(
            f"The workload program cpulab, build {build}, is not there{where}.",
            remedy="Build it: ./lab up and ./lab test do, with Go 1.25 or later.",
            code="cpulab-missing",
        )
    return path


def _container(group: Group, name: str) -> Container:
    return next(container for container in group.containers if container.name == name)


def _job(group: Group, unit: Unit, container: Container, *, measured: bool) -> Job:
    return Job(
        unit=unit.name,
        group=group.name,
        measured=measured,
        build=container.build,
        command=command_of(container.workload, unit.name),
        env=dict(container.env),
    )
