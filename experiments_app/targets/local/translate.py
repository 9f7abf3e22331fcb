"""cpulab's lines (NDJSON) as the records of a run."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from experiments_app.core.cpustat import CpuStat, Reading, Version
from experiments_app.core.latencies import BadHistogram, decode
from experiments_app.core.records import Answers, Counters, Hello, Measure, Round, RoundSettled

_COUNTERS = ("usage_us", "nr_periods", "nr_throttled", "throttled_us", "nr_bursts", "burst_us")
_ENVELOPE = frozenset({"n", "type", "mono_us", "unix_us"})

_MEASURE = re.compile(r"[a-z][a-z0-9_]{0,40}_us")
_MEASURE_KEYS = frozenset({"n", "max", "errors", "hdr"})

Line = dict[str, object]


class BadLine(ValueError):
    """A line that is not what the protocol says; the text says why."""


def parse_line(raw: bytes) -> Line:
    """One line as an object with a known shape of envelope. Raises BadLine."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadLine("it is not JSON") from error
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise BadLine("it is not an object with a type")
    return value


def integer(line: Line, key: str) -> int:
    """A field that must be there. Raises BadLine."""
    value = optional(line, key)
    if value is None:
        raise BadLine(f"{key} is missing")
    return value


def optional(line: Line, key: str) -> int | None:
    """A field that may be absent or null. Raises BadLine when it is something else."""
    value = line.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadLine(f"{key} is not a whole number")
    return value


def count(line: Line, key: str) -> int:
    """A whole number that must be there and not below 0. Raises BadLine."""
    value = integer(line, key)
    if value < 0:
        raise BadLine(f"{key} is below 0")
    return value


def text(line: Line, key: str) -> str:
    """A text that must be there. Raises BadLine."""
    value = line.get(key)
    if not isinstance(value, str):
        raise BadLine(f"{key} is no text")
    return value


def hello(group: str, line: Line, unix_us: int) -> Hello:
    """`unix_us` stands in where the line has no wall clock of its own."""
    own = optional(line, "unix_us")
    program = {key: value for key, value in line.items() if key not in _ENVELOPE}
    return Hello(group, integer(line, "mono_us"), own if own is not None else unix_us, program)


def round_(group: str, line: Line) -> Round:
    return Round(
        group=group,
        n=integer(line, "round"),
        start_us=integer(line, "start_us"),
        wall_us=integer(line, "wall_us"),
        counters=counters(line),
        run_delay_us=optional(line, "run_delay_us"),
        late_us=optional(line, "late_us"),
        measures=measures(line),
        facts=_facts(line),
        servers=_servers(line),
    )


def measures(line: Line) -> tuple[Measure, ...]:
    """The latencies of a line, by name; none where it has none. Raises BadLine."""
    return tuple(
        _measure(name, entry)
        for found in _objects(line, "measures")
        for name, entry in found.items()
    )


def _measure(name: str, entry: object) -> Measure:
    if not _MEASURE.fullmatch(name):
        raise BadLine(f"{name[:50]!r} is no name of a measure")
    if not isinstance(entry, dict) or entry.keys() != _MEASURE_KEYS:
        raise BadLine(f"{name} is not n, max, errors and hdr")
    errors = next(iter(_objects(entry, "errors")), {})
    histogram, n, largest = text(entry, "hdr"), count(entry, "n"), optional(entry, "max")
    try:
        total = sum(times for _, times in decode(histogram))
    except BadHistogram as error:
        raise BadLine(f"the histogram of {name}: {error}") from error
    if total != n or (largest is None) != (n == 0):
        raise BadLine(f"{name} says n = {n}, max = {largest}, but its histogram has {total}")
    return Measure(name, histogram, largest, {kind: count(errors, kind) for kind in errors})


