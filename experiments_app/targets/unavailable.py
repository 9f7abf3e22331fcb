"""A kind of target that this version knows by name only: it says so, and what to use."""

from __future__ import annotations

from experiments_app.core.errors import TargetError
from experiments_app.targets.base import (
    Problem,
    RepeatContext,
    Session,
    TargetFacts,
    TargetStatus,
)

_WORDS = {
    "docker": "Docker containers",
    "kubernetes": "pods on Kubernetes",
    "simulated": "the model of the CFS bandwidth controller",
}


class UnavailableTarget:
    """Answers honestly and runs nothing; there is nothing of ours on it to clean up."""

    def __init__(self, *, name: str, kind: str, machine: str, instead: str = "local") -> None:
        self.name = name
        self.kind = kind
        self.machine = machine
        what = _WORDS.get(kind, f"the kind {kind}")
        self._problem = Problem(
            code="not-available",
            message=f"Running on {what} (target {name}) is not available in this version.",
            remedy=f"Use the target {instead} instead.",
        )

    def status(self) -> TargetStatus:
        return TargetStatus(self.name, self.kind, self.machine, (self._problem,), TargetFacts())

    def open(self, context: RepeatContext) -> Session:
        raise TargetError(
            self._problem.message, remedy=self._problem.remedy, code=self._problem.code
        )

    def cleanup(self, *, lab: str, run: str) -> tuple[str, ...]:
        return ()

    def leftovers(self, *, lab: str) -> tuple[str, ...]:
        return ()
