"""The cgroups of an arm: one a unit, a pod's containers below the pod."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from experiments_app.core.pods import whole_limits
from experiments_app.core.records import Limits
from experiments_app.core.spec_model import Arm, Group
from experiments_app.core.units import Unit, units_of
from experiments_app.core.weights import weight_linear, weight_new
from experiments_app.targets.local.place import check_name

Weigh = Callable[[int], int]
# Files of cgroup v1 that a directory cannot be named like.
_KERNEL_FILES = frozenset({"tasks"})


@dataclass(frozen=True, slots=True)
class Part:
    """One unit as a cgroup: directory names below the repeat's, limits, and how it is weighed.

    `weigh` gives cpu.weight (v2) for shares: pods get the linear form, containers of a pod
    the one of newer runtimes.
    """

    unit: Unit
    path: tuple[str, ...]
    limits: Limits
    weigh: Weigh

    @property
    def name(self) -> str:
        """What its records are called by."""
        return self.unit.name


def parts_of(arm: Arm) -> tuple[Part, ...]:
    """Every unit of the arm, a whole before its containers. Raises LabError for a bad name."""
    return tuple(_parts(arm))


def _parts(arm: Arm) -> Iterator[Part]:
    taken = set(_KERNEL_FILES)
    for group in arm.groups:
        taken |= {group.name} if group.replicas == 1 else set()
    for group in arm.groups:
        roots: dict[int, str] = {}
        for unit in units_of(group.name, group.replicas, tuple(c.name for c in group.containers)):
            if unit.replica not in roots:
                roots[unit.replica] = _root(group, unit.replica, taken)
            yield _part(group, unit, roots[unit.replica])


def _part(group: Group, unit: Unit, root: str) -> Part:
    if unit.container is None:
        return Part(unit, (root,), whole_limits(group.containers), weight_linear)
    container = next(c for c in group.containers if c.name == unit.container)
    if len(group.containers) == 1:
        return Part(unit, (root,), container.limits, weight_linear)
    name = _free(container.name, set(_KERNEL_FILES))
    return Part(unit, (root, check_name("container", name)), container.limits, weight_new)


def _root(group: Group, replica: int, taken: set[str]) -> str:
    """A directory name for a replica that no other group has."""
    check_name("group", group.name)
    if group.replicas == 1 and group.name not in _KERNEL_FILES:
        return group.name
    # Cut, so that the longest name and the longest number fit into what a directory may have.
    name = _free(group.name if group.replicas == 1 else f"{group.name[:58]}-{replica}", taken)
    taken.add(name)
    return check_name("group", name)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "-x"
    return name
