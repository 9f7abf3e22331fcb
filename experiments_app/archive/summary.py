"""Figures of a run's arms, repeats and groups, from the rows that were measured.

Every figure is an integer (microseconds or a count); None is "not measured", never 0. A sum
is None when one of its parts was not measured: half a sum would pass for a small one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from experiments_app.archive.arms import ArmGroups, planned_groups
from experiments_app.archive.sparks import wall_spark, wall_sparks
from experiments_app.archive.tally import COUNTERS, Sums, Tally, add_up
from experiments_app.core.percentile import Summary, summarise
from experiments_app.models import Repeat, RepeatState, Round, Run

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
    settled counter shows a throttled period, of `rounds_counted` that have this counter.
    `avg_cpu_milli` is usage over window in thousandths of a CPU.
    """

    wall_us: Summary
    rounds: int
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
    counters_from: Source | None


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """One group of one repeat."""

    name: str
    summary: Figures


@dataclass(frozen=True, slots=True)
class RepeatSummary:
    """One repeat: walls of the group that is the result, counters of the measured one."""

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
    """Every arm of a run in the order of its plan; two queries, whatever the run's size."""
    repeats: dict[int, list[Repeat]] = defaultdict(list)
    for repeat in Repeat.objects.filter(run_id=run.pk).order_by("order"):
        repeats[repeat.arm].append(repeat)
    tallies = _tallies(run)
    groups = planned_groups(run.plan)
    return [
        _arm(planned, index, groups[index], repeats[index], tallies)
        for index, planned in enumerate(run.plan["arms"])
    ]


def spark(run: Run) -> list[int | None]:
    """The median wall of every arm, us; None for an arm without rounds."""
    return [arm.summary.wall_us.p50 for arm in arm_summaries(run)]


@dataclass(frozen=True, slots=True)
class _Part:
    """What one repeat gives: rounds of the result, rounds and outside totals of a group."""

    result: Tally
    counted: Tally
    outside: Sums | None


def _tallies(run: Run) -> dict[tuple[int, str], Tally]:
    found: dict[tuple[int, str], Tally] = defaultdict(Tally)
    columns = ("wall_us", "settled_window_us", *(f"settled_{name}" for name in COUNTERS))
    rows = (
        Round.objects.filter(run_id=run.pk)
        .order_by("seq")
        .values_list("repeat_id", "group", *columns)
    )
    for repeat, group, wall_us, window_us, *values in rows.iterator(chunk_size=5000):
        found[repeat, group].add(wall_us, window_us, tuple(values))
    return found


def _arm(
    planned: Mapping[str, Any],
    index: int,
    groups: ArmGroups,
    repeats: Sequence[Repeat],
    tallies: Mapping[tuple[int, str], Tally],
) -> ArmSummary:
    parts = {repeat.pk: _part(repeat, groups.result, groups.counted, tallies) for repeat in repeats}
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
        repeats=tuple(_repeat(repeat, groups, parts[repeat.pk], tallies) for repeat in repeats),
    )


def _repeat(
    repeat: Repeat,
    groups: ArmGroups,
    part: _Part,
    tallies: Mapping[tuple[int, str], Tally],
) -> RepeatSummary:
    extra = {group for known, group in tallies if known == repeat.pk} | set(repeat.totals)
    names = (*groups.names, *sorted(extra - set(groups.names)))
    return RepeatSummary(
        id=repeat.pk,
        order=repeat.order,
        n=repeat.n,
        state=str(repeat.state),
        reason=repeat.reason,
        summary=_figures([part]),
        groups=tuple(
            GroupSummary(name, _figures([_part(repeat, name, name, tallies)])) for name in names
        ),
    )


def _part(
    repeat: Repeat, result: str, counted: str, tallies: Mapping[tuple[int, str], Tally]
) -> _Part:
    nothing = Tally()
    return _Part(
        tallies.get((repeat.pk, result), nothing),
        tallies.get((repeat.pk, counted), nothing),
        _outside(repeat.totals.get(counted)),
    )


def _outside(totals: Mapping[str, Any] | None) -> Sums | None:
    """The totals from outside samples, where they hold any counter of the cgroup."""
    if totals is None or totals.get("window_us") is None:
        return None
    sums = Sums(totals["window_us"], tuple(totals.get(name) for name in COUNTERS))
    return sums if sums.of_cgroup else None


def _figures(parts: Sequence[_Part]) -> Figures:
    sums, source = _choose(parts)
    throttled = [count for part in parts for count in part.counted.throttled]
    walls = [wall for part in parts for wall in part.result.walls]
    values = dict(zip(COUNTERS, sums.values, strict=True)) if sums else {}
    return Figures(
        wall_us=summarise(walls),
        rounds=len(walls),
        rounds_counted=len(throttled),
        rounds_throttled=sum(count > 0 for count in throttled) if throttled else None,
        window_us=sums.window_us if sums else None,
        **{name: values.get(name) for name in COUNTERS},
        avg_cpu_milli=_milli(values.get("usage_us"), sums.window_us if sums else 0),
        counters_from=source,
    )


def _choose(parts: Sequence[_Part]) -> tuple[Sums | None, Source | None]:
    """From outside where every part has that, else over the rounds; never a mixture."""
    pairs = [(part.outside, part.counted.sums) for part in parts]
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
