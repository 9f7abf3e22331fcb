"""Adding up counters: over rounds, over repeats, never over a hole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from experiments_app.archive.details import Details
from experiments_app.core.records import Counters

# Every counter of a record, its window first; and those that add up within a window.
COUNTER_FIELDS = (*Counters.__slots__, "run_delay_us")
COUNTERS = tuple(name for name in COUNTER_FIELDS if name != "window_us")
LAST_REPORTS = 3


@dataclass(frozen=True, slots=True)
class Sums:
    """Counters over one window, in the order of COUNTERS."""

    window_us: int
    values: tuple[int | None, ...]

    @property
    def of_cgroup(self) -> bool:
        """Whether any of the cgroup's own counters was there: all but the run delay."""
        return any(value is not None for value in self.values[:-1])


class Tally:
    """The rounds of one unit of one repeat, as they come from the query."""

    __slots__ = ("count", "details", "reports", "rounds", "throttled", "walls")

    def __init__(self) -> None:
        self.count = 0
        self.walls: list[int] = []
        self.rounds: list[Sums] = []
        self.throttled: list[int] = []
        self.reports: list[tuple[int | None, int | None]] = []
        self.details = Details()

    def add(
        self,
        wall_us: int,
        window_us: int | None,
        values: tuple[int | None, ...],
        *,
        own: tuple[int | None, int | None] = (None, None),
        detail: Mapping[str, Any] | None = None,
    ) -> None:
        """A round: its settled window and counters, window and usage of its `own` reading."""
        self.count += 1
        self.walls.append(wall_us)
        if detail is not None:
            self.details.add(detail)
        if window_us is None:
            self.reports.append(own)
            return
        self.reports.append((window_us, values[COUNTERS.index("usage_us")]))
        if any(value is not None for value in values):
            self.rounds.append(Sums(window_us, values))
        # By paused time, not by the count: with a quota of all CPUs the kernel counts periods
        # that lost next to nothing.
        paused_us = values[COUNTERS.index("throttled_us")]
        if paused_us is not None:
            self.throttled.append(paused_us)

    @property
    def last_reports(self) -> Fraction | None:
        """Mean CPU (in CPUs) of the last three rounds; None where one of them has no usage."""
        window_us = used_us = 0
        for window, usage in self.reports[-LAST_REPORTS:]:
            if window is None or usage is None:
                return None
            window_us += window
            used_us += usage
        return Fraction(used_us, window_us) if window_us > 0 else None

    @property
    def sums(self) -> Sums | None:
        """Over the settled rounds.

        A round whose cgroup counters were reset or unreadable is left out together with its
        window; where no round has any, what else was measured is summed.
        """
        return add_up([part for part in self.rounds if part.of_cgroup] or self.rounds)


def add_up(parts: Sequence[Sums]) -> Sums | None:
    """The sum of windows and counters; a counter that a part has not is None."""
    if not parts:
        return None
    columns = zip(*(part.values for part in parts), strict=True)
    return Sums(sum(part.window_us for part in parts), tuple(_sum(column) for column in columns))


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def side_by_side(parts: Iterable[Sums | None]) -> Sums | None:
    """Counters of units that were measured at the same time: their window counts once.

    It is the longest of theirs. None where a unit was not measured at all.
    """
    found = list(parts)
    known = [part for part in found if part is not None]
    whole = add_up(known) if len(known) == len(found) else None
    return Sums(max(part.window_us for part in known), whole.values) if whole else None
