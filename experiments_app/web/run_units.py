"""The units of a planned arm as the run page needs them: who is measured, under which limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from experiments_app.archive.arms import counted_of
from experiments_app.core.plan import PlannedArm, PlannedContainer, PlannedGroup
from experiments_app.core.pods import whole_limits
from experiments_app.core.records import Limits
from experiments_app.core.spec_model import Container, Group
from experiments_app.core.units import Unit
from experiments_app.core.weights import weight_linear, weight_new

NO_LIMIT = "no limit"


def counted_group(arm: PlannedArm) -> PlannedGroup:
    """The group whose limit the arm tries: of a load that is measured, the server."""
    return counted_of(arm.groups, arm.measured)


def unit_data(arm: PlannedArm) -> list[dict[str, Any]]:
    """Every unit of an arm, in the order of its groups.

    `result`: its rounds are the arm's result. `counted`: its counters are the arm's. `inside`:
    it is a container of a pod that is a unit of its own, so sums leave it out. Times in us;
    `weight_asked` is cpu.weight, `shares_asked` cpu.shares, None without a request.
    """
    counted = counted_group(arm).name
    written = {group.name: group for group in arm.arm.groups}
    return [
        _unit(arm, group, written[group.name], unit, counted)
        for group in arm.groups
        for unit in group.units
    ]


@dataclass(frozen=True, slots=True)
class _Part:
    """What a unit was asked to be: a container, or a pod by all of its containers."""

    limits: Limits
    limit_text: str
    request: str


def _unit(
    arm: PlannedArm, group: PlannedGroup, written: Group, unit: Unit, counted: str
) -> dict[str, Any]:
    many = len(group.containers) > 1
    whole = unit.container is None
    own = _container(group, unit.container)
    part = _pod(written) if whole else _of(_written(written, unit.container))
    shares = part.limits.shares
    weight = weight_new if many and not whole else weight_linear
    return {
        "name": unit.name,
        "group": group.name,
        "role": group.role,
        "place": group.place,
        "container": unit.container,
        "replica": unit.replica,
        "inside": many and not whole,
        "kind": own.workload.kind if own else None,
        "build": own.build if own else None,
        "result": own is not None and group.name == arm.measured.name and _tells(arm, own),
        "counted": group.name == counted and (whole or not many),
        "quota_us": part.limits.quota_us,
        "period_us": part.limits.period_us,
        "burst_us": part.limits.burst_us,
        "limit_text": part.limit_text,
        "request": part.request,
        "shares_asked": shares,
        "weight_asked": None if shares is None else weight(shares),
    }


def _tells(arm: PlannedArm, container: PlannedContainer) -> bool:
    """Whether the rounds of a container of the measured group are what the arm is judged by."""
    return arm.result is None or container.workload.result == arm.result


def _container(group: PlannedGroup, name: str | None) -> PlannedContainer | None:
    return next((container for container in group.containers if container.name == name), None)


def _written(group: Group, name: str | None) -> Container:
    return next(container for container in group.containers if container.name == name)


def limit_words(limit: str) -> str:
    """A limit as its author wrote it."""
    return NO_LIMIT if limit == "none" else limit


def _of(container: Container) -> _Part:
    request = "" if container.request == "none" else str(container.request)
    return _Part(container.limits, limit_words(str(container.limit)), request)


def _pod(group: Group) -> _Part:
    """The whole pod: a limit only if every container has one, then their sum."""
    requests = [c.request_milli for c in group.containers if c.request_milli is not None]
    limits = [c.limit_milli for c in group.containers if c.limit_milli is not None]
    all_limited = len(limits) == len(group.containers)
    text = f"{_cpus(sum(limits))}, the sum" if all_limited else NO_LIMIT
    request = f"{_cpus(sum(requests))}, the sum" if requests else ""
    return _Part(whole_limits(group.containers), text, request)


def _cpus(milli: int) -> str:
    return str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"
