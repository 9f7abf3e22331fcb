"""The table of an experiment's arms: a row a container, changes between arms marked."""

from __future__ import annotations

from dataclasses import dataclass

from experiments_app.core.quantity import say_duration
from experiments_app.core.spec import Spec
from experiments_app.core.spec_model import Arm, Container, Group, Step
from experiments_app.web.work_words import work_words


@dataclass(frozen=True, slots=True)
class Cell:
    """A value of one container; `changed` where the arm above has another one there."""

    key: str
    title: str
    text: str
    sub: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One container of an arm. `unit` names it where an arm has more than one."""

    unit: str
    role: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class ArmRows:
    """One arm: its containers, and in words the steps that run them ("" for the usual ones)."""

    name: str
    label: str
    lines: tuple[Line, ...]
    steps: str


@dataclass(frozen=True, slots=True)
class ArmTable:
    """All arms under the same columns; `units` says whether containers need names."""

    columns: tuple[str, ...]
    units: bool
    arms: tuple[ArmRows, ...]


# key, title, whether it is left out where no arm says anything in it
_COLUMNS = (
    ("limit", "limit", False),
    ("request", "request", False),
    ("build", "go.mod says", True),
    ("env", "environment", True),
    ("work", "what it does", False),
)


def arm_table(spec: Spec) -> ArmTable:
    """The arms of an experiment in their order."""
    values = {arm.name: _containers(arm) for arm in spec.arms}
    wanted = [
        (key, title)
        for key, title, optional in _COLUMNS
        if not optional or _telling(key, [v for found in values.values() for v in found.values()])
    ]
    before: dict[str, dict[str, tuple[str, str]]] = {}
    rows = []
    for arm in spec.arms:
        rows.append(_rows(arm, values[arm.name], before, wanted))
        before = values[arm.name]
    several = any(len(found) > 1 for found in values.values())
    return ArmTable(tuple(title for _, title in wanted), several, tuple(rows))


def _telling(key: str, containers: list[dict[str, tuple[str, str]]]) -> bool:
    """Whether a column says more than the default everywhere."""
    default = {"build": "1.25", "env": "–"}[key]
    return any(container[key][0] != default for container in containers)


def _containers(arm: Arm) -> dict[str, dict[str, tuple[str, str]]]:
    """By container ("server", "pair.small"): each value as text, with what stands under it."""
    return {
        _unit(group, container): {
            "limit": _limit(container),
            "request": (_cpu(container.request, "none"), ""),
            "build": (container.build.removeprefix("go"), ""),
            "env": (", ".join(f"{k}={v}" for k, v in sorted(container.env.items())) or "–", ""),
            "work": (work_words(container.workload), ""),
        }
        for group in arm.groups
        for container in group.containers
    }


def _unit(group: Group, container: Container) -> str:
    return group.name if len(group.containers) == 1 else f"{group.name}.{container.name}"


def _rows(
    arm: Arm,
    values: dict[str, dict[str, tuple[str, str]]],
    before: dict[str, dict[str, tuple[str, str]]],
    wanted: list[tuple[str, str]],
) -> ArmRows:
    lines = []
    for group in arm.groups:
        for container in group.containers:
            unit = _unit(group, container)
            own, above = values[unit], before.get(unit)
            cells = tuple(
                Cell(key, title, *own[key], changed=above is not None and own[key] != above[key])
                for key, title in wanted
            )
            lines.append(Line(unit, _role(arm, group), cells))
    return ArmRows(arm.name, arm.label or arm.name, tuple(lines), _steps(arm))


def _role(arm: Arm, group: Group) -> str:
    """What a group is for, and where, as far as that is worth saying."""
    said: list[str] = [] if group.role == "measured" else [group.role]
    if group.replicas > 1:
        said.append(f"{group.replicas} replicas")
    if len(arm.places) > 1:
        said.append(f"at {group.place}")
    return ", ".join(said)


def _limit(container: Container) -> tuple[str, str]:
    if container.limit == "none":
        return "no limit", ""
    under = f"per {say_duration(container.period_us)}"
    if container.burst_us:
        under += f", up to {say_duration(container.burst_us)} saved up"
    return _cpu(container.limit, ""), under


def _cpu(text: str, none: str) -> str:
    return none if text == "none" else f"{text} CPU"


def _steps(arm: Arm) -> str:
    """The steps in words; nothing where groups are only started and one is measured."""
    if arm.is_short or all(step.wait is None and step.pin is None for step in arm.steps):
        return ""
    return ", then ".join(_step(step) for step in arm.steps)


def _step(step: Step) -> str:
    if step.start is not None:
        return f"start {', '.join(step.start)}"
    if step.wait is not None:
        return f"wait {say_duration(step.wait_us)}"
    if step.measure is not None:
        return f"measure {step.measure}"
    return f"keep {step.pin} on {step.cpus} CPU{'s' if step.cpus != 1 else ''}"
