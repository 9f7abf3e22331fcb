"""The units of a planned arm, read from the plan as it is stored.

A list of many runs needs only names: validating every arm's whole schema for them would
cost more than the query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, get_args

from experiments_app.core.short_form import APP
from experiments_app.core.units import Unit, units_of_written
from experiments_app.core.workloads import Result, Serve, Workload, WorkloadBase

_KINDS: tuple[type[WorkloadBase], ...] = get_args(get_args(Workload)[0])
# What a round of a kind is judged by; a server's are not: its callers tell how it does.
RESULTS: dict[str, Result | None] = {
    str(kind.model_fields["kind"].default): None if kind is Serve else kind.result
    for kind in _KINDS
}


class HasRole(Protocol):
    """A group of a spec, or of a plan."""

    @property
    def role(self) -> str: ...


Group = TypeVar("Group", bound=HasRole | Mapping[str, Any])


@dataclass(frozen=True, slots=True)
class ArmGroups:
    """The units of an arm by what they are for.

    `results`: the containers whose rounds are the arm's result, which `result` names the
    kind of. `counted`: the units whose counters are the arm's, `counted_rounds` the containers
    in them; a pod of several containers is counted as a whole and has no rounds of its own.
    Results and counted differ where a load is measured: its rounds tell what the server's
    limit does. `own`: what each container's rounds are judged by.
    """

    names: tuple[str, ...]
    results: tuple[str, ...]
    counted: tuple[str, ...]
    counted_rounds: tuple[str, ...]
    result: Result | None
    own: Mapping[str, Result | None] = field(default_factory=dict)


def groups_of(arm: Mapping[str, Any]) -> ArmGroups:
    """The units of one arm in its written form, short or long."""
    groups = _written_groups(arm)
    measured = [step["measure"] for step in arm.get("steps", ()) if step.get("measure")]
    by_name = {str(group["name"]): group for group in groups}
    result_group = by_name[str(measured[0])] if measured else groups[0]
    counted_group = counted_of(groups, result_group)
    own = {name: result for group in groups for name, result in _own(group).items()}
    of_result = [own[unit.name] for unit in units_of_written(result_group) if unit.container]
    result = next((kind for kind in of_result if kind is not None), None)
    counted = units_of_written(counted_group)
    return ArmGroups(
        names=tuple(unit.name for group in groups for unit in units_of_written(group)),
        results=tuple(
            unit.name
            for unit in units_of_written(result_group)
            if unit.container and own[unit.name] == result
        ),
        counted=tuple(unit.name for unit in counted if _outermost(unit, counted_group)),
        counted_rounds=tuple(unit.name for unit in counted if unit.container),
        result=result,
        own=own,
    )


def tried(groups: Sequence[Group], measured: Group) -> list[Group]:
    """The groups that the arm is about: those of the role "measured", else the measured one.

    Of a load that is measured its server; of pods that share a CPU all of them.
    """
    return [group for group in groups if _role(group) == "measured"] or [measured]


def counted_of(groups: Sequence[Group], measured: Group) -> Group:
    """The group whose counters are the arm's: the measured one, of a load its server."""
    found = tried(groups, measured)
    return measured if measured in found else found[0]


def _role(group: HasRole | Mapping[str, Any]) -> str:
    """As it is set; a group that was written without has the schema's own."""
    return str(group.get("role", "measured")) if isinstance(group, Mapping) else group.role


def planned_groups(plan: Mapping[str, Any]) -> list[ArmGroups]:
    """The units of every arm of a stored plan, in the order of the arms."""
    return [groups_of(arm["arm"]) for arm in plan["arms"]]


def _written_groups(arm: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Its groups; a container that was written without a name has the short form's."""
    if "groups" in arm:
        return [
            {**group, "containers": [{"name": APP, **each} for each in group["containers"]]}
            for group in arm["groups"]
        ]
    container = {"name": APP, "workload": arm.get("workload", {})}
    return [{"name": APP, "containers": [container]}]


def _own(group: Mapping[str, Any]) -> dict[str, Result | None]:
    kinds = {
        str(container["name"]): str(container["workload"].get("kind", "burst"))
        for container in group["containers"]
    }
    return {
        unit.name: RESULTS.get(kinds[unit.container], "wall_us")
        for unit in units_of_written(group)
        if unit.container
    }


def _outermost(unit: Unit, group: Mapping[str, Any]) -> bool:
    """The whole of a replica: its only container, or the pod around several."""
    return unit.container is None or len(group["containers"]) == 1
