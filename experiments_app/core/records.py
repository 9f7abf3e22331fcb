"""What a target hands to the run while it measures: the sink's vocabulary.

All times are integer microseconds. `mono_us` values are CLOCK_MONOTONIC of the machine
that measured. A counter that was not there, or was reset in between, is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Counters:
    """Differences of one cgroup's counters over a window.

    `throttled_us` is CPU time paused, summed over CPUs: it can exceed the window and is
    never a share of it.
    """

    window_us: int
    usage_us: int | None = None
    nr_periods: int | None = None
    nr_throttled: int | None = None
    throttled_us: int | None = None
    nr_bursts: int | None = None
    burst_us: int | None = None


@dataclass(frozen=True, slots=True)
class Hello:
    """The workload of a group has started and says what it is."""

    group: str
    mono_us: int
    unix_us: int
    program: dict[str, object]


@dataclass(frozen=True, slots=True)
class Measure:
    """The latencies of one kind of request during a round.

    `histogram` is an HDR histogram of microseconds (V2, base64), without the requests that
    failed; `max_us` is the exact largest, None for no request. `errors` counts the failed by
    kind ("timeout", "refused", ...).
    """

    name: str
    histogram: str
    max_us: int | None
    errors: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answers:
    """What one server had of a load's requests during a round."""

    responses: int
    connections: int


@dataclass(frozen=True, slots=True)
class Round:
    """One measured step; counters over the step itself, before the kernel has settled them.

    `facts` are whole numbers with unit and way of adding up in the name: `_max` keeps the
    largest, everything else is a sum (requests_count, gc_count, heap_bytes_max, cpu_us).
    `servers`: who answered, by name, of a load. `group` is a unit (core.units).
    """

    group: str
    n: int
    start_us: int
    wall_us: int
    counters: Counters
    run_delay_us: int | None = None
    late_us: int | None = None
    measures: tuple[Measure, ...] = ()
    facts: Mapping[str, int] = field(default_factory=dict)
    servers: Mapping[str, Answers] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RoundSettled:
    """The same step's counters read again just before the next one.

    The kernel books a pause only when it ends and one more idle period before its timer
    stops, so the settled counters are the ones that add up.
    """

    group: str
    n: int
    counters: Counters
    run_delay_us: int | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """Raw counter values of one cgroup, read from outside it at one instant."""

    mono_us: int
    usage_us: int | None
    nr_periods: int | None
    nr_throttled: int | None
    throttled_us: int | None


@dataclass(frozen=True, slots=True)
class Samples:
    """A few consecutive samples of one group."""

    group: str
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """The cgroup tree of a group, root first, as the kernel had it after prepare."""

    group: str
    levels: tuple[TreeLevel, ...]


@dataclass(frozen=True, slots=True)
class TreeLevel:
    """One level: its own limit and weight as read; None where the kernel has no such file."""

    path: str
    quota_us: int | None
    period_us: int | None
    burst_us: int | None
    weight: int | None
    shares: int | None


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence for the log of the run. `level` is info, warning or error."""

    text: str
    level: str = "info"


@dataclass(frozen=True, slots=True)
class GroupTotals:
    """Counters of a group over the whole repeat, from the first to the last outside sample."""

    group: str
    counters: Counters
    run_delay_us: int | None = None


@dataclass(frozen=True, slots=True)
class ArmFinished:
    """The measured steps of this repeat are over; totals per group."""

    totals: tuple[GroupTotals, ...]


Record = Hello | Round | RoundSettled | Samples | Tree | Note | ArmFinished


class Sink(Protocol):
    """Takes records in the order in which they happened; thread-safe; may raise Stopped."""

    def __call__(self, record: Record, /) -> None: ...


class StopFlag(Protocol):
    """Long work asks at least once a second whether to stop, and why."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float) -> bool: ...


@dataclass(frozen=True, slots=True)
class Limits:
    """What an arm asks of one cgroup, in the kernel's terms; quota None is no limit."""

    quota_us: int | None
    period_us: int
    burst_us: int = 0
    shares: int | None = None


@dataclass(frozen=True, slots=True)
class Readback:
    """What the kernel has after prepare, beside what the arm asked for."""

    group: str
    asked: Limits
    found: Limits
    effective_quota_us: int | None
    effective_period_us: int | None
    effective_at: str | None
    cpus: int
    notes: tuple[str, ...] = field(default=())
