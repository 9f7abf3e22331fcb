"""The names under which an arm's parts are measured.

A unit is what has counters of its own: a container of a replica of a group. Its name is the
group's alone where that says it ("server"); a replica adds its number ("server.2"), one of
several containers its name ("pair.small", "server.2.app"). A replica with several containers
has a unit of its own too, without the container's name: its counters are those of the whole
pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

SEPARATOR = "."


@dataclass(frozen=True, slots=True)
class Unit:
    """One part: its group, replica (from 1), and container; None is the whole replica."""

    name: str
    group: str
    replica: int
    container: str | None


def units_of(group: str, replicas: int, containers: tuple[str, ...]) -> tuple[Unit, ...]:
    """Every unit of a group: replica by replica, the whole before its containers."""
    return tuple(_units(group, replicas, containers))


def _units(group: str, replicas: int, containers: tuple[str, ...]) -> Iterator[Unit]:
    for replica in range(1, replicas + 1):
        whole = group if replicas == 1 else f"{group}{SEPARATOR}{replica}"
        if len(containers) == 1:
            yield Unit(whole, group, replica, containers[0])
            continue
        yield Unit(whole, group, replica, None)
        for container in containers:
            yield Unit(f"{whole}{SEPARATOR}{container}", group, replica, container)


def units_of_written(group: Mapping[str, Any]) -> tuple[Unit, ...]:
    """The units of a group in its written form (a stored plan)."""
    containers = tuple(str(container["name"]) for container in group["containers"])
    return units_of(str(group["name"]), int(group.get("replicas", 1)), containers)
