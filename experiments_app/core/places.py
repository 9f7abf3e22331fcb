"""Which CPUs the places of an arm get on one machine.

An arm that names several places has the load kept away from what it loads: the place "load"
gets a quarter of the CPUs, at least one, all other places share the rest. With a single place,
or a single CPU, everything shares all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LOAD_PLACE = "load"
LOAD_SHARE = 4


def split_cpus(cpus: Sequence[int], places: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """The CPUs (their numbers, in order) of every place; the load gets the last ones."""
    named = tuple(dict.fromkeys(places))
    if len(named) < 2 or LOAD_PLACE not in named or len(cpus) < 2:
        return {place: tuple(cpus) for place in named}
    away = max(1, len(cpus) // LOAD_SHARE)
    return {place: tuple(cpus[-away:] if place == LOAD_PLACE else cpus[:-away]) for place in named}


def split_count(cpus: int, places: Iterable[str]) -> dict[str, int]:
    """How many CPUs every place gets of so many."""
    return {place: len(own) for place, own in split_cpus(range(cpus), places).items()}
