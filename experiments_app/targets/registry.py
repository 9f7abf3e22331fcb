"""The configured targets, by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from experiments_app.core.errors import LabError
from experiments_app.targets.base import Target
from experiments_app.targets.local import LocalTarget, machine_name
from experiments_app.targets.unavailable import UnavailableTarget

Kind = Literal["local", "docker", "kubernetes", "simulated"]


@dataclass(frozen=True, slots=True)
class TargetConfig:
    """One configured place to run.

    `machine` is shared by targets that compete for the same CPUs; None is the machine this
    process is on. `context` is the kubeconfig context of a kubernetes target.
    """

    name: str
    kind: Kind
    machine: str | None = None
    context: str | None = None


DEFAULTS: tuple[TargetConfig, ...] = (
    TargetConfig("local", "local"),
    TargetConfig("docker", "docker"),
    TargetConfig("kind", "kubernetes", context="kind-throttle-lab"),
    TargetConfig("kind-old", "kubernetes", context="kind-throttle-lab-old"),
    # A model needs no CPU of its own: it never waits for what runs on this machine.
    TargetConfig("simulated", "simulated", machine="simulated"),
)


class UnknownTarget(LabError):
    """No target of this name is configured."""

    code = "unknown-target"


class Registry:
    """Targets by name, in the order of their configuration.

    `builds`: the workload program for this machine, by build ("go1.24", "go1.25").
    """

    def __init__(
        self,
        configs: Iterable[TargetConfig] = DEFAULTS,
        *,
        builds: Mapping[str, Path],
    ) -> None:
        self._configs: dict[str, TargetConfig] = {}
        for config in configs:
            if config.name in self._configs:
                raise LabError(
                    f"Two targets are configured with the name {config.name}.",
                    code="bad-config",
                    remedy="Give each target its own name.",
                )
            self._configs[config.name] = config
        self._targets = {name: _make(config, builds) for name, config in self._configs.items()}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._targets)

    def __iter__(self) -> Iterator[Target]:
        return iter(self._targets.values())

    def config(self, name: str) -> TargetConfig:
        """How a target is configured. Raises UnknownTarget."""
        self.get(name)
        return self._configs[name]

    def get(self, name: str) -> Target:
        """The target of this name. Raises UnknownTarget with what was probably meant."""
        target = self._targets.get(name)
        if target is not None:
            return target
        close = difflib.get_close_matches(name.lower(), self.names, n=1)
        hint = f"Did you mean {close[0]}? " if close else ""
        raise UnknownTarget(
            f"There is no target named {name!r}.",
            remedy=f"{hint}Configured: {', '.join(self.names) or 'none'}.",
        )


def _make(config: TargetConfig, builds: Mapping[str, Path]) -> Target:
    machine = config.machine or machine_name()
    match config.kind:
        case "local":
            return LocalTarget(builds=builds, name=config.name, machine=machine)
        case "docker" | "kubernetes" | "simulated":
            return UnavailableTarget(name=config.name, kind=config.kind, machine=machine)
