"""Jobs: work that is done in rounds, each with a wall time of its own."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import model_validator

from experiments_app.core.fields import DurationText, refuse, within
from experiments_app.core.quantity import parse_duration
from experiments_app.core.records import Limits
from experiments_app.core.timing import START_CPU_US
from experiments_app.core.workloads.base import (
    MAX_ROUNDS,
    MAX_THREADS,
    MIN_WORK_US,
    WorkloadBase,
    at_least_us,
    scale_count,
)

MIN_INTERVAL_US = 1_000


class Burst(WorkloadBase):
    """`threads` threads burn `work` of CPU each, every `interval`, `rounds` times.

    `jitter` shifts each round by a random time from 0 up to it, so that rounds meet the
    period at different points.
    """

    kind: Literal["burst"] = "burst"
    threads: Annotated[int, within(1, MAX_THREADS)]
    work: DurationText
    interval: DurationText
    rounds: Annotated[int, within(1, MAX_ROUNDS)]
    jitter: DurationText = "0s"

    @property
    def round_count(self) -> int:
        """How many rounds one repeat has."""
        return self.rounds

    @property
    def work_us(self) -> int:
        """CPU of one thread in one round, us."""
        return parse_duration(self.work)

    @property
    def interval_us(self) -> int:
        """From the start of a round to the start of the next, us."""
        return parse_duration(self.interval)

    @property
    def jitter_us(self) -> int:
        """The most that a round is shifted, us."""
        return parse_duration(self.jitter)

    @property
    def round_cpu_us(self) -> int:
        """CPU of all threads in one round, us."""
        return self.threads * self.work_us

    def wall_us(self, cpus: int | None) -> int:
        """A lower bound for the wall of one round without a limit, us.

        No thread burns its work faster than the clock, and the CPUs (None: not known) share
        the work of all threads.
        """
        if cpus is None:
            return self.work_us
        return max(self.work_us, -(-self.round_cpu_us // cpus))

    def pace_us(self, limits: Limits, cpus: int | None) -> int:
        """From one round to the next (us): the interval, or what CPUs and limit make of it.

        Over many rounds a limit gives quota / period CPUs; rounds that are due faster queue.
        """
        return max(self.interval_us, self.wall_us(cpus), at_least_us(self.round_cpu_us, limits))

    def span_us(self, limits: Limits, cpus: int | None) -> int:
        return self.rounds * self.pace_us(limits, cpus) + self.jitter_us

    def scaled(self, factor: Fraction) -> tuple[Self, str]:
        threads, note = scale_count("threads", self.threads, factor)
        return self.model_copy(update={"threads": threads}), note

    @model_validator(mode="after")
    def _reasonable(self) -> Burst:
        _meterable(self.work, self.work_us)
        if self.interval_us < MIN_INTERVAL_US:
            raise refuse(f"interval = {self.interval} is too short.", "Give at least 1ms.")
        if self.work_us > self.interval_us:
            raise refuse(
                f"work = {self.work} does not fit into interval = {self.interval}: a round would "
                "still run when the next one is due, even without a limit.",
                "Lengthen interval or shorten work.",
            )
        if self.jitter_us > self.interval_us:
            raise refuse(
                f"jitter = {self.jitter} is longer than interval = {self.interval}.",
                "Give a jitter of at most the interval.",
            )
        return self


class Tasks(WorkloadBase):
    """One thread does `count` tasks of `work` CPU each; `gap` is time off the CPU between two.

    With a gap of 0 they run back to back. A round is a task.
    """

    kind: Literal["tasks"] = "tasks"
    work: DurationText
    count: Annotated[int, within(1, MAX_ROUNDS)]
    gap: DurationText = "0s"

    @property
    def round_count(self) -> int:
        """How many rounds one repeat has."""
        return self.count

    @property
    def work_us(self) -> int:
        """CPU of one task, us."""
        return parse_duration(self.work)

    @property
    def gap_us(self) -> int:
        """Time off the CPU between two tasks, us."""
        return parse_duration(self.gap)

    def span_us(self, limits: Limits, cpus: int | None) -> int:
        own = self.count * (self.work_us + self.gap_us)
        return max(own, at_least_us(self.count * self.work_us, limits))

    @model_validator(mode="after")
    def _reasonable(self) -> Tasks:
        _meterable(self.work, self.work_us)
        return self


class Parallel(WorkloadBase):
    """`processes` processes are started at once and burn `work` of CPU each; `rounds` times.

    A round lasts from the first start to the last exit: starting is part of it, and of the
    CPU it uses. `gap` is the time off the CPU between two rounds.
    """

    kind: Literal["parallel"] = "parallel"
    processes: Annotated[int, within(1, MAX_THREADS)]
    work: DurationText
    rounds: Annotated[int, within(1, MAX_ROUNDS)]
    gap: DurationText = "0s"

    @property
    def round_count(self) -> int:
        """How many rounds one repeat has."""
        return self.rounds

    @property
    def work_us(self) -> int:
        """CPU of one process, us."""
        return parse_duration(self.work)

    @property
    def gap_us(self) -> int:
        """Time off the CPU between two rounds, us."""
        return parse_duration(self.gap)

    @property
    def round_cpu_us(self) -> int:
        """CPU of all processes in one round, starting not counted, us."""
        return self.processes * self.work_us

    def span_us(self, limits: Limits, cpus: int | None) -> int:
        shared = self.round_cpu_us if cpus is None else -(-self.round_cpu_us // cpus)
        wall = max(self.work_us, shared, at_least_us(self.round_cpu_us, limits))
        return self.rounds * (wall + START_CPU_US + self.gap_us)

    def scaled(self, factor: Fraction) -> tuple[Self, str]:
        processes, note = scale_count("processes", self.processes, factor)
        return self.model_copy(update={"processes": processes}), note

    @model_validator(mode="after")
    def _reasonable(self) -> Parallel:
        _meterable(self.work, self.work_us)
        return self


def _meterable(text: str, work_us: int) -> None:
    if work_us < MIN_WORK_US:
        raise refuse(f"work = {text} is too short to meter.", "Give at least 10us.")