def _facts(line: Line) -> dict[str, int]:
    """Whole numbers by name; null was not measured and is left out."""
    facts = next(iter(_objects(line, "facts")), {})
    return {key: count(facts, key) for key, value in facts.items() if value is not None}


def _servers(line: Line) -> dict[str, Answers]:
    found = {}
    for servers in _objects(line, "servers"):
        for name in servers:
            for entry in _objects(servers, name):
                found[name] = Answers(count(entry, "responses"), count(entry, "connections"))
    return found


def _objects(line: Line, key: str) -> tuple[Line, ...]:
    """The object under a key, none when it is absent or null. Raises BadLine."""
    value = line.get(key)
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise BadLine(f"{key} is not an object")
    return (value,)


def settled(group: str, line: Line) -> RoundSettled:
    return RoundSettled(
        group=group,
        n=integer(line, "round"),
        counters=counters(line),
        run_delay_us=optional(line, "run_delay_us"),
    )


def counters(line: Line) -> Counters:
    found = {key: optional(line, key) for key in _COUNTERS}
    return Counters(window_us=integer(line, "window_us"), **found)


def readings(
    line: Line, version: Version, generations: dict[str, int]
) -> tuple[tuple[str, Reading], ...]:
    """A samples line as one reading a group. Raises BadLine."""
    t_us, groups = integer(line, "t_us"), line.get("groups")
    if not isinstance(groups, list):
        raise BadLine("groups is not a list")
    found = []
    for entry in groups:
        if not isinstance(entry, dict) or not isinstance(name := entry.get("g"), str):
            raise BadLine("a group has no name")
        found.append((name, Reading(t_us, _stat(entry, version), generations.get(name))))
    return tuple(found)


def local_pauses(line: Line) -> dict[str, int]:
    """From a samples line, by group: how long its tasks were paused by whatever limit, us.

    Missing where the kernel does not say (before 6.6). Raises BadLine.
    """
    groups = line.get("groups")
    found = {}
    for entry in groups if isinstance(groups, list) else ():
        if isinstance(entry, dict) and isinstance(name := entry.get("g"), str):
            paused_us = optional(entry, "local_throttled_us")
            if paused_us is not None:
                found[name] = paused_us
    return found


def _stat(entry: Line, version: Version) -> CpuStat:
    return CpuStat(
        version,
        usage_us=optional(entry, "usage_us"),
        nr_periods=optional(entry, "nr_periods"),
        nr_throttled=optional(entry, "nr_throttled"),
        throttled_us=optional(entry, "throttled_us"),
        nr_bursts=optional(entry, "nr_bursts"),
        burst_us=optional(entry, "burst_us"),
    )


@dataclass
class Sequence:
    """Follows the line numbers of one program: says what is missing, drops what came before."""

    who: str
    last: int = 0
    bad: int = 0
    notes: list[str] = field(default_factory=list)
    _unreadable: int = 0  # lines whose number cannot be known: not lost as well

    def take(self, raw: bytes) -> Line | None:
        """The line, or None when it cannot be used; `notes` then says why, once a reason."""
        if not raw.strip():
            return None
        try:
            line = parse_line(raw)
            n = integer(line, "n")
        except BadLine as error:
            self._unreadable += 1
            self.reject(raw, error)
            return None
        if n <= self.last:
            self.notes.append(f"{self.who} sent line {n} again; it is left out.")
            return None
        lost = n - self.last - 1 - self._unreadable
        if lost > 0:
            self.notes.append(f"{lost} lines of {self.who} before line {n} are lost.")
        self.last, self._unreadable = n, 0
        return line

    def reject(self, raw: bytes, error: BadLine) -> None:
        """Count a line that cannot be used; the first is quoted."""
        self.bad += 1
        if self.bad == 1:
            text = raw[:120].decode(errors="replace")
            self.notes.append(f"A line of {self.who} cannot be used, {error}: {text!r}.")

    def drain(self) -> list[str]:
        notes, self.notes = self.notes, []
        return notes
