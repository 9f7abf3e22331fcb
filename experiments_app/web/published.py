"""Published figures of an experiment, in the units and names that pages use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from statistics import median_low
from typing import Any

from experiments_app.catalogue import Published, PublishedArm, PublishedRepeat, entries, published
from experiments_app.core.plan import PlannedArm
from experiments_app.core.spec import Arm, Spec, dump_arm
from experiments_app.templatetags.quantities import number

PERCENTILES = ("p50", "p90", "p99", "p999", "max")
_OF_SERVER = ("nr_periods", "nr_throttled", "throttled_ms", "avg_cpu_cores")


def reference(spec: Spec) -> Published | None:
    """The published figures of an experiment; None where there are none."""
    return published(spec.reference) if spec.reference else None


def arm_figures(source: Published | None, name: str) -> dict[str, Any] | None:
    """An arm's published figures in us, counts and CPUs, with the windows they were taken over.

    None where nothing was published of it. Walls and counters of the whole run are single
    values; `measures` has one value a published repeat, and of what several repeats counted
    the single ones have the median, which `run_window` says.
    """
    arm = source.arm(name) if source else None
    if source is None or arm is None:
        return None
    counters = arm.run or _medians(arm.repeats)
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
        "facts": dict(arm.facts),
        "units": {unit: dict(values) for unit, values in arm.units.items()},
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


def _medians(repeats: tuple[PublishedRepeat, ...]) -> dict[str, int | float]:
    """Counters of a server in a repeat: the median over all published ones, of two the lower."""
    servers = [repeat.server for repeat in repeats]
    if not servers or not all(servers):
        return {}
    return {name: median_low(server[name] for server in servers) for name in _OF_SERVER}


def _run_window(source: Published, arm: PublishedArm) -> str:
    if arm.run or not arm.repeats:
        return source.windows.get("run", "")
    window = source.windows.get("server", "")
    count = len(arm.repeats)
    return f"{window}; median of {count} repeats" if window and count > 1 else window


def out_of_reach(source: Published | None, arms: Iterable[dict[str, Any]], cpus: int | None) -> str:
    """Why this machine cannot reach some published walls; "" where it can or nobody knows.

    `arms` as in run_data: where an arm's threads (or processes) are more than the CPUs, its work
    alone takes threads x work / CPUs, whatever its limit.
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
        what = "processes" if arm["kind"] == "parallel" else "threads"
        need = f"{threads} {what} × {work_ms} ms need at least {least_ms} ms"
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
    if planned.scale is not None and _unscaled(original) != _unscaled(planned.arm):
        return None
    return arm_figures(reference(spec), planned.name)


def _unscaled(arm: Arm) -> dict[str, Any]:
    """All of an arm that scaling leaves as it is."""
    data = dump_arm(arm, full=True)
    data.pop("label", None)
    for container in [c for group in data.get("groups", ()) for c in group["containers"]] or [data]:
        for name in ("limit", "request", "burst"):
            container.pop(name, None)
        container["env"] = {k: v for k, v in container["env"].items() if k != "GOMAXPROCS"}
        for name in ("threads", "processes"):
            container["workload"].pop(name, None)
    return data


def _us(ms: float | None) -> int | None:
    return None if ms is None else round(ms * 1000)


def _integer(value: float | None) -> int | None:
    return None if value is None else round(value)
