"""Published figures of an experiment, in the units and names that pages use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from experiments_app.catalogue import Published, PublishedArm, entries, published
from experiments_app.core.plan import PlannedArm
from experiments_app.core.spec import Spec, dump_arm
from experiments_app.templatetags.quantities import number


@dataclass(frozen=True, slots=True)
class Bar:
    """One arm in the picture of a card: published median and largest wall, ms; x, width in %."""

    label: str
    median_ms: float
    largest_ms: float
    median_share: float
    largest_share: float
    throttled: int | None
    periods: int | None


def reference(spec: Spec) -> Published | None:
    return published(spec.reference) if spec.reference else None


def wall_bars(spec: Spec) -> list[Bar]:
    """The published walls of every arm that has them, on one scale from 0."""
    source = reference(spec)
    if source is None:
        return []
    found = []
    for arm in spec.arms:
        figures = source.arm(arm.name)
        if figures is not None and "wall_ms_p50" in figures.rounds:
            found.append((arm.label or arm.name, figures))
    scale = max((_largest(figures) for _, figures in found), default=1.0) or 1.0
    return [_bar(label, figures, scale) for label, figures in found]


def _largest(figures: PublishedArm) -> float:
    return float(figures.rounds.get("wall_ms_max", figures.rounds["wall_ms_p50"]))


def _bar(label: str, figures: PublishedArm, scale: float) -> Bar:
    median = float(figures.rounds["wall_ms_p50"])
    return Bar(
        label=label,
        median_ms=median,
        largest_ms=_largest(figures),
        median_share=round(median / scale * 100, 2),
        largest_share=round(_largest(figures) / scale * 100, 2),
        throttled=_integer(figures.run.get("nr_throttled")),
        periods=_integer(figures.run.get("nr_periods")),
    )


def arm_figures(source: Published | None, name: str) -> dict[str, Any] | None:
    """An arm's published figures in us, counts and CPUs, with the windows they were taken over."""
    arm = source.arm(name) if source else None
    if source is None or arm is None:
        return None
    return {
        "wall_us_p50": _us(arm.rounds.get("wall_ms_p50")),
        "wall_us_p95": _us(arm.rounds.get("wall_ms_p95")),
        "wall_us_max": _us(arm.rounds.get("wall_ms_max")),
        "nr_periods": _integer(arm.run.get("nr_periods")),
        "nr_throttled": _integer(arm.run.get("nr_throttled")),
        "throttled_us": _us(arm.run.get("throttled_ms")),
        "cpus": arm.run.get("avg_cpu_cores"),
        "rounds_window": source.windows.get("rounds", ""),
        "run_window": source.windows.get("run", ""),
    }


def out_of_reach(source: Published | None, arms: Iterable[dict[str, Any]], cpus: int | None) -> str:
    """Why this machine cannot reach some published walls; "" where it can or nobody knows.

    `arms` as in run_data: where an arm's threads are more than the CPUs, its work alone takes
    threads x work / CPUs, whatever its limit.
    """
    theirs = published_cpus(source)
    if theirs is None or not cpus or theirs <= cpus:
        return ""
    found: dict[str, list[str]] = {}
    for arm in arms:
        median = (arm["published"] or {}).get("wall_us_p50")
        threads, work = arm["threads"], arm["work_us"]
        least = threads * work / cpus
        if median is None or threads <= cpus or least <= median:
            continue
        work_ms, least_ms = number(work / 1000), number(least / 1000)
        need = f"{threads} threads × {work_ms} ms need at least {least_ms} ms"
        found.setdefault(need, []).append(f"{number(median / 1000)} ms ({arm['label']})")
    parts = [
        f"{need}, so {_and(medians)} {'are' if len(medians) > 1 else 'is'} out of reach here"
        for need, medians in found.items()
    ]
    if not parts:
        return ""
    here = f"{cpus} CPU{'s' if cpus > 1 else ''}"
    return f"Published on {theirs} CPUs, measured on {here}: {'; '.join(parts)}."


def published_cpus(source: Published | None) -> int | None:
    """How many CPUs the published figures were measured on, as their source says it."""
    match = re.search(r"\b(\d+) CPUs?\b", source.source) if source else None
    return int(match[1]) if match else None


def _and(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def beside(experiment: str, planned: PlannedArm) -> dict[str, Any] | None:
    """What was published for an arm that runs as published (or scaled, which its label says).

    None where the arm was changed: then the figures are of something else.
    """
    spec = next((spec for spec in entries() if spec.name == experiment), None)
    if spec is None:
        return None
    original = next((arm for arm in spec.arms if arm.name == planned.name), None)
    if original is None:
        return None
    if planned.scale is None and dump_arm(original) != dump_arm(planned.arm):
        return None
    return arm_figures(reference(spec), planned.name)


def _us(ms: float | None) -> int | None:
    return None if ms is None else round(ms * 1000)


def _integer(value: float | None) -> int | None:
    return None if value is None else round(value)
