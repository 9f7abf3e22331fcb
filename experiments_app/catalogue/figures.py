"""Published figures, to lay beside one's own: each with its unit and its window."""

from __future__ import annotations

import tomllib
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Scope = Literal["rounds", "run", "round"]
_UNITS = {"ms": "ms", "s": "s", "us": "us", "cores": "CPUs"}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Figure(_Model):
    """One published number. `name` has its unit in it; `window` says what it was taken over."""

    name: str
    value: int | float
    unit: str
    window: str


class SeriesRow(_Model):
    """One published round; counters are differences over that round."""

    round: int
    wall_ms: float
    nr_periods: int | None = None
    nr_throttled: int | None = None
    throttled_ms: float | None = None
    usage_ms: float | None = None


class PublishedArm(_Model):
    """An arm's figures, by what they were taken over."""

    name: str
    rounds: dict[str, int | float] = {}
    run: dict[str, int | float] = {}
    series: tuple[SeriesRow, ...] = ()


class Published(_Model):
    """What was published for one experiment, and where and how it was measured."""

    experiment: str
    source: str
    method: str = ""
    windows: dict[Scope, str]
    arms: Annotated[tuple[PublishedArm, ...], Field(min_length=1)]

    def arm(self, name: str) -> PublishedArm | None:
        """The published arm of this name; None when it was not published."""
        return next((arm for arm in self.arms if arm.name == name), None)

    def figures(self, name: str) -> tuple[Figure, ...]:
        """Every figure of an arm with its unit and window; empty when not published."""
        arm = self.arm(name)
        if arm is None:
            return ()
        scopes: tuple[tuple[Scope, dict[str, int | float]], ...] = (
            ("rounds", arm.rounds),
            ("run", arm.run),
        )
        return tuple(
            Figure(name=key, value=value, unit=unit_of(key), window=self.windows[scope])
            for scope, values in scopes
            for key, value in values.items()
        )


def unit_of(name: str) -> str:
    """The unit that a figure's name holds ("wall_ms_p50" -> "ms"); counts have none."""
    return next((_UNITS[part] for part in name.split("_") if part in _UNITS), "")


def load_published(text: str, source: str) -> Published:
    """Read a file of published figures. Raises ValueError naming the file: it is ours."""
    try:
        return Published.model_validate(tomllib.loads(text))
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
