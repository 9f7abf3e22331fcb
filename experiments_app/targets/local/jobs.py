"""What an arm asks of this machine: for each group its limits and the command that runs in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from experiments_app.core.errors import PlanError, TargetError
from experiments_app.core.records import Limits
from experiments_app.core.spec_model import Arm, Container, Group
from experiments_app.core.workloads import Burst, Info
from experiments_app.targets.local.place import check_name

_SLACK_US = 10_000_000
_START_CPU_US = 1_000_000  # a program's start is CPU under its limit too
_SLOWEST = 10  # times slower than its limit alone explains: then something is wrong


@dataclass(frozen=True, slots=True)
class Job:
    """One group of the arm, ready to run.

    `cpu_us` is the CPU that one step needs and `pause_us` the time between two steps: from
    these follows how long the workload may stay silent.
    """

    group: str
    measured: bool
    build: str
    limits: Limits
    arguments: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    cpu_us: int = 0
    pause_us: int = 0

    @property
    def ends_with_a_line(self) -> bool:
        """Whether its stream closes with an end line that says why it ended."""
        return self.arguments[0] != "info"

    def patience_us(self, quota_us: int | None, period_us: int | None) -> int:
        """How long without a line is too long, given the limit that is in force."""
        cpus = quota_us / period_us if quota_us is not None and period_us else 1.0
        step_us = int((self.cpu_us * _SLOWEST + _START_CPU_US) / min(cpus, 1.0))
        # The quota may be used up when a step starts, or be smaller than a period shows.
        return self.pause_us + step_us + 2 * (period_us or 0) + _SLACK_US


def jobs_of(arm: Arm) -> tuple[Job, ...]:
    """The arm's groups as jobs. Raises PlanError for what this target cannot run."""
    measured = arm.measured.name
    return tuple(_job(group, measured=group.name == measured) for group in arm.groups)


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


def _job(group: Group, *, measured: bool) -> Job:
    check_name("group", group.name)
    if len(group.containers) != 1 or group.replicas != 1:
        raise PlanError(
            f"Group {group.name} has {len(group.containers)} containers and {group.replicas} "
            "replicas; the local target runs one of each.",
            remedy="Give the group one container and one replica.",
        )
    (container,) = group.containers
    arguments, cpu_us, pause_us = _work(container)
    return Job(
        group=group.name,
        measured=measured,
        build=container.build,
        limits=container.limits,
        arguments=arguments,
        env=dict(container.env),
        cpu_us=cpu_us,
        pause_us=pause_us,
    )


def _work(container: Container) -> tuple[tuple[str, ...], int, int]:
    """cpulab's arguments, the CPU of one step and the time between two, both in us."""
    work = container.workload
    match work:
        case Burst():
            flags = {
                "--threads": str(work.threads),
                "--work": f"{work.work_us}us",
                "--interval": f"{work.interval_us}us",
                "--rounds": str(work.rounds),
                "--jitter": f"{work.jitter_us}us",
            }
            words = tuple(word for flag in flags.items() for word in flag)
            pause_us = work.interval_us + work.jitter_us
            return ("burst", *words, "--until-eof"), work.round_cpu_us, pause_us
        case Info():
            return ("info",), 0, 0
