"""Published figures beside those of one's own latest run: tables in which every row says
over what it was taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from experiments_app.archive.arms import counted_of
from experiments_app.catalogue import Figure, Published
from experiments_app.core.spec import Spec
from experiments_app.core.spec_model import Arm, Group
from experiments_app.core.units import units_of
from experiments_app.web.figure_names import NAMES, ORDER, Value, placed, written

_TABLES = (
    ("walls", "Wall of a round", "from the release of its work to the end of the last part of it"),
    ("work", "Latency of a request", "counted from when it was to be sent"),
    ("ping", "Latency of an empty request", "it waits for what every request waits for"),
    ("request", "Time of a request", "from its start to its end, paused or not"),
    ("counters", "Counters", "a ratio of periods is no share of time"),
    ("facts", "What the program saw", ""),
    ("units", "Container by container", "whole pods, and the containers in them"),
    ("levels", "Above and beside them", "levels of the tree that no arm sets"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """Figures of one arm (or a part `of` it) from one place, with the window of all of them.

    `values` by column (see figure_names); `extra` is what stands under a value in small.
    """

    table: str
    arm: str
    of: str
    who: str
    published: bool
    window: str
    values: dict[str, Value]
    extra: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure as it is written; a dash has no extra."""

    title: str
    text: str
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table. `first` is the arm's first line there, which has its name.

    `window` is empty where the table says it for all published rows.
    """

    arm: str
    first: bool
    of: str
    who: str
    published: bool
    window: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The figures of one kind, all arms under the same columns.

    `window` is that of all published rows, where they share one: it is then said once, and
    `windows` tells whether rows have others.
    """

    key: str
    title: str
    note: str
    parts: bool
    window: str
    windows: bool
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def published_sources(source: Published | None, spec: Spec) -> list[Source]:
    """Every published figure of an experiment, gathered to rows."""
    found: list[Source] = []
    if source is None:
        return found
    for arm in spec.arms:
        for row in _of_arm(arm.name, source.figures(arm.name)):
            if row.table == "counters" and no_limit(arm):
                row.values.update(dict.fromkeys(limited_names(row.values), "no limit"))
            found.append(row)
    return found


def no_limit(arm: Arm) -> bool:
    """Whether what an arm's counters are of has no limit: those of periods then say nothing."""
    counted = counted_of(arm.groups, arm.measured)
    return all(c.limit_milli is None for c in counted.containers)


def limited_names(values: Mapping[str, object]) -> list[str]:
    """The counters that only a limit has."""
    return [name for name in values if name.startswith(("nr_", "throttled_"))]


def _of_arm(arm: str, figures: Iterable[Figure]) -> list[Source]:
    rows: dict[tuple[str, str, int | None], Source] = {}
    for figure in figures:
        table, column, value = placed(figure.scope, figure.name, figure.value)
        # Single values beside a median are small print of the median.
        single = figure.scope == "run" and figure.repeat is not None
        repeat = None if single else figure.repeat
        who = "published" if repeat is None else f"published, repeat {repeat}"
        key = (table, figure.of, repeat)
        row = rows.setdefault(key, Source(table, arm, figure.of, who, True, figure.window, {}))
        if not single:
            row.values[column] = value
            continue
        before = row.extra.get(column)
        text = written(column, value)
        row.extra[column] = f"{before}, {text}" if before else f"in each repeat {text}"
    return list(rows.values())


def tables(spec: Spec, sources: Sequence[Source]) -> list[Table]:
    """The tables that have anything to show, arms in the order of the experiment."""
    found = []
    for key, title, note in _TABLES:
        mine = [source for source in sources if source.table == key]
        columns = _columns(mine)
        if not columns:
            continue
        window = _shared_window(mine)
        rows = tuple(_rows(spec, mine, columns, window))
        found.append(
            Table(
                key=key,
                title=title,
                note=note,
                parts=any(row.of for row in rows),
                window=window,
                windows=any(row.window for row in rows),
                columns=tuple(_title(c) for c in columns),
                rows=rows,
            )
        )
    return found


def _columns(sources: list[Source]) -> list[str]:
    """What was published, where anything was; else all there is. Shares stand for a weight."""
    published = [source for source in sources if source.published]
    found = {column for source in published or sources for column in source.values}
    if found & {"weight", "cpu_weight"} and any("shares" in source.values for source in sources):
        found.add("shares")
    if "weight" in found:
        found.discard("cpu_weight")
    return sorted(found, key=lambda column: ORDER.get(column, len(ORDER)))


def _shared_window(sources: list[Source]) -> str:
    windows = {source.window for source in sources if source.published}
    return windows.pop() if len(windows) == 1 else ""


def _title(column: str) -> str:
    return NAMES[column].title if column in NAMES else column.replace("_", " ")


def _rows(spec: Spec, sources: list[Source], columns: list[str], window: str) -> Iterator[Row]:
    for arm in spec.arms:
        mine = [source for source in sources if source.arm == arm.name]
        named = [unit for group in arm.groups for unit in _unit_names(group)]
        parts = list(dict.fromkeys([*named, *(source.of for source in mine)]))
        # Published and own of the same part stand under each other.
        ordered = sorted(mine, key=lambda source: (parts.index(source.of), not source.published))
        for place, source in enumerate(ordered):
            cells = tuple(
                Cell(_title(c), written(c, source.values.get(c)), source.extra.get(c, ""))
                for c in columns
            )
            yield Row(
                arm=arm.label or arm.name,
                first=place == 0,
                of=source.of,
                who=source.who,
                published=source.published,
                window="" if source.published and window else source.window,
                cells=cells,
            )


def _unit_names(group: Group) -> list[str]:
    containers = tuple(container.name for container in group.containers)
    return [unit.name for unit in units_of(group.name, group.replicas, containers)]
