"""The figures of an experiment's latest finished run, to lay beside the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import median_low
from typing import Any

from experiments_app.archive.summary import ArmSummary, Figures, RepeatSummary, arm_summaries
from experiments_app.core.plan import Plan, PlannedArm
from experiments_app.core.spec import Spec, dump_arm
from experiments_app.core.units import Unit
from experiments_app.core.workloads import Load, Requests
from experiments_app.models import Repeat, RepeatState, Run, RunStatus
from experiments_app.templatetags.quantities import duration_us, time_us
from experiments_app.web.figure_names import Value
from experiments_app.web.figure_tables import Source, counted, limited_names, no_limit

# Repeats that have a row each; the medians of more.
MOST_ROWS = 3
_COUNTERS = ("nr_throttled", "nr_periods", "throttled_us", "usage_us")
_PERCENTILES = ("p50", "p90", "p95", "p99", "p999", "max")
_MEASURES = {"work_us": "work", "ping_us": "ping", "request_us": "request"}


@dataclass(frozen=True, slots=True)
class Own:
    """A run's figures by table, and what differs between it and the experiment's arms."""

    run: Run
    sources: tuple[Source, ...]
    notes: tuple[str, ...]


def latest_own(spec: Spec) -> Own | None:
    """The newest finished run of the experiment that was measured here; None without one."""
    found = Run.objects.filter(
        experiment=spec.name, status=RunStatus.FINISHED, imported=False
    ).order_by("-number")
    run = found.first()
    return None if run is None else own_figures(spec, run)


def own_figures(spec: Spec, run: Run) -> Own:
    """The figures of one run, for the arms that the experiment still has."""
    planned = Plan.from_dict(run.plan).arms
    written = {arm.name: arm for arm in spec.arms}
    done: dict[int, Repeat] = {}
    for repeat in run.repeats.filter(state=RepeatState.DONE).order_by("order"):
        done[repeat.arm] = repeat
    sources: list[Source] = []
    scaled: list[str] = []
    changed: list[str] = []
    for arm, summary in zip(planned, arm_summaries(run), strict=True):
        if arm.name not in written or not summary.repeats_done:
            continue
        if arm.scale is not None:
            scaled.append(arm.label)
        elif dump_arm(written[arm.name]) != dump_arm(arm.arm):
            changed.append(arm.label)
        sources += _of_arm(run, arm, summary)
        sources += _seen_by(run, arm, summary, done.get(summary.index))
    return Own(run, tuple(sources), tuple(_notes(scaled, changed)))


def _notes(scaled: list[str], changed: list[str]) -> Iterator[str]:
    if scaled:
        yield f"Scaled to fit this machine: {'; '.join(scaled)}."
    if changed:
        yield f"Run with other settings than above: {'; '.join(changed)}."


def _of_arm(run: Run, arm: PlannedArm, summary: ArmSummary) -> list[Source]:
    """A row a repeat, or the medians of many: never a sum beside single published ones."""
    done = [repeat for repeat in summary.repeats if repeat.state == RepeatState.DONE]
    rows = [_OfRepeat(_who(run, done, repeat), arm, repeat).sources() for repeat in done]
    if len(done) <= MOST_ROWS:
        return [source for sources in rows for source in sources]
    by_table: dict[str, list[Source]] = {}
    for sources in rows:
        for source in sources:
            by_table.setdefault(source.table, []).append(source)
    return [_medians(f"run {run.number}", found) for found in by_table.values()]


def _who(run: Run, done: list[RepeatSummary], repeat: RepeatSummary) -> str:
    return f"run {run.number}" + (f", repeat {repeat.n}" if len(done) > 1 else "")


def _medians(who: str, sources: list[Source]) -> Source:
    """The median of each figure over repeats; None where one of them lacks it."""
    first = sources[0]
    values: dict[str, Value] = {}
    for column, value in first.values.items():
        found = [source.values.get(column) for source in sources]
        numbers = [each for each in found if isinstance(each, int | float)]
        values[column] = value if isinstance(value, str) else None
        if len(numbers) == len(sources):
            values[column] = median_low(numbers)
    window = f"medians over {len(sources)} repeats, each over {first.window}"
    return replace(first, who=who, window=window, values=values)


@dataclass(frozen=True, slots=True)
class _OfRepeat:
    """The figures of one repeat that is done."""

    who: str
    arm: PlannedArm
    repeat: RepeatSummary

    def sources(self) -> list[Source]:
        figures = self.repeat.summary
        return [*self._walls(figures), *self._measures(figures), *self._counters(figures)]

    def _source(self, table: str, window: str, values: dict[str, Value]) -> Source:
        return Source(table, self.arm.name, "", self.who, False, window, values)

    def _walls(self, figures: Figures) -> Iterator[Source]:
        walls = figures.wall_us
        if walls.n:
            names = ("min", "p50", "p95", "max")
            values: dict[str, Value] = {f"us_{name}": getattr(walls, name) for name in names}
            yield self._source("walls", f"{walls.n} rounds", values)

    def _measures(self, figures: Figures) -> Iterator[Source]:
        for name, table in _MEASURES.items():
            latencies = figures.measures.get(name)
            if latencies is None:
                continue
            values: dict[str, Value] = {
                f"us_{percentile}": getattr(latencies, percentile) for percentile in _PERCENTILES
            }
            failed = sum(latencies.errors.values())
            if table == "work":
                values |= {"requests": latencies.n, "errors": failed}
                values["achieved_rps"] = self._rate(latencies.n + failed)
            else:
                values["n"] = latencies.n
            yield self._source(table, duration_us(self._timed_us()), values)

    def _counters(self, figures: Figures) -> Iterator[Source]:
        if figures.window_us is None:
            return
        values: dict[str, Value] = {name: getattr(figures, name) for name in _COUNTERS}
        values["cpus"] = _milli(figures.avg_cpu_milli)
        if figures.nr_throttled is not None and figures.nr_periods:
            values["throttled_ratio"] = figures.nr_throttled / figures.nr_periods
        requests = figures.measures.get("request_us")
        if requests is not None:
            values["throughput_rps"] = self._rate(requests.n)
        collections = [
            group.summary.facts["gc_count"]
            for group in self.repeat.groups
            if "gc_count" in group.summary.facts
        ]
        if collections:
            values["gc_count"] = sum(collections)
        if no_limit(self.arm.arm):
            values |= dict.fromkeys(limited_names(values), "no limit")
        how = "read from outside" if figures.counters_from == "outside" else "over the rounds"
        yield self._source("counters", f"{time_us(figures.window_us)}, {how}", values)

    def _timed_us(self) -> int:
        """How long requests are counted, us."""
        works = [c.workload for c in self.arm.measured.containers]
        return max((w.duration_us for w in works if isinstance(w, Load | Requests)), default=0)

    def _rate(self, requests: int) -> float | None:
        over = self._timed_us()
        return requests * 1_000_000 / over if over else None


def _seen_by(
    run: Run, arm: PlannedArm, summary: ArmSummary, repeat: Repeat | None
) -> Iterator[Source]:
    """What the programs saw and the kernel had, in the newest repeat that is done.

    Of the units that the arm counts: of a service the server, not its load.
    """
    if repeat is None:
        return
    figures: dict[str, Figures] = {}
    for each in summary.repeats:
        if each.id == repeat.pk:
            figures = {group.name: group.summary for group in each.groups}
    levels = {str(tree["group"]): tree["levels"] for tree in repeat.tree or ()}
    units = [unit for group in counted(arm.groups, arm.measured) for unit in group.units]
    who, window = f"run {run.number}", "read once"
    for unit in units:
        program = (repeat.programs.get(unit.name) or {}).get("program") or {}
        seen = {**_seen(program), **_level(levels.get(unit.name))}
        if len(units) == 1:
            if seen:
                yield Source("facts", arm.name, "", who, False, window, seen)
            continue
        share = _share(unit, units, figures)
        if share is not None:
            seen["share"] = share
        said = f"{window}; the share over the last three reports" if share is not None else window
        if seen:
            yield Source("units", arm.name, unit.name, who, False, said, seen)


def _seen(program: Mapping[str, Any]) -> dict[str, Value]:
    env = program.get("env") or {}
    found: dict[str, Value] = {
        "gomaxprocs": program.get("gomaxprocs"),
        "num_cpu": program.get("num_cpu"),
        "gomaxprocs_env": env.get("GOMAXPROCS"),
        "godebug_env": env.get("GODEBUG"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _level(levels: list[dict[str, Any]] | None) -> dict[str, Value]:
    """The unit's own level of the tree: quota, and weight or shares as its kernel has them."""
    if not levels:
        return {}
    own = levels[-1]
    quota, period = own.get("quota_us"), own.get("period_us")
    found: dict[str, Value] = {}
    if period is not None:
        found["cpu_max"] = f"{'max' if quota is None else quota} {period}"
    if own.get("shares") is not None:
        found["shares"] = own["shares"]
    if own.get("weight") is not None:
        # Published facts of a program and of a unit have two names for it.
        found |= {"weight": own["weight"], "cpu_weight": own["weight"]}
    return found


def _share(unit: Unit, units: list[Unit], figures: Mapping[str, Figures]) -> float | None:
    """CPU of the last reports; a whole pod's is that of its containers together."""
    parts = [unit]
    if unit.container is None:
        parts = [
            part
            for part in units
            if (part.group, part.replica) == (unit.group, unit.replica) and part.container
        ]
    found = [figures[part.name].last_reports_milli for part in parts if part.name in figures]
    known = [milli for milli in found if milli is not None]
    return sum(known) / 1000 if known and len(known) == len(parts) else None


def _milli(value: int | None) -> float | None:
    return None if value is None else value / 1000
