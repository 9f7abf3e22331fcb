"""Published figures, to lay beside one's own: each with its unit and its window."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Scope = Literal["rounds", "run", "round", "measures", "server", "facts", "units", "levels"]
Measure = Literal["work_ms", "ping_ms", "request_ms"]
Value = int | float | str
_UNITS = {"ms": "ms", "s": "s", "us": "us", "cores": "CPUs", "share": "CPUs", "rps": "a second"}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Figure(_Model):
    """One published number. `name` has its unit in it; `window` says what it was taken over.

    `scope` is the part it belongs to, `of` the unit or level of the tree it is about ("" for
    the arm), `repeat` counts the published repeats from 1 (None where there is only one figure).
    """

    name: str
    value: Value
    unit: str
    window: str
    scope: Scope = "run"
    of: str = ""
    repeat: int | None = None


class SeriesRow(_Model):
    """One published round; counters are differences over that round."""

    round: int
    wall_ms: float
    nr_periods: int | None = None
    nr_throttled: int | None = None
    throttled_ms: float | None = None
    usage_ms: float | None = None


class Latencies(_Model):
    """Latencies of `n` requests, ms; None for what was not published."""

    n: int | None = None
    p50: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p999: float | None = None
    max: float | None = None

    def given(self) -> dict[str, int | float]:
        """What was published, by name."""
        return {name: value for name, value in self if value is not None}


class PublishedRepeat(_Model):
    """One published repeat of an arm whose requests were timed.

    `requests` and `errors` count /work; `server` has the counters of the service, with the
    names that a run's have.
    """

    measures: dict[Measure, Latencies]
    requests: int | None = None
    errors: int | None = None
    achieved_rps: float | None = None
    server: dict[str, int | float] = {}


class PublishedArm(_Model):
    """An arm's figures, by what they were taken over.

    `each` holds a run's counter once for every published repeat where `run` has the median.
    `facts` is what the program saw, `units` the same and more of each unit of the arm, and
    `levels` what stands above the units in the tree.
    """

    name: str
    rounds: dict[str, int | float] = {}
    run: dict[str, int | float] = {}
    each: dict[str, tuple[int | float, ...]] = {}
    series: tuple[SeriesRow, ...] = ()
    repeats: tuple[PublishedRepeat, ...] = ()
    facts: dict[str, Value] = {}
    units: dict[str, dict[str, Value]] = {}
    levels: dict[str, dict[str, Value]] = {}

    @property
    def scopes(self) -> frozenset[Scope]:
        """The parts that have figures, each of which needs a window."""
        found: dict[Scope, bool] = {
            "rounds": bool(self.rounds),
            "run": bool(self.run or self.each),
            "round": bool(self.series),
            "measures": bool(self.repeats),
            "server": any(repeat.server for repeat in self.repeats),
            "facts": bool(self.facts),
            "units": bool(self.units),
            "levels": bool(self.levels),
        }
        return frozenset(scope for scope, there in found.items() if there)


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
        """Every figure of an arm with its unit and window; empty when not published.

        The rounds of `series` are a drawing, not figures.
        """
        arm = self.arm(name)
        return () if arm is None else tuple(_figures(arm, self.windows))

    @model_validator(mode="after")
    def _every_figure_has_a_window(self) -> Self:
        for arm in self.arms:
            bare = sorted(scope for scope in arm.scopes if not self.windows.get(scope))
            if bare:
                raise ValueError(f"{arm.name}: windows.{bare[0]} is missing for its figures")
        return self


def _figures(arm: PublishedArm, windows: Mapping[Scope, str]) -> Iterator[Figure]:
    def figure(scope: Scope, name: str, value: Value, of: str = "", n: int | None = None) -> Figure:
        return Figure(
            name=name,
            value=value,
            unit=unit_of(name),
            window=windows[scope],
            scope=scope,
            of=of,
            repeat=n,
        )

    plain: tuple[tuple[Scope, Mapping[str, Value]], ...] = (
        ("rounds", arm.rounds),
        ("run", arm.run),
        ("facts", arm.facts),
    )
    for scope, values in plain:
        yield from (figure(scope, name, value) for name, value in values.items())
    for name, each in arm.each.items():
        yield from (figure("run", name, value, n=n) for n, value in enumerate(each, 1))
    of_parts: tuple[tuple[Scope, Mapping[str, Mapping[str, Value]]], ...] = (
        ("units", arm.units),
        ("levels", arm.levels),
    )
    for scope, parts in of_parts:
        for of, values in parts.items():
            yield from (figure(scope, name, value, of) for name, value in values.items())
    several = len(arm.repeats) > 1
    for n, repeat in enumerate(arm.repeats, 1):
        mark = n if several else None
        for scope, name, number in _of_repeat(repeat):
            yield figure(scope, name, number, n=mark)


def _of_repeat(repeat: PublishedRepeat) -> Iterator[tuple[Scope, str, int | float]]:
    for name in ("requests", "errors", "achieved_rps"):
        value = getattr(repeat, name)
        if value is not None:
            yield "measures", name, value
    for measure, latencies in repeat.measures.items():
        for name, number in latencies.given().items():
            count = f"{measure.removesuffix('_ms')}_n"
            yield "measures", count if name == "n" else f"{measure}_{name}", number
    for name, number in repeat.server.items():
        yield "server", name, number


def unit_of(name: str) -> str:
    """The unit that a figure's name holds ("wall_ms_p50" -> "ms"); counts have none."""
    return next((_UNITS[part] for part in name.split("_") if part in _UNITS), "")


def load_published(text: str, source: str) -> Published:
    """Read a file of published figures. Raises ValueError naming the file: it is ours."""
    try:
        return Published.model_validate(tomllib.loads(text))
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error
