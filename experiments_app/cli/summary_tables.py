"""A finished run as tables: one for each thing that its arms are judged by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from experiments_app.archive.arms import ArmGroups, planned_groups
from experiments_app.archive.notes import warnings_of
from experiments_app.archive.shares import UnitCpu, unit_cpus
from experiments_app.archive.summary import ArmSummary, Figures, arm_summaries
from experiments_app.cli.text import NOT_MEASURED, count, cpu_time, cpus, latency, time_text
from experiments_app.core.plan import Plan, PlannedArm
from experiments_app.core.workloads import Result
from experiments_app.models import Repeat, Run, RunStatus

COUNTED = ("throttled\nperiods", "throttled\ntime", "CPU\nused")
WALLS = ("wall\np50", "wall\np95", "wall\nmax", *COUNTED)
LATENCIES = ("n", "p50", "p90", "p99", "p99.9", "max", "errors", "ping\np99", *COUNTED)
CPUS = ("CPUs, last\nreports", "weight", *COUNTED)
SHARES = ("CPUs, last\nreports", "share of\none CPU", "weight", *COUNTED)
FACTS = ("GOMAXPROCS", "NumCPU", "cpu.max", "weight", "build")

Arm = tuple[PlannedArm, ArmGroups, ArmSummary]


def print_summary(run: Run) -> None:
    """Each arm's results and counters with units, then how the run ended."""
    console = Console()
    groups = planned_groups(run.plan)
    arms = list(zip(Plan.from_dict(run.plan).arms, groups, arm_summaries(run), strict=True))
    measured, warnings = Measured(run), warnings_of(run)
    title: str | None = f"run {run.number}: {run.title} on {run.target}"
    for kind in dict.fromkeys(_kind(group.result) for group in groups):
        alike = [arm for arm in arms if _kind(arm[1].result) == kind]
        console.print(_TABLES[kind](title, alike, measured))
        for line in _warnings(alike, warnings):
            console.print(line, style="yellow", highlight=False, markup=False)
        title = None
    _print_end(console, run, [group.result for group in groups])


def _warnings(arms: Sequence[Arm], warnings: Mapping[int, list[str]]) -> Iterator[str]:
    """What a reader of the arms' figures must know, a line each."""
    for _, _, arm in arms:
        for repeat in arm.repeats:
            where = f"{arm.label}, repeat {repeat.n}" if len(arm.repeats) > 1 else arm.label
            for text in warnings.get(repeat.id, ()):
                yield f"  {where}: warning: {text}"


class Measured:
    """What the programs and the kernel said in the first repeat of each arm that has it."""

    def __init__(self, run: Run) -> None:
        self._programs: dict[int, Mapping[str, Any]] = {}
        self._trees: dict[int, Mapping[str, Any]] = {}
        rows = Repeat.objects.filter(run_id=run.pk).order_by("order")
        for arm, programs, tree in rows.values_list("arm", "programs", "tree"):
            if programs:
                self._programs.setdefault(arm, programs)
            if tree:
                self._trees.setdefault(arm, {entry["group"]: entry["levels"] for entry in tree})

    def program(self, arm: int, unit: str) -> Mapping[str, Any]:
        """What the unit's program said of itself; empty where it said nothing."""
        found: Mapping[str, Any] = self._programs.get(arm, {}).get(unit, {})
        program: Mapping[str, Any] = found.get("program", {})
        return program

    def level(self, arm: int, unit: str) -> Mapping[str, Any]:
        """The unit's own cgroup as the kernel had it; empty where that was not read."""
        levels = self._trees.get(arm, {}).get(unit, [])
        last: Mapping[str, Any] = levels[-1] if levels else {}
        return last


def _kind(result: Result | None) -> str:
    if result is None:
        return "facts"
    return result if result in ("wall_us", "cpu") else "latencies"


