"""The sampler's stream: raw counters in small batches, and the totals of the repeat."""

from __future__ import annotations

from collections import deque

from experiments_app.core.cpustat import Reading, Version, delta
from experiments_app.core.records import (
    Counters,
    GroupTotals,
    Note,
    Sample,
    Samples,
    Sink,
)
from experiments_app.targets.local.translate import (
    BadLine,
    Line,
    Sequence,
    local_pauses,
    optional,
    readings,
)

_BATCH_US = 40_000
_BATCH = 3
_RECENT = 50
_RECENT_S = 2


class SampleFeed:
    """Takes the sampler's lines and hands on every sample exactly once, in order.

    The totals are the last sample less the first, of those that were handed on: so the
    differences of the samples add up to them. `count_from` moves their beginning.
    """

    def __init__(
        self, sink: Sink, *, version: Version, hz: int, generations: dict[str, int]
    ) -> None:
        self._sink = sink
        self._version = version
        self._generations = generations
        self._size = max(_BATCH, hz * _BATCH_US // 1_000_000)
        self._batches: dict[str, list[Sample]] = {name: [] for name in generations}
        self.first: dict[str, Reading] = {}
        self.last: dict[str, Reading] = {}
        # The instant to count from may be told when later samples are here already.
        self._recent: dict[str, deque[Reading]] = {
            name: deque(maxlen=max(_RECENT, hz * _RECENT_S)) for name in generations
        }
        self._from_us: int | None = None
        self._base: dict[str, Reading] = {}
        self._paused_first: dict[str, int] = {}
        self._paused_last: dict[str, int] = {}
        self.gone: dict[str, str] = {}
        self.sequence = Sequence("the sampler")
        self.lines = 0
        self.missed = 0
        self.garbled = 0

    @property
    def complete(self) -> bool:
        """Whether there is a first sample of every group."""
        return self.first.keys() == self._generations.keys()

    @property
    def latest_us(self) -> int:
        """The instant up to which every group is sampled; 0 before the first."""
        return min((r.mono_us for r in self.last.values()), default=0) if self.complete else 0

    def take(self, raw: bytes) -> None:
        line = self.sequence.take(raw)
        if line is not None:
            try:
                self._dispatch(line)
            except BadLine as error:
                self.sequence.reject(raw, error)
        for text in self.sequence.drain():
            self._sink(Note(text, "warning"))

    def _dispatch(self, line: Line) -> None:
        match line["type"]:
            case "samples":
                self.lines += 1
                self.missed += optional(line, "missed") or 0
                for name, reading in readings(line, self._version, self._generations):
                    self.garbled += reading.stat.usage_us is None
                    if name in self._generations:
                        self._keep(name, reading)
                self._paused_last |= (paused := local_pauses(line))
                self._paused_first = paused | self._paused_first
            case "gone":
                self.gone[str(line.get("g"))] = str(line.get("reason") or "")

    def _keep(self, name: str, reading: Reading) -> None:
        last = self.last.get(name)
        if last is not None and reading.mono_us <= last.mono_us:
            raise BadLine("its time is not after the one before")
        self.first.setdefault(name, reading)
        self.last[name] = reading
        self._recent[name].append(reading)
        if self._from_us is not None and reading.mono_us >= self._from_us:
            self._base.setdefault(name, reading)
        batch = self._batches[name]
        batch.append(reading.sample())
        if len(batch) >= self._size:
            self._hand_on(name)

    def count_from(self, mono_us: int) -> None:
        """Totals begin at the first sample at or after this instant, of several the last."""
        if self._from_us is not None and mono_us <= self._from_us:
            return
        self._from_us = mono_us
        self._base = {
            name: reading
            for name, recent in self._recent.items()
            if (reading := next((r for r in recent if r.mono_us >= mono_us), None)) is not None
        }

    def due_us(self, now_us: int) -> int:
        """How long the oldest unsent sample may still wait."""
        oldest = min((b[0].mono_us for b in self._batches.values() if b), default=now_us)
        return max(0, oldest + _BATCH_US - now_us)

    def flush(self, now_us: int | None = None) -> None:
        """Hand on what is due at `now_us`; everything when no time is given."""
        for name, batch in self._batches.items():
            if batch and (now_us is None or now_us - batch[0].mono_us >= _BATCH_US):
                self._hand_on(name)

    def _hand_on(self, name: str) -> None:
        batch, self._batches[name] = self._batches[name], []
        self._sink(Samples(name, tuple(batch)))

    def totals(self, run_delays: dict[str, int | None]) -> tuple[GroupTotals, ...]:
        return tuple(
            GroupTotals(name, self._total(name), run_delays.get(name)) for name in self._generations
        )

    def _total(self, name: str) -> Counters:
        return delta(self._base.get(name, self.first[name]), self.last[name])

    def paused_from_above(self) -> dict[str, int]:
        """Groups whose own pause stayed flat while something above paused them, and how long.

        us, summed over CPUs; over everything that was sampled.
        """
        found: dict[str, int] = {}
        for name, last_us in self._paused_last.items():
            paused_us = last_us - self._paused_first[name]
            if name in self.first and paused_us > 0:
                own = delta(self.first[name], self.last[name]).throttled_us
                if not own:
                    found[name] = paused_us
        return found

    def report(self) -> None:
        """Say what was not sampled, when something was not."""
        if self.missed:
            wanted = self.missed + self.lines
            level = "warning" if self.missed * 100 > wanted else "info"
            text = f"The sampler missed {self.missed} of {wanted} readings: the machine was busy."
            self._sink(Note(text, level))
        if self.garbled:
            text = f"{self.garbled} readings of counters were incomplete; they are left out."
            self._sink(Note(text, "warning"))
        if self.sequence.bad > 1:
            text = f"{self.sequence.bad} lines of the sampler could not be used."
            self._sink(Note(text, "warning"))
