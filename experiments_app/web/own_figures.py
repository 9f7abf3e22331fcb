"""The figures of an experiment's latest finished run, to lay beside the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import median_low
from typing import Any

from experiments_app.archive.arms import tried
from experiments_app.archive.shares import UnitCpu, unit_cpus
from experiments_app.archive.summary import ArmSummary, Figures, RepeatSummary, arm_summaries
from experiments_app.core.plan import Plan, PlannedArm
from experiments_app.core.spec import Spec, dump_arm
from experiments_app.core.workloads import Load, Requests
from experiments_app.models import Repeat, RepeatState, Run, RunStatus
from experiments_app.templatetags.quantities import duration_us, time_us
from experiments_app.web.figure_names import Value, written
from experiments_app.web.figure_tables import Source, limited_names, no_limit

SIMULATED = "simulated"
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
    """The newest finished run of the experiment that was measured here; None without one.

    What a model computed or another lab measured is not it.
    """
    found = Run.objects.filter(experiment=spec.name, status=RunStatus.FINISHED, imported=False)
    run = found.exclude(target_kind=SIMULATED).order_by("-number").first()
    return None if run is None else own_figures(spec, run)


def own_figures(spec: Spec, run: Run) -> Own:
    """The figures of one run, for the arms that the experiment still has."""
    planned = Plan.from_dict(run.plan).arms
    as_written = {arm.name: arm for arm in spec.arms}
    done: dict[int, Repeat] = {}
    for repeat in run.repeats.filter(state=RepeatState.DONE).order_by("order"):
        done[repeat.arm] = repeat
    sources: list[Source] = []
    scaled: list[str] = []
    changed: list[str] = []
    for arm, summary in zip(planned, arm_summaries(run), strict=True):
        if arm.name not in as_written or not summary.repeats_done:
            continue
        if arm.scale is not None:
            scaled.append(arm.label)
        elif dump_arm(as_written[arm.name]) != dump_arm(arm.arm):
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
    """The figures of one repeat, or medians with their spread: never a sum of repeats."""
    done = [repeat for repeat in summary.repeats if repeat.state == RepeatState.DONE]
    by_table: dict[str, list[Source]] = {}
    for repeat in done:
        for source in _OfRepeat(f"run {run.number}", arm, repeat).sources():
            by_table.setdefault(source.table, []).append(source)
    return [found[0] if len(done) == 1 else _medians(found) for found in by_table.values()]


def _medians(sources: list[Source]) -> Source:
    """The median of each figure over repeats, its least and most below it.

    None where one of the repeats lacks it.
    """
    first = sources[0]
    values: dict[str, Value] = {}
    spread: dict[str, str] = {}
    for column, value in first.values.items():
        found = [source.values.get(column) for source in sources]
        numbers = [each for each in found if isinstance(each, int | float)]
        values[column] = value if isinstance(value, str) else None
        if len(numbers) < len(sources):
            continue
        values[column] = median_low(numbers)
        if min(numbers) < max(numbers):
            spread[column] = f"{written(column, min(numbers))} to {written(column, max(numbers))}"
    window = f"median of {len(sources)} repeats, each over {first.window}"
    return replace(first, window=window, values=values, extra=spread)


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
                values["achieved_rps"] = self._sent_rps(latencies.n + failed, figures)
            else:
                values["n"] = latencies.n
            yield self._source(table, duration_us(self._timed_us()), values)

    def _counters(self, figures: Figures) -> Iterator[Source]:
        if figures.window_us is None:
            return
        values: dict[str, Value] = {name: getattr(figures, name) for name in _COUNTERS}
        if self.arm.result not in ("cpu", None):
            # Of units that only burn CPU, or only tell facts, it says nothing all together.
            values["cpus"] = _milli(figures.avg_cpu_milli)
        if figures.nr_throttled is not None and figures.nr_periods:
            values["throttled_ratio"] = figures.nr_throttled / figures.nr_periods
        requests = figures.measures.get("request_us")
        if requests is not None and figures.timed_us:
            values["throughput_rps"] = requests.n * 1_000_000 / figures.timed_us
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
        """How long requests are to be counted, us."""
        works = [c.workload for c in self.arm.measured.containers]
        return max((w.duration_us for w in works if isinstance(w, Load | Requests)), default=0)

    def _sent_rps(self, requests: int, figures: Figures) -> float | None:
        """Scheduled requests over the time in which they were really sent.

        A load that is late sends its last ones after the span of its schedule; None where it
        did not say by how much.
        """
        overrun = figures.facts.get("overrun_us")
        if overrun is None:
            return None
        loads = sum(unit.container is not None for unit in self.arm.measured.units)
        return requests * 1_000_000 / (self._timed_us() + overrun / loads)


def _seen_by(
    run: Run, arm: PlannedArm, summary: ArmSummary, repeat: Repeat | None
) -> Iterator[Source]:
    """What the programs saw and the kernel had, in the newest repeat that is done.

    Of the units that the arm is about: of a service the server, not its load.
    """
    if repeat is None:
        return
    cpus = unit_cpus(arm, summary)
    levels = {str(tree["group"]): tree["levels"] for tree in repeat.tree or ()}
    units = [unit for group in tried(arm.groups, arm.measured) for unit in group.units]
    who = f"run {run.number}"
    for unit in units:
        window = "read once"
        program = (repeat.programs.get(unit.name) or {}).get("program") or {}
        seen = {**_seen(program), **_level(levels.get(unit.name))}
        if len(units) == 1:
            if seen:
                yield Source("facts", arm.name, "", who, False, window, seen)
            continue
        found = cpus.get(unit.name)
        if found is not None and found.milli is not None:
            seen["share" if found.of_one_cpu else "cpus"] = found.milli / 1000
            window = f"read once; {_over(found)}"
        if seen:
            yield Source("units", arm.name, unit.name, who, False, window, seen)


def _over(found: UnitCpu) -> str:
    """The window of a unit's CPU."""
    what = "the share of one CPU" if found.of_one_cpu else "CPUs"
    repeats = f", mean of {found.repeats} repeats" if found.repeats > 1 else ""
    return f"{what} over the last three reports{repeats}"


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


def _milli(value: int | None) -> float | None:
    return None if value is None else value / 1000
