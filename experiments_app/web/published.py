"""Published figures of an experiment, in the units and names that pages use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from experiments_app.catalogue import Published, PublishedArm, PublishedRepeat, entries, published
from experiments_app.core.plan import PlannedArm
from experiments_app.core.spec import Spec, dump_arm
from experiments_app.templatetags.quantities import number

PERCENTILES = ("p50", "p90", "p95", "p99", "p999", "max")
# Of several published repeats these are added up, as those of a run's repeats are.
_ADDED = ("nr_periods", "nr_throttled", "throttled_ms")


def reference(spec: Spec) -> Published | None:
    """The published figures of an experiment; None where there are none."""
    return published(spec.reference) if spec.reference else None


def arm_figures(source: Published | None, name: str) -> dict[str, Any] | None:
    """An arm's published figures in us, counts and CPUs, with the windows they were taken over.

    None where nothing was published of it. Walls and counters of the whole run are single
    values; `measures` has one value a published repeat, and what several repeats counted is
    added up in the single ones, which `run_window` says.
    """
    arm = source.arm(name) if source else None
    if source is None or arm is None:
        return None
    counters = arm.run or _added(arm.repeats)
    windows = dict(source.windows)
    return {
        "wall_us_p50": _us(arm.rounds.get("wall_ms_p50")),
        "wall_us_p95": _us(arm.rounds.get("wall_ms_p95")),
        "wall_us_max": _us(arm.rounds.get("wall_ms_max")),
        "nr_periods": _integer(counters.get("nr_periods")),
        "nr_throttled": _integer(counters.get("nr_throttled")),
        "throttled_us": _us(counters.get("throttled_ms")),
        "cpus": counters.get("avg_cpu_cores"),
        "rounds_window": windows.get("rounds", ""),
        "run_window": _run_window(source, arm),
        "measures": _measures(arm.repeats),
        "achieved_rps": [repeat.achieved_rps for repeat in arm.repeats],
        "errors": [repeat.errors for repeat in arm.repeats],
        "facts": dict(arm.facts),
        "units": {unit: dict(values) for unit, values in arm.units.items()},
        "levels": {level: dict(values) for level, values in arm.levels.items()},
        "windows": windows,
    }


def _measures(repeats: Iterable[PublishedRepeat]) -> dict[str, dict[str, list[int | None]]]:
    """By measure ("work_us"), then by figure: its value in every published repeat, us."""
    found: dict[str, dict[str, list[int | None]]] = {}
    for repeat in repeats:
        for measure, latencies in repeat.measures.items():
            name = measure.replace("_ms", "_us")
            into = found.setdefault(
                name, {"n": [], **{f"{percentile}_us": [] for percentile in PERCENTILES}}
            )
            n = latencies.n if name != "work_us" else repeat.requests
            into["n"].append(n)
            for percentile in PERCENTILES:
                into[f"{percentile}_us"].append(_us(getattr(latencies, percentile)))
    return found


def _added(repeats: tuple[PublishedRepeat, ...]) -> dict[str, int | float]:
    """Counters of a server over all published repeats; a mean of their equally long windows."""
    servers = [repeat.server for repeat in repeats]
    if not servers or not all(servers):
        return {}
    found = {name: sum(server[name] for server in servers) for name in _ADDED}
    found["avg_cpu_cores"] = round(sum(s["avg_cpu_cores"] for s in servers) / len(servers), 4)
    return found


def _run_window(source: Published, arm: PublishedArm) -> str:
    if arm.run or not arm.repeats:
        return source.windows.get("run", "")
    window = source.windows.get("server", "")
    count = len(arm.repeats)
    return f"{window}; {count} repeats added up" if window and count > 1 else window


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
