"""What cpu.stat says, for cgroup v1 and v2, and the difference of two readings.

A counter that is missing, doubled, cut off or garbled is None, never 0, and is listed in
`problems`. All times are integer microseconds; v1 counts nanoseconds and is rounded down,
which keeps a counter monotone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Literal

from experiments_app.core.records import Counters, Limits, Sample

Version = Literal[1, 2]
ProblemKind = Literal["doubled", "truncated", "garbled", "overflow"]
MAX_U64 = 2**64 - 1
MAX_SHOWN = 80

_V2_KEYS = {
    "usage_usec": "usage_us",
    "user_usec": "user_us",
    "system_usec": "system_us",
    "nr_periods": "nr_periods",
    "nr_throttled": "nr_throttled",
    "throttled_usec": "throttled_us",
    "nr_bursts": "nr_bursts",
    "burst_usec": "burst_us",
}
_V1_KEYS = {
    "nr_periods": "nr_periods",
    "nr_throttled": "nr_throttled",
    "throttled_time": "throttled_us",
    "nr_bursts": "nr_bursts",
    "burst_time": "burst_us",
}
_V1_NANOSECONDS = frozenset({"throttled_us", "burst_us"})
_USAGE = ("usage_us",)
_BANDWIDTH = ("nr_periods", "nr_throttled", "throttled_us", "nr_bursts", "burst_us")


@dataclass(frozen=True, slots=True)
class StatProblem:
    """Why a counter could not be taken from the text; key and line as read, cut at 80."""

    kind: ProblemKind
    key: str
    line: str


@dataclass(frozen=True, slots=True)
class CpuStat:
    """Counters of one cgroup as read; None where the kernel did not say.

    Absent bandwidth counters mean "no limit here" or "cpu not enabled", never 0 throttles.
    """

    version: Version
    usage_us: int | None = None
    user_us: int | None = None
    system_us: int | None = None
    nr_periods: int | None = None
    nr_throttled: int | None = None
    throttled_us: int | None = None
    nr_bursts: int | None = None
    burst_us: int | None = None
    problems: tuple[StatProblem, ...] = ()

    def with_usage(self, usage: Usage) -> CpuStat:
        """The same counters with the usage that v1 keeps in another controller."""
        problems = self.problems + usage.problems
        return replace(self, usage_us=usage.usage_us, problems=problems)


@dataclass(frozen=True, slots=True)
class Usage:
    """cpuacct.usage in microseconds."""

    usage_us: int | None
    problems: tuple[StatProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class FileGone:
    """A cgroup file that vanished before or in the middle of a read."""

    path: str
    reason: str = ""


def parse_cpu_stat(text: str, version: Version) -> CpuStat:
    """Parse a whole cpu.stat. Never raises: what cannot be trusted is None and a problem.

    The text must be as read: a last line without its newline was cut off in the middle, and
    its number may be a part of the real one.
    """
    keys = _V2_KEYS if version == 2 else _V1_KEYS
    values: dict[str, int | None] = {}
    problems: list[StatProblem] = []
    for line, whole in _lines(text):
        key, _, rest = line.partition(" ")
        name = keys.get(key)
        if not whole:
            problems.append(_problem("truncated", key, line))
        if name is None:
            if whole and not _looks_like_counter(line):
                problems.append(_problem("garbled", key, line))
            continue
        if name in values:
            problems.append(_problem("doubled", key, line))
            values[name] = None
            continue
        number = _number(rest)
        if whole and isinstance(number, str):
            problems.append(_problem(number, key, line))
        usable = number if whole and isinstance(number, int) else None
        if usable is not None and version == 1 and name in _V1_NANOSECONDS:
            usable //= 1000
        values[name] = usable
    return CpuStat(version=version, problems=tuple(problems), **values)


def parse_cpuacct_usage(text: str) -> Usage:
    """Parse v1's cpuacct.usage (nanoseconds) into microseconds. Never raises."""
    line = text.removesuffix("\n")
    if line == text:
        return Usage(None, (_problem("truncated", "cpuacct.usage", line),))
    number = _number(line)
    if isinstance(number, str):
        return Usage(None, (_problem(number, "cpuacct.usage", line),))
    return Usage(number // 1000)


@dataclass(frozen=True, slots=True)
class Reading:
    """One cgroup at one monotonic instant (us of the machine that read it).

    `generation` tells a cgroup from another one of the same path (its inode), None when it
    is not known.
    """

    mono_us: int
    stat: CpuStat
    generation: int | None = None
    limits: Limits | None = None
    weight: int | None = None

    def sample(self) -> Sample:
        """The raw counters, as they are streamed and stored."""
        s = self.stat
        return Sample(self.mono_us, s.usage_us, s.nr_periods, s.nr_throttled, s.throttled_us)


def delta(a: Reading, b: Reading) -> Counters:
    """What the counters gained from `a` to `b`, two readings of one cgroup.

    A field absent in either is None. A smaller value than before means that the counters
    started anew: every counter kept in the same file is None too, since its gain cannot be
    known (v1 keeps usage in another controller, which can be reset by itself; it is trusted
    only where the generation is known to be the same). Another generation: all None.
    Raises ValueError when `b` was taken before `a`.
    """
    window_us = b.mono_us - a.mono_us
    if window_us < 0:
        raise ValueError(f"readings in the wrong order: {a.mono_us} us, then {b.mono_us} us")
    known = a.generation is not None and b.generation is not None
    if known and a.generation != b.generation:
        return Counters(window_us)
    apart = known and a.stat.version == 1 and b.stat.version == 1
    sources = (_USAGE, _BANDWIDTH) if apart else (_USAGE + _BANDWIDTH,)
    gains: dict[str, int | None] = {}
    for names in sources:
        found = {name: _gain(a.stat, b.stat, name) for name in names}
        reset = any(gain is not None and gain < 0 for gain in found.values())
        gains |= dict.fromkeys(names) if reset else found
    return Counters(window_us, **gains)


def throttled_bound_us(window_us: int, cpus: int, usage_us: int) -> int:
    """The most that throttled time (us, summed over CPUs) can grow in a window.

    A CPU either runs the group or may count its pause: throttled <= window * CPUs - usage.
    """
    return max(0, window_us * cpus - usage_us)


def within_throttled_bound(counters: Counters, cpus: int, slack_us: int = 0) -> bool | None:
    """Whether throttled time keeps its bound; None when it or the usage is not known.

    `slack_us` allows for what is booked late: a pause is booked when it ends, so the window
    may hold the end of one that began before it.
    """
    if counters.throttled_us is None or counters.usage_us is None:
        return None
    bound = throttled_bound_us(counters.window_us, cpus, counters.usage_us)
    return counters.throttled_us <= bound + slack_us


def add_counters(parts: Iterable[Counters]) -> Counters:
    """The sum over adjoining windows; a field unknown in one part is unknown in the sum."""
    total: Counters | None = None
    for part in parts:
        total = part if total is None else _plus(total, part)
    return total if total is not None else Counters(0)


def _plus(a: Counters, b: Counters) -> Counters:
    sums: dict[str, int | None] = {}
    for name in (f.name for f in fields(Counters) if f.name != "window_us"):
        left, right = getattr(a, name), getattr(b, name)
        sums[name] = None if left is None or right is None else left + right
    return Counters(a.window_us + b.window_us, **sums)


def _problem(kind: ProblemKind, key: str, line: str) -> StatProblem:
    return StatProblem(kind, key[:MAX_SHOWN], line[:MAX_SHOWN])


def _gain(a: CpuStat, b: CpuStat, name: str) -> int | None:
    before: int | None = getattr(a, name)
    after: int | None = getattr(b, name)
    return None if before is None or after is None else after - before


def _lines(text: str) -> Iterable[tuple[str, bool]]:
    """Non-empty lines, each with whether its newline was there."""
    *whole, last = text.split("\n")
    for line in whole:
        if line.strip():
            yield line, True
    if last:
        yield last, False


def _number(text: str) -> int | ProblemKind:
    digits = text.strip(" \t\r")
    if not (digits.isascii() and digits.isdigit()):
        return "garbled"
    # The length first: turning a long run of digits into a number is not free.
    if len(digits.lstrip("0")) > 20 or int(digits) > MAX_U64:
        return "overflow"
    return int(digits)


def _looks_like_counter(line: str) -> bool:
    words = line.split()
    return len(words) == 2 and words[1].removeprefix("-").isdigit()
