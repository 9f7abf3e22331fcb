"""The small picture of an experiment's card, drawn from what was published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_low

from experiments_app.catalogue import Published, PublishedArm
from experiments_app.core.quantity import parse_cpu
from experiments_app.core.spec import Spec
from experiments_app.core.spec_model import Arm
from experiments_app.templatetags.quantities import NBSP, number
from experiments_app.web.card_drawings import Drawing, steps, tree
from experiments_app.web.published import reference

NO_THROTTLING = "never throttled"
THROTTLED = "throttled"


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: `width` and `whisker` (None: no line) in % of the scale, `look` a class.

    A name and a value are written beside it.
    """

    name: str
    value: str
    width: float
    look: str
    whisker: float | None = None


@dataclass(frozen=True, slots=True)
class Key:
    """A look and what it stands for."""

    look: str
    words: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Bars with their legend, or a drawing; `caption` says what is drawn, with its unit.

    `groups` are bars that belong together: of an arm, or of one figure.
    """

    caption: str
    groups: tuple[tuple[Bar, ...], ...] = ()
    keys: tuple[Key, ...] = ()
    drawing: Drawing | None = None


def picture(spec: Spec) -> Picture | None:
    """The picture of an experiment's published figures; None where nothing can be drawn."""
    source = reference(spec)
    if source is None:
        return None
    found = [(arm, figures) for arm in spec.arms if (figures := source.arm(arm.name)) is not None]
    for draw in (_walls, _latencies, _throughput, _shares, _gomaxprocs, _tree):
        drawn = draw(source, found)
        if drawn is not None:
            return drawn
    return None


Arms = Sequence[tuple[Arm, PublishedArm]]


def _walls(_source: Published, arms: Arms) -> Picture | None:
    """Median walls, the largest as a line, on one scale from 0."""
    have = [(arm, figures) for arm, figures in arms if "wall_ms_p50" in figures.rounds]
    if not have:
        return None
    largest = {arm.name: float(figures.rounds["wall_ms_max"]) for arm, figures in have}
    scale = max(largest.values())
    bars = []
    for arm, figures in have:
        median = float(figures.rounds["wall_ms_p50"])
        throttled = bool(figures.run.get("nr_throttled"))
        bars.append(
            Bar(
                name=_short(arm),
                value=number(median),
                width=_percent(median, scale),
                look="held" if throttled else "free",
                whisker=_percent(largest[arm.name], scale),
            )
        )
    caption = "published wall of a round, ms: median, and the largest as a line"
    return Picture(caption, (tuple(bars),), _throttled_keys(bars))


def _latencies(_source: Published, arms: Arms) -> Picture | None:
    """The median and the 99th percentile of every arm as a pair; the middle of its repeats."""
    found = []
    for arm, figures in arms:
        values = [repeat.measures.get("work_ms") for repeat in figures.repeats]
        known = [(v.p50, v.p99) for v in values if v and v.p50 is not None and v.p99 is not None]
        if known:
            middle = (median_low(p50 for p50, _ in known), median_low(p99 for _, p99 in known))
            throttled = any(repeat.server.get("nr_throttled") for repeat in figures.repeats)
            found.append((arm, *middle, throttled, len(known)))
    if not found:
        return None
    scale = max(p99 for _, _, p99, _, _ in found)
    groups = tuple(
        (
            Bar(_short(arm), number(p50), _percent(p50, scale), "free"),
            Bar("", number(p99), _percent(p99, scale), "held" if throttled else "tail"),
        )
        for arm, p50, p99, throttled, _ in found
    )
    several = max(n for *_, n in found)
    over = f", the lower of {several} repeats" if several > 1 else ""
    keys = [Key("free", "median"), Key("tail", "p99")]
    if any(throttled for *_, throttled, _ in found):
        keys.append(Key("held", "p99, periods throttled"))
    caption = f"published latency of a request, ms: median and p99{over}"
    return Picture(caption, groups, tuple(keys))


def _throughput(_source: Published, arms: Arms) -> Picture | None:
    """Requests a second, and under them the slowest percent: each on a scale of its own."""
    found = []
    for arm, figures in arms:
        rate = figures.run.get("throughput_rps")
        slow = next((r.measures["request_ms"].p99 for r in figures.repeats), None)
        if rate is not None and slow is not None:
            found.append((arm, float(rate), slow))
    if not found:
        return None
    fastest, slowest = max(rate for _, rate, _ in found), max(slow for *_, slow in found)
    rates = tuple(
        Bar(_short(arm), number(rate), _percent(rate, fastest), "free") for arm, rate, _ in found
    )
    tails = tuple(
        Bar(_short(arm), f"{number(slow)}{NBSP}ms", _percent(slow, slowest), "tail")
        for arm, _, slow in found
    )
    caption = "published requests a second, and the p99 of a request’s time"
    keys = (Key("free", "requests a second"), Key("tail", "p99"))
    return Picture(caption, (rates, tails), keys)


def _shares(_source: Published, arms: Arms) -> Picture | None:
    """Of every arm with shares: what the weights of its siblings promise, and what came."""
    groups = []
    for _, figures in arms:
        shared = {u: v for u, v in figures.units.items() if "share" in v and "weight" in v}
        total = sum(float(v["weight"]) for v in shared.values())
        for unit, values in shared.items():
            promised, got = float(values["weight"]) / total, float(values["share"])
            groups.append(
                (
                    Bar(unit, number(promised), _percent(promised, 1), "promised"),
                    Bar("", number(got), _percent(got, 1), "free"),
                )
            )
    if not groups:
        return None
    caption = "share of one CPU among siblings: by weight, and as published"
    return Picture(
        caption, tuple(groups), (Key("promised", "by weight"), Key("free", "published share"))
    )


def _gomaxprocs(_source: Published, arms: Arms) -> Picture | None:
    """GOMAXPROCS against the limit, a line a build; arms with an environment are left out."""
    lines: dict[str, list[tuple[str, float]]] = {}
    for arm, figures in arms:
        container = arm.measured.containers[0]
        seen = figures.facts.get("gomaxprocs")
        if "cpu_max" in figures.facts and not container.env and isinstance(seen, int):
            lines.setdefault(container.build, []).append((container.limit, float(seen)))
    if not lines:
        return None
    for points in lines.values():
        points.sort(key=lambda point: parse_cpu(point[0]) or 10**9)
    drawn = {f"go {build.removeprefix('go')}": points for build, points in lines.items()}
    return Picture("published GOMAXPROCS by CPU limit, on 10 CPUs", drawing=steps(drawn))


def _tree(_source: Published, arms: Arms) -> Picture | None:
    """Pods and their containers with what limits each."""
    have = [(_short(arm), figures.units) for arm, figures in arms if figures.levels]
    return Picture("published quotas, level by level", drawing=tree(have)) if have else None


def _throttled_keys(bars: Sequence[Bar]) -> tuple[Key, ...]:
    words = (("free", NO_THROTTLING), ("held", THROTTLED))
    return tuple(Key(look, said) for look, said in words if any(b.look == look for b in bars))


def _short(arm: Arm) -> str:
    """A label without what stands in brackets: a picture has little room."""
    return (arm.label or arm.name).partition(" (")[0].removesuffix(", as published")


def _percent(value: float, scale: float) -> float:
    return round(value / scale * 100, 2) if scale else 0.0
