"""Make an arm fit a target that is too small for it, by one stated factor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from experiments_app.core.errors import PlanError
from experiments_app.core.places import split_count
from experiments_app.core.quantity import format_cpu, format_duration
from experiments_app.core.spec_model import Arm, Container

# A factor is read by people: 2/3 rather than 193/290, as long as it stays close.
MAX_DENOMINATOR = 20
GOMAXPROCS = "GOMAXPROCS"


@dataclass(frozen=True, slots=True)
class Room:
    """What a target has: CPUs (None: not known) and what may be requested at each place.

    Threads are not CPUs: any number of them runs on one. Requests matter only where a
    scheduler hands out CPU (`allocatable_milli`); elsewhere they are weights. On one machine
    (`one_machine`) the places of an arm share its CPUs, as core.places splits them.
    """

    cpus: int | None
    allocatable_milli: Mapping[str, int] = field(default_factory=dict)
    one_machine: bool = True

    def cpus_at(self, arm: Arm, place: str) -> int | None:
        """The CPUs that a place of an arm has; None where nobody knows."""
        if self.cpus is None or not self.one_machine:
            return self.cpus
        return split_count(self.cpus, arm.places)[place]

    def check(self) -> None:
        """Raise PlanError when nothing at all can run here."""
        if self.cpus is not None and self.cpus < 1:
            raise PlanError("The target has no CPU.", remedy="Choose another target.")
        for place, allocatable in self.allocatable_milli.items():
            if allocatable < 1:
                raise PlanError(
                    f"Nothing can be requested at {place}: all its CPU is given away.",
                    remedy="Free some of its requests, or choose another target.",
                )

    def share(self, arm: Arm) -> Fraction:
        """How much of the arm fits, at most 1: the factor that it needs."""
        found = [Fraction(1)]
        if self.cpus is not None:
            # A limit above the CPUs that are there can never bind: that is another
            # experiment, unless the work uses no CPU to speak of.
            found += [
                Fraction((self.cpus_at(arm, group.place) or 1) * 1000, container.limit_milli)
                for group in arm.groups
                for container in group.containers
                if container.workload.busy and container.limit_milli is not None
            ]
        for place, allocatable in self.allocatable_milli.items():
            asked = sum(
                (c.request_milli or 0) * g.replicas
                for g in arm.groups
                if g.place == place
                for c in g.containers
            )
            if asked:
                found.append(Fraction(allocatable, asked))
        return min(found)

    def fits(self, arm: Arm) -> bool:
        """Whether the arm can run as it is written."""
        return self.share(arm) >= 1


def factor_of(arms: Iterable[Arm], room: Room) -> Fraction | None:
    """The one factor by which every arm that does not fit is scaled; None when all fit."""
    share = min((room.share(arm) for arm in arms), default=Fraction(1))
    return None if share >= 1 else _readable(share)


def _readable(share: Fraction) -> Fraction:
    """The largest simple fraction that is not above the share."""
    simple = max(Fraction(int(share * d), d) for d in range(1, MAX_DENOMINATOR + 1))
    return simple or share


@dataclass(frozen=True, slots=True)
class Scaled:
    """An arm after scaling, with what could not be scaled exactly."""

    arm: Arm
    notes: tuple[str, ...]


def scale_arm(arm: Arm, factor: Fraction, room: Room) -> Scaled:
    """Scale requests, limits and threads of every container; GOMAXPROCS becomes explicit."""
    notes: list[str] = []
    groups = tuple(
        group.model_copy(
            update={
                "containers": tuple(
                    _container(c, factor, room.cpus_at(arm, group.place), notes)
                    for c in group.containers
                )
            }
        )
        for group in arm.groups
    )
    return Scaled(arm.model_copy(update={"groups": groups}), tuple(dict.fromkeys(notes)))


def _container(
    container: Container, factor: Fraction, cpus: int | None, notes: list[str]
) -> Container:
    changes: dict[str, Any] = {}
    for name, milli in (("limit", container.limit_milli), ("request", container.request_milli)):
        if milli is not None:
            # Down, so that what was made to fit does fit; 0 is no limit the kernel knows.
            changes[name] = format_cpu(max(1 if name == "limit" else 0, int(milli * factor)))
    if container.burst_us:
        # The kernel takes a burst up to the quota, which shrinks by the same factor.
        changes["burst"] = format_duration(int(container.burst_us * factor))
    changes["workload"], note = container.workload.scaled(factor)
    if note:
        notes.append(note)
    scaled = container.model_copy(update=changes)
    procs = gomaxprocs(container, scaled, factor, cpus)
    return scaled.model_copy(update={"env": {**container.env, **procs}})


def gomaxprocs(
    container: Container, scaled: Container, factor: Fraction, cpus: int | None
) -> dict[str, str]:
    """GOMAXPROCS of a scaled container: the spec's own, scaled; else what Go would choose.

    Go 1.25: min(CPUs, max(2, ceil(limit))); before, and without a limit, the CPUs. Where the
    program only tells what Go chooses, nothing is set: it would tell that.
    """
    own = container.env.get(GOMAXPROCS)
    if own is not None:
        return {GOMAXPROCS: str(max(1, round(int(own) * factor)))}
    if not container.workload.busy:
        return {}
    limit = scaled.limit_milli
    found = [cpus] if cpus is not None else []
    if container.build != "go1.24" and limit is not None:
        found.append(max(2, -(-limit // 1000)))
    return {GOMAXPROCS: str(min(found))} if found else {}


def differences(one: Arm, other: Arm) -> frozenset[str]:
    """The settings in which two arms differ, by name; names and labels do not count."""
    left, right = _settings(one), _settings(other)
    return frozenset(key for key in left.keys() | right.keys() if left.get(key) != right.get(key))


def _settings(arm: Arm) -> dict[str, object]:
    """Every setting of an arm by its path; times and quantities as numbers."""
    found: dict[str, object] = {"steps": arm.steps}
    for group in arm.groups:
        prefix = "" if arm.is_short else f"{group.name}."
        found |= {f"{prefix}{key}": getattr(group, key) for key in ("role", "place", "replicas")}
        for container in group.containers:
            inner = prefix if arm.is_short else f"{prefix}{container.name}."
            own = {
                "build": container.build,
                "limit": container.limit_milli,
                "request": container.request_milli,
                "period": container.period_us,
                "burst": container.burst_us,
                **{f"env.{name}": value for name, value in container.env.items()},
                **container.workload.settings(),
            }
            found |= {f"{inner}{key}": value for key, value in own.items()}
    return found
