"""The groups of a planned arm, read from the plan as it is stored.

A list of many runs needs only names: validating every arm's whole schema for them would
cost more than the query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments_app.core.short_form import APP


@dataclass(frozen=True, slots=True)
class ArmGroups:
    """`result`: the group whose rounds are the arm's result. `counted`: the one whose counters.

    They differ where a load is measured: its rounds tell what the server's limit does.
    """

    names: tuple[str, ...]
    result: str
    counted: str


def groups_of(arm: Mapping[str, Any]) -> ArmGroups:
    """The groups of one arm in its written form, short or long."""
    if "groups" not in arm:
        return ArmGroups((APP,), APP, APP)
    names = tuple(str(group["name"]) for group in arm["groups"])
    measured = [step["measure"] for step in arm.get("steps", ()) if step.get("measure")]
    result = str(measured[0]) if measured else names[0]
    with_role = [
        str(group["name"]) for group in arm["groups"] if group.get("role", "measured") == "measured"
    ]
    counted = result if result in with_role or not with_role else with_role[0]
    return ArmGroups(names, result, counted)


def planned_groups(plan: Mapping[str, Any]) -> list[ArmGroups]:
    """The groups of every arm of a stored plan, in the order of the arms."""
    return [groups_of(arm["arm"]) for arm in plan["arms"]]
