"""Figures of a run's arms, repeats and groups, from the rows that were measured.

Every figure is an integer (microseconds or a count); None is "not measured", never 0. A sum
is None when one of its parts was not measured: half a sum would pass for a small one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from experiments_app.archive.arms import ArmGroups, planned_groups
from experiments_app.archive.details import POINTS, added_up
from experiments_app.archive.rounds import tallies
from experiments_app.archive.sparks import wall_spark, wall_sparks
from experiments_app.archive.tally import COUNTERS, Sums, Tally, add_up, side_by_side
from experiments_app.core.latencies import LatencySummary
from experiments_app.core.percentile import Summary, summarise
from experiments_app.core.workloads import Result
from experiments_app.models import Repeat, RepeatState, Run

__all__ = [
    "COUNTERS",
    "ArmSummary",
    "Figures",
    "GroupSummary",
    "RepeatSummary",
    "arm_summaries",
    "spark",
    "wall_spark",
    "wall_sparks",
]

Source = Literal["outside", "rounds"]


@dataclass(frozen=True, slots=True)
class Figures:
    """What was measured over `window_us`.

    `counters_from` says over what the counters were taken: "outside" from the first to the
    last sample of the sampler outside the cgroup, "rounds" over the settled windows of the
    rounds alone. `window_us` is the sum of those windows. `throttled_us` is CPU time paused,
    summed over CPUs: it can exceed the window. `rounds_throttled` counts the rounds whose
    settled counter shows time paused, of `rounds_counted` that have this counter.
    `avg_cpu_milli` is usage over window in thousandths of a CPU. `wall_us` is empty where a
    wall is no result. `measures` are latencies (us) over all rounds by name, `facts` whole
    numbers by name as those rounds tell them, `servers` who answered a load. `timed_us` is how
    long requests were made one after the other: the walls of their rounds, those of several
    repeats added up, of units side by side the longest. `last_reports_milli` is the mean CPU of
    the last three rounds, where CPU is the result.
    """

    wall_us: Summary
    measures: dict[str, LatencySummary]
    facts: dict[str, int]
    servers: dict[str, dict[str, int]]
    rounds: int
    timed_us: int | None
    rounds_counted: int
    rounds_throttled: int | None
    window_us: int | None
    usage_us: int | None
    nr_periods: int | None
    nr_throttled: int | None
    throttled_us: int | None
    nr_bursts: int | None
    burst_us: int | None
    run_delay_us: int | None
    avg_cpu_milli: int | None
    last_reports_milli: int | None
    counters_from: Source | None


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """One unit of one repeat."""

    name: str
    summary: Figures


@dataclass(frozen=True, slots=True)
class RepeatSummary:
    """One repeat: rounds of the units that are the result, counters of the measured ones."""

    id: int
    order: int
    n: int
    state: str
    reason: str
    summary: Figures
    groups: tuple[GroupSummary, ...]


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """One arm over its repeats that are done.

    Where none is done, over what the others measured until they ended (`partial`).
    """

    index: int
    name: str
    label: str
    scale: str | None
    partial: bool
    repeats_done: int
    repeats_failed: int
    summary: Figures
    repeats: tuple[RepeatSummary, ...]


def arm_summaries(run: Run) -> list[ArmSummary]:
    """Every arm of a run in the order of its plan; three queries at most, whatever its size."""
    repeats = list(Repeat.objects.filter(run_id=run.pk).order_by("order"))
    by_arm: dict[int, list[Repeat]] = defaultdict(list)
    for repeat in repeats:
        by_arm[repeat.arm].append(repeat)
    groups = planned_groups(run.plan)
    found = tallies(run, repeats, groups)
    return [
        _arm(planned, index, groups[index], by_arm[index], found)
        for index, planned in enumerate(run.plan["arms"])
    ]


def spark(run: Run) -> list[int | None]:
    """The median of every arm, of its walls or latencies, us; None for an arm without any."""
    return [_median(arm.summary) for arm in arm_summaries(run)]


def _median(figures: Figures) -> int | None:
    for name in POINTS:
        if name in figures.measures:
            return figures.measures[name].p50
    return figures.wall_us.p50


@dataclass(frozen=True, slots=True)
class _Part:
    """What one repeat gives: rounds of the result; rounds and outside totals of what counts.

    `result` says what the rounds are judged by.
    """

    result: Result | None
    rounds: tuple[Tally, ...]
    counted: tuple[Tally, ...]
    outside: Sums | None
    inside: Sums | None

    @property
    def last_reports(self) -> Fraction | None:
        """Mean CPU of the last rounds, of all units together."""
        found = [tally.last_reports for tally in self.rounds if tally.count]
        known = [cpus for cpus in found if cpus is not None]
        return sum(known, Fraction(0)) if known and len(known) == len(found) else None


Tallies = Mapping[tuple[int, str], Tally]


def _arm(
    planned: Mapping[str, Any],
    index: int,
    groups: ArmGroups,
    repeats: Sequence[Repeat],
    found: Tallies,
) -> ArmSummary:
    parts = {repeat.pk: _part(repeat, groups, found) for repeat in repeats}
    done = [repeat for repeat in repeats if repeat.state == RepeatState.DONE]
    used = [parts[repeat.pk] for repeat in done or repeats]
    figures = _figures(used)
    return ArmSummary(
        index=index,
        name=planned["name"],
        label=planned["label"],
        scale=planned["scale"],
        partial=not done and (figures.rounds > 0 or figures.counters_from is not None),
        repeats_done=len(done),
        repeats_failed=sum(repeat.state == RepeatState.FAILED for repeat in repeats),
        summary=figures,
        repeats=tuple(_repeat(repeat, groups, parts[repeat.pk], found) for repeat in repeats),
    )


def _repeat(repeat: Repeat, groups: ArmGroups, part: _Part, found: Tallies) -> RepeatSummary:
    extra = {group for known, group in found if known == repeat.pk} | set(repeat.totals)
    names = (*groups.names, *sorted(extra - set(groups.names)))
    return RepeatSummary(
        id=repeat.pk,
        order=repeat.order,
        n=repeat.n,
        state=str(repeat.state),
        reason=repeat.reason,
        summary=_figures([part]),
        groups=tuple(
            GroupSummary(name, _figures([_part(repeat, _alone(name, groups), found)]))
            for name in names
        ),
    )


def _alone(name: str, groups: ArmGroups) -> ArmGroups:
    """One unit by itself. The whole of a pod has no rounds, and one unknown only walls."""
    return ArmGroups((name,), (name,), (name,), (name,), groups.own.get(name, "wall_us"))


def _part(repeat: Repeat, groups: ArmGroups, found: Tallies) -> _Part:
    nothing = Tally()

    def of(names: Sequence[str]) -> tuple[Tally, ...]:
        return tuple(found.get((repeat.pk, name), nothing) for name in names)

    return _Part(
        result=groups.result,
        rounds=of(groups.results),
        counted=of(groups.counted_rounds),
        outside=side_by_side(_outside(repeat.totals.get(name)) for name in groups.counted),
        inside=side_by_side(tally.sums for tally in of(groups.counted)),
    )


def _outside(totals: Mapping[str, Any] | None) -> Sums | None:
    """The totals from outside samples, where they hold any counter of the cgroup."""
    if totals is None or totals.get("window_us") is None:
        return None
    sums = Sums(totals["window_us"], tuple(totals.get(name) for name in COUNTERS))
    return sums if sums.of_cgroup else None


def _figures(parts: Sequence[_Part]) -> Figures:
    sums, source = _choose(parts)
    throttled = [count for part in parts for tally in part.counted for count in tally.throttled]
    rounds = [(part.result, tally) for part in parts for tally in part.rounds]
    walls = [wall for result, tally in rounds if result == "wall_us" for wall in tally.walls]
    values = dict(zip(COUNTERS, sums.values, strict=True)) if sums else {}
    details = added_up(tally.details for _, tally in rounds)
    return Figures(
        wall_us=summarise(walls),
        measures=details.measures,
        facts=details.facts,
        servers=details.servers,
        rounds=sum(tally.count for _, tally in rounds),
        timed_us=_timed_us(parts),
        rounds_counted=len(throttled),
        rounds_throttled=sum(count > 0 for count in throttled) if throttled else None,
        window_us=sums.window_us if sums else None,
        **{name: values.get(name) for name in COUNTERS},
        avg_cpu_milli=_milli(values.get("usage_us"), sums.window_us if sums else 0),
        last_reports_milli=_last_reports(parts),
        counters_from=source,
    )


def _timed_us(parts: Sequence[_Part]) -> int | None:
    """Where the requests of the rounds are the result, us; None elsewhere."""
    spans = [
        max((sum(tally.walls) for tally in part.rounds), default=0)
        for part in parts
        if part.result == "request_us"
    ]
    return sum(spans) or None


def _last_reports(parts: Sequence[_Part]) -> int | None:
    """The mean over the repeats that have any, in thousandths of a CPU."""
    found = [part.last_reports for part in parts if part.result == "cpu"]
    known = [cpus for cpus in found if cpus is not None]
    return int(sum(known) * 1000 / len(known) + Fraction(1, 2)) if known else None


def _choose(parts: Sequence[_Part]) -> tuple[Sums | None, Source | None]:
    """From outside where every part has that, else over the rounds; never a mixture."""
    pairs = [(part.outside, part.inside) for part in parts]
    measured = [pair for pair in pairs if pair != (None, None)]
    outside = [sums for sums, _ in measured if sums]
    rounds = [sums for _, sums in measured if sums]
    if outside and (len(outside) == len(measured) or len(rounds) < len(measured)):
        return add_up(outside), "outside"
    return (add_up(rounds), "rounds") if rounds else (None, None)


def _milli(usage_us: int | None, window_us: int) -> int | None:
    if usage_us is None or window_us <= 0:
        return None
    return (usage_us * 1000 + window_us // 2) // window_us