def _table(title: str | None, names: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column("arm")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _walls(title: str | None, arms: Sequence[Arm], _: Measured) -> Table:
    table = _table(title, WALLS)
    for planned, groups, arm in arms:
        walls = arm.summary.wall_us
        shown = (time_text(value) for value in (walls.p50, walls.p95, walls.max))
        table.add_row(arm.label, *shown, *_counted(planned, groups, arm.summary))
    return table


def _latencies(title: str | None, arms: Sequence[Arm], _: Measured) -> Table:
    table = _table(title, LATENCIES)
    for planned, groups, arm in arms:
        figures = arm.summary
        found = figures.measures.get(str(groups.result))
        cells = [NOT_MEASURED] * 7
        if found is not None:
            values = (found.p50, found.p90, found.p99, found.p999, found.max)
            failed = ", ".join(f"{number} {kind}" for kind, number in found.errors.items())
            cells = [count(found.n), *map(latency, values), failed or "0"]
        ping = figures.measures.get("ping_us")
        cells.append(latency(ping.p99 if ping else None))
        table.add_row(arm.label, *cells, *_counted(planned, groups, figures))
    return table


def _shares(title: str | None, arms: Sequence[Arm], measured: Measured) -> Table:
    """A line for each unit that was given work; a share only where one CPU is all there is."""
    got = [unit_cpus(planned, arm) for planned, _, arm in arms]
    shares = any(found.of_one_cpu for units in got for found in units.values())
    table = _table(title, SHARES if shares else CPUS)
    for (planned, groups, arm), found in zip(arms, got, strict=True):
        units = _unit_figures(groups, arm)
        for name, figures in units.items():
            share = (_share(found[name]),) if shares else ()
            weight = _weight(measured.level(arm.index, name))
            label = arm.label if len(units) == 1 else f"{arm.label}: {name}"
            counted = _counted(planned, groups, figures, unit=name)
            table.add_row(label, cpus(found[name].milli), *share, weight, *counted)
    return table


def _share(found: UnitCpu) -> str:
    if not found.of_one_cpu:
        return "not pinned"
    return NOT_MEASURED if found.milli is None else f"{found.milli / 1000:.1%}"


def _unit_figures(groups: ArmGroups, arm: ArmSummary) -> dict[str, Figures]:
    """Of every spinning unit, by name, in the first repeat that is done (else the first)."""
    done = [repeat for repeat in arm.repeats if repeat.state == "done"] or list(arm.repeats)
    figures = {group.name: group.summary for group in done[0].groups} if done else {}
    return {
        name: figures[name]
        for name in groups.names
        if groups.own.get(name) == "cpu" and name in figures
    }


def _facts(title: str | None, arms: Sequence[Arm], measured: Measured) -> Table:
    table = _table(title, FACTS)
    for _, groups, arm in arms:
        for name in groups.names:
            if name not in groups.own:
                continue
            program, level = measured.program(arm.index, name), measured.level(arm.index, name)
            table.add_row(
                arm.label if len(groups.own) == 1 else f"{arm.label}: {name}",
                _said(program.get("gomaxprocs")),
                _said(program.get("num_cpu")),
                _cpu_max(level),
                _weight(level),
                _said(program.get("build")),
            )
    return table


def _said(value: Any) -> str:
    return NOT_MEASURED if value is None else f"{value}"


def _cpu_max(level: Mapping[str, Any]) -> str:
    """As cpu.max writes it, whatever the kernel's version."""
    if level.get("period_us") is None:
        return NOT_MEASURED
    return f"{'max' if level['quota_us'] is None else level['quota_us']} {level['period_us']}"


def _weight(level: Mapping[str, Any]) -> str:
    if level.get("weight") is not None:
        return f"{level['weight']}"
    return NOT_MEASURED if level.get("shares") is None else f"{level['shares']} shares"


def _counted(
    planned: PlannedArm, groups: ArmGroups, figures: Figures, *, unit: str | None = None
) -> Iterator[str]:
    """Throttled periods and time, CPU used. Without a limit the kernel counts no periods: its
    zeros would say "never throttled"."""
    limited = _limited(planned, groups.counted_rounds if unit is None else (unit,))
    yield f"{count(figures.nr_throttled)} of {count(figures.nr_periods)}" if limited else "no limit"
    yield cpu_time(figures.throttled_us) if limited else "no limit"
    yield cpu_time(figures.usage_us)


def _limited(planned: PlannedArm, names: Sequence[str]) -> bool:
    """Whether any of these units has a limit."""
    return any(
        container.limits.quota_us is not None
        for group in planned.groups
        for unit in group.units
        if unit.name in names
        for container in group.containers
        if container.name == unit.container
    )


def _print_end(console: Console, run: Run, results: Sequence[Result | None]) -> None:
    partly = run.status == RunStatus.FINISHED and run.failed_repeats
    state = "finished with failures" if partly else run.status
    words = f"{run.reason} {run.remedy}".strip()
    already = words.lower().startswith(state)
    console.print(words if already else f"{state}. {words}".strip(), highlight=False)
    if run.status != RunStatus.FINISHED:
        return
    told = [words for result, words in _REMARKS.items() if result in results]
    if {"work_us", "request_us"} & set(results):
        told.append(_OF_LATENCIES)
    throttled = "Throttled time is CPU time paused, summed over CPUs: never a share of time."
    if told:
        console.print(" ".join([throttled, "n/m: not measured.", *told]), style="dim")


_REMARKS: dict[Result, str] = {
    "wall_us": "p95 needs 20 rounds.",
    "work_us": "Latency of a load's request counts from when it was to be sent; failed ones are "
    "not in it.",
    "request_us": "Time of a request made one after the other counts from its own start: waiting "
    "for its turn is not in it.",
    "cpu": "Last reports: the mean CPU of the last three, then over the repeats; counters beside "
    "them are those of the first repeat.",
}
_OF_LATENCIES = "p99 needs 100 requests, p99.9 1,000."
_TABLES = {"wall_us": _walls, "latencies": _latencies, "cpu": _shares, "facts": _facts}
