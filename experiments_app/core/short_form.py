"""An arm written short, made long: one group "app" with one container "app"."""

from __future__ import annotations

from typing import Any

APP = "app"
# What a short arm may say of its one container: all of `Container` but the name.
SHORT_KEYS = ("build", "limit", "request", "period", "burst", "env", "workload")


def lengthen(arm: dict[str, Any]) -> dict[str, Any]:
    """A short arm as a long one. A long one stays, and may leave out the steps of one group.

    Unknown keys stay where they are, so that they are refused by the arm itself.
    """
    if "groups" in arm:
        name = _only_name(arm["groups"])
        return arm if "steps" in arm or name is None else {**arm, "steps": steps_of(name)}
    container = {key: arm[key] for key in SHORT_KEYS if key in arm}
    rest = {key: value for key, value in arm.items() if key not in SHORT_KEYS}
    group = {"name": APP, "containers": [{"name": APP, **container}]}
    return {"steps": steps_of(APP), **rest, "groups": [group]}


def steps_of(name: str) -> list[dict[str, Any]]:
    """The steps that an arm of one group need not write: start it, measure it."""
    return [{"start": [name]}, {"measure": name}]


def _only_name(groups: object) -> str | None:
    """The name of a single group as it was written; None for anything else."""
    if not isinstance(groups, (list, tuple)) or len(groups) != 1:
        return None
    name = groups[0].get("name") if isinstance(groups[0], dict) else None
    return name if isinstance(name, str) else None
