"""What every place to run must offer. A target knows nothing of the database or the pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from experiments_app.core.plan import PlannedArm
from experiments_app.core.records import Readback, Sink, StopFlag


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a target is not ready, or a warning about it, with the way out."""

    code: str
    message: str
    remedy: str
    blocking: bool = True


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What a run freezes of the place it ran on. None where it is not known."""

    kernel: str | None = None
    cgroup: str | None = None
    cpus: int | None = None
    cpu_model: str | None = None
    runtime: str | None = None
    cpulab: str | None = None
    extra: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TargetStatus:
    """The answer to "can I run here now?"."""

    name: str
    kind: str
    machine: str
    problems: tuple[Problem, ...]
    facts: TargetFacts

    @property
    def ready(self) -> bool:
        return not any(problem.blocking for problem in self.problems)


@dataclass(frozen=True, slots=True)
class RepeatContext:
    """One repeat of one arm, as a session needs it.

    `lab` and `run` label everything that is created outside the database, so that a sweep
    by another process finds it; `repeat` is unique within the run.
    """

    lab: str
    run: str
    repeat: str
    arm: PlannedArm
    sample_hz: int


class Session(Protocol):
    """One repeat on a target: prepare, measure, clean; clean is safe at any point."""

    def prepare(self) -> tuple[Readback, ...]:
        """Create the groups with their limits and read back what the kernel has."""
        ...

    def measure(self, sink: Sink, stop: StopFlag) -> None:
        """Run the arm's steps and hand every record to the sink; Stopped when told to stop."""
        ...

    def clean(self) -> None:
        """Remove everything this repeat created; nothing is left, whatever happened."""
        ...


class Target(Protocol):
    """A configured place to run."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def machine(self) -> str: ...

    def status(self) -> TargetStatus:
        """Look, within a few seconds, at what is there; never raises."""
        ...

    def open(self, context: RepeatContext) -> Session: ...

    def cleanup(self, *, lab: str, run: str) -> tuple[str, ...]:
        """Remove whatever a run left; idempotent, stateless; returns what was removed."""
        ...

    def leftovers(self, *, lab: str) -> tuple[str, ...]:
        """Ids of runs of this lab that have left something on the target."""
        ...
