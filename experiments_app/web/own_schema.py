"""What the form for an own experiment shows, built from the schema of specs itself.

Names, kinds of value, choices, defaults and ranges come from the models of core; only what a
person is told about a field is written here.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from experiments_app.core.fields import duration_text, size_text
from experiments_app.core.short_form import SHORT_KEYS
from experiments_app.core.spec import TARGET_KINDS, Container, Spec
from experiments_app.core.spec_errors import kinds
from experiments_app.core.workloads import Load, Serve, WorkloadBase

# A table row is one group alone: a server and its load need each other.
NOT_ALONE: tuple[type[WorkloadBase], ...] = (Serve, Load)

# What a new row or another kind begins with: something sound to change.
STARTS: dict[str, dict[str, Any]] = {
    "burst": {"threads": 8, "work": "20ms", "interval": "1s", "rounds": 20},
    "tasks": {"work": "30ms", "count": 100},
    "parallel": {"processes": 4, "work": "30ms", "rounds": 10},
    "spin": {"threads": 1, "duration": "30s", "report": "10s"},
    "requests": {"threads": 2, "steps": 200_000, "duration": "10s"},
    "info": {},
}

SAYS: dict[str, str] = {
    "burst": "threads burn CPU together, again at every interval",
    "tasks": "one thread does tasks one after the other",
    "parallel": "processes are started at once and burn CPU",
    "spin": "threads burn CPU and report how much they got",
    "requests": "threads do requests of a fixed amount of work",
    "info": "tells what the process sees: CPUs, GOMAXPROCS, limits",
}

HELP: dict[str, str] = {
    "build": "Go version: go1.25 sets GOMAXPROCS from the limit, go1.24 from the CPUs",
    "limit": "CPUs at most: 500m, 2, none",
    "request": "its share when CPUs are scarce: 100m, 1, none",
    "period": "of the quota: 1ms to 1s",
    "burst": "quota that may be saved up: up to one period's",
    "env": "GOMAXPROCS: threads that the Go runtime runs at once",
    "threads": "threads at work",
    "work": "CPU time of each, such as 20ms",
    "interval": "from one round's start to the next",
    "rounds": "how many rounds",
    "jitter": "each round begins up to this much later, at random",
    "count": "how many tasks",
    "gap": "time off the CPU between two",
    "processes": "processes started at once",
    "duration": "how long it goes on",
    "report": "from one report to the next",
    "steps": "work of one request, in steps of arithmetic",
    "hold": "stay until the arm ends",
}


@cache
def form_schema() -> dict[str, Any]:
    """The whole description, JSON-able: arm settings, kinds of work with their fields, targets."""
    settings = [key for key in SHORT_KEYS if key not in ("env", "workload")]
    return {
        "settings": [_field(name, Container.model_fields[name]) for name in settings],
        "gomaxprocs": {"name": "GOMAXPROCS", "help": HELP["env"]},
        "kinds": [_kind(kind, cls) for kind, cls in kinds().items() if cls not in NOT_ALONE],
        "targets": list(TARGET_KINDS),
        "repeats": _field("repeats", Spec.model_fields["repeats"]),
    }


def blank() -> dict[str, Any]:
    """What a new experiment begins with: one arm."""
    return {
        "name": "",
        "arms": [
            {"name": "limit-1", "limit": "1", "workload": {"kind": "burst", **STARTS["burst"]}}
        ],
    }


def _kind(kind: str, cls: type[Any]) -> dict[str, Any]:
    fields = [_field(name, info) for name, info in cls.model_fields.items() if name != "kind"]
    start = {name: str(value) for name, value in STARTS[kind].items()}
    return {"kind": kind, "says": SAYS[kind], "fields": fields, "start": start}


def _field(name: str, info: FieldInfo) -> dict[str, Any]:
    """One field: `type` is number, duration, size, yes, choice or text."""
    low, high = _range(info)
    default = None if info.is_required() else info.default
    help_text = HELP.get(name, "")
    if low is not None:
        span = f"{low} to {high}"
        help_text = f"{help_text}: {span}" if help_text else span
    return {
        "name": name,
        "type": _type(info),
        "required": info.is_required(),
        "default": default if isinstance(default, bool) or default is None else str(default),
        "choices": list(get_args(info.annotation))
        if get_origin(info.annotation) is Literal
        else [],
        "help": help_text,
    }


def _type(info: FieldInfo) -> str:
    made_by = [getattr(part, "func", None) for part in info.metadata]
    if duration_text in made_by:
        return "duration"
    if size_text in made_by:
        return "size"
    if get_origin(info.annotation) is Literal:
        return "choice"
    if info.annotation is bool:
        return "yes"
    return "number" if info.annotation is int else "text"


def _range(info: FieldInfo) -> tuple[int | None, int | None]:
    """The bounds that `core.fields.within` checks; None where a field has none."""
    for part in info.metadata:
        func = getattr(part, "func", None)
        if inspect.isfunction(func) and func.__closure__:
            found = inspect.getclosurevars(func).nonlocals
            if "low" in found and "high" in found:
                return found["low"], found["high"]
    return None, None
