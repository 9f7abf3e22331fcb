"""Adding up counters: over rounds, over repeats, never over a hole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

COUNTERS = (
    "usage_us",
    "nr_periods",
    "nr_throttled",
    "throttled_us",
    "nr_bursts",
    "burst_us",
    "run_delay_us",
)


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
    """The rounds of one group of one repeat, as they come from the query."""

    __slots__ = ("rounds", "throttled", "walls")

    def __init__(self) -> None:
        self.walls: list[int] = []
        self.rounds: list[Sums] = []
        self.throttled: list[int] = []

    def add(self, wall_us: int, window_us: int | None, values: tuple[int | None, ...]) -> None:
        self.walls.append(wall_us)
        if window_us is None:
            return
        if any(value is not None for value in values):
            self.rounds.append(Sums(window_us, values))
        # By paused time, not by the count: with a quota of all CPUs the kernel counts periods
        # that lost next to nothing.
        paused_us = values[COUNTERS.index("throttled_us")]
        if paused_us is not None:
            self.throttled.append(paused_us)

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
