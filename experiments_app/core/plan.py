"""From a spec to what will be run: arms, scaled where they must be, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from experiments_app.core.errors import PlanError
from experiments_app.core.plan_notes import arm_notes, scale_notes
from experiments_app.core.records import Limits
from experiments_app.core.scaling import Room, differences, factor_of, scale_arm
from experiments_app.core.spec_dump import dump_arm
from experiments_app.core.spec_errors import did_you_mean
from experiments_app.core.spec_model import MAX_REPEATS, Arm, Group, Spec
from experiments_app.core.timing import MAX_RUN_US, arm_us, hours, sample_hz
from experiments_app.core.units import Unit, units_of
from experiments_app.core.workloads import Result, Workload


@dataclass(frozen=True, slots=True)
class PlannedContainer:
    """A container with its limits in the kernel's terms."""

    name: str
    build: str
    limits: Limits
    env: tuple[tuple[str, str], ...]
    workload: Workload


@dataclass(frozen=True, slots=True)
class PlannedGroup:
    """A group of an arm; `sample_hz` is how often its counters are read from outside."""

    name: str
    role: str
    place: str
    replicas: int
    containers: tuple[PlannedContainer, ...]
    sample_hz: int

    @property
    def units(self) -> tuple[Unit, ...]:
        """What has counters of its own, by the names that its records have."""
        return units_of(self.name, self.replicas, tuple(c.name for c in self.containers))


@dataclass(frozen=True, slots=True)
class PlannedArm:
    """One arm as it will run: after scaling, with its honest duration.

    `scale` is a fraction as text ("1/2"), None when the arm runs as published; `label` is
    what a person reads and holds the factor. `expected_us` is one repeat from prepare to
    clean.
    """

    index: int
    name: str
    label: str
    scale: str | None
    arm: Arm
    expected_us: int
    notes: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[PlannedGroup, ...]:
        """Every group of the arm, in the spec's order."""
        return tuple(_group(group) for group in self.arm.groups)

    @property
    def measured(self) -> PlannedGroup:
        """The group whose rounds are the result."""
        return _group(self.arm.measured)

    @property
    def sample_hz(self) -> int:
        """How often the measured group's counters are read, a second."""
        return self.measured.sample_hz

    @property
    def rounds(self) -> int:
        """Rounds that one repeat will have, by its largest container."""
        return max(c.workload.round_count for c in self.arm.measured.containers)

    @property
    def result(self) -> Result | None:
        """What its rounds are judged by; None for an arm that only tells facts."""
        found = [c.workload.result for c in self.measured.containers]
        return next((result for result in found if result is not None), None)

    @property
    def settings(self) -> dict[str, Any]:
        """Every setting of the arm as text, defaults too, as the run document shows them."""
        data = dump_arm(self.arm, full=True)
        return {key: value for key, value in data.items() if key not in {"name", "label"}}

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; `from_dict` gives the same arm."""
        return {
            "index": self.index,
            "name": self.name,
            "label": self.label,
            "scale": self.scale,
            "arm": dump_arm(self.arm, full=True),
            "expected_us": self.expected_us,
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PlannedArm:
        """Read what `to_dict` wrote."""
        return cls(
            index=int(data["index"]),
            name=str(data["name"]),
            label=str(data["label"]),
            scale=None if data["scale"] is None else str(data["scale"]),
            arm=Arm.model_validate(data["arm"]),
            expected_us=int(data["expected_us"]),
            notes=tuple(str(note) for note in data["notes"]),
        )


@dataclass(frozen=True, slots=True)
class PlannedRepeat:
    """One repeat of one arm (its index), in the order of the run; `n` counts from 1."""

    n: int
    arm: int


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run will do; frozen and stored with it."""

    experiment: str
    kind: str
    cpus: int | None
    repeats: int
    arms: tuple[PlannedArm, ...]
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[PlannedRepeat, ...]:
        """Repeat 1 of every arm, then repeat 2 of every arm, and so on.

        A slow drift of the machine then falls on all arms alike.
        """
        return tuple(
            PlannedRepeat(n, arm.index) for n in range(1, self.repeats + 1) for arm in self.arms
        )

    @property
    def expected_us(self) -> int:
        """The whole run, us."""
        return self.repeats * sum(arm.expected_us for arm in self.arms)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; `from_dict` gives the same plan."""
        return {
            "experiment": self.experiment,
            "kind": self.kind,
            "cpus": self.cpus,
            "repeats": self.repeats,
            "arms": [arm.to_dict() for arm in self.arms],
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """Read what `to_dict` wrote."""
        return cls(
            experiment=str(data["experiment"]),
            kind=str(data["kind"]),
            cpus=None if data["cpus"] is None else int(data["cpus"]),
            repeats=int(data["repeats"]),
            arms=tuple(PlannedArm.from_dict(arm) for arm in data["arms"]),
            notes=tuple(str(note) for note in data["notes"]),
        )


def make_plan(
    spec: Spec,
    *,
    kind: str,
    cpus: int | None,
    repeats: int | None = None,
    allocatable_milli: Mapping[str, int] | None = None,
    cgroup: int | None = None,
) -> Plan:
    """Expand a spec to what will run on a target of `kind` with `cpus` CPUs.

    `repeats` overrides the spec's; `allocatable_milli` is what may be requested at each
    place, in millicpu (Kubernetes only). An arm runs as published wherever it can be
    scheduled; those that cannot are scaled by one factor. Raises PlanError when the target's
    kind or cgroup version does not fit, scaling makes two arms the same, or it takes too long.
    """
    count = spec.repeats if repeats is None else repeats
    if not 1 <= count <= MAX_REPEATS:
        raise PlanError(f"repeats = {count} is out of range.", remedy=f"Give 1 to {MAX_REPEATS}.")
    _check_target(spec, kind, cgroup)
    room = Room(cpus, dict(allocatable_milli or {}), one_machine=kind != "kubernetes")
    room.check()
    factor = factor_of(spec.arms, room)
    arms = [
        _plan_arm(i, arm, None if room.fits(arm) else factor, room)
        for i, arm in enumerate(spec.arms)
    ]
    _check_distinct(spec, arms)
    arms = [replace(arm, notes=(*arm.notes, *scale_notes(arm, arms))) for arm in arms]
    plan = Plan(spec.name, kind, cpus, count, tuple(arms), _plan_notes(spec, cpus))
    if plan.expected_us > MAX_RUN_US:
        raise PlanError(
            f"The run would take about {hours(plan.expected_us)}; a run may take "
            f"{hours(MAX_RUN_US)}.",
            remedy="Choose fewer repeats, rounds or arms.",
        )
    return plan


def _plan_arm(index: int, arm: Arm, factor: Fraction | None, room: Room) -> PlannedArm:
    """The arm as it will run; `factor` is None for one that fits as it is written."""
    label = arm.label or arm.name
    if factor is None:
        notes = arm_notes(arm, room)
        return PlannedArm(index, arm.name, label, None, arm, arm_us(arm, room.cpus), notes)
    scaled = scale_arm(arm, factor, room)
    return PlannedArm(
        index=index,
        name=arm.name,
        label=f"{label} (scaled by {factor})",
        scale=str(factor),
        arm=scaled.arm,
        expected_us=arm_us(scaled.arm, room.cpus),
        notes=(*scaled.notes, *arm_notes(scaled.arm, room)),
    )


def _group(group: Group) -> PlannedGroup:
    containers = tuple(
        PlannedContainer(
            name=c.name,
            build=c.build,
            limits=c.limits,
            env=tuple(sorted(c.env.items())),
            workload=c.workload,
        )
        for c in group.containers
    )
    hz = max(sample_hz(c.limits) for c in containers)
    return PlannedGroup(group.name, group.role, group.place, group.replicas, containers, hz)


def _check_target(spec: Spec, kind: str, cgroup: int | None) -> None:
    if kind not in spec.targets:
        raise PlanError(
            f"{spec.name} does not run on a target of kind {kind}.",
            remedy=did_you_mean(kind, spec.targets),
        )
    need = spec.needs.cgroup
    if need is not None and cgroup is not None and need != cgroup:
        raise PlanError(
            f"{spec.name} needs cgroup v{need}; the target has v{cgroup}.",
            remedy=f"Choose a target with cgroup v{need}.",
        )


def _check_distinct(spec: Spec, arms: Sequence[PlannedArm]) -> None:
    """Refuse when scaling takes away all that two arms of the spec differ in."""
    for i, one in enumerate(arms):
        for other in arms[i + 1 :]:
            if one.scale is None and other.scale is None:
                continue
            before = differences(spec.arms[one.index], spec.arms[other.index])
            if before and not before & differences(one.arm, other.arm):
                raise PlanError(
                    f"Scaled to this target, {one.label} and {other.label} would be the same: "
                    f"they no longer differ in {', '.join(sorted(before))}.",
                    remedy="Choose a target with more CPUs, or leave one of the two out.",
                )


def _plan_notes(spec: Spec, cpus: int | None) -> tuple[str, ...]:
    need = spec.needs.cpus
    if need is None or cpus is None or need <= cpus:
        return ()
    return (f"The experiment is meant for {need} CPUs; this target has {cpus}.",)
