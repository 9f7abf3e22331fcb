"""Work that goes on, and reports at intervals; and a program that only tells what it sees."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal, Self

from pydantic import model_validator

from experiments_app.core.fields import DurationText, refuse, within
from experiments_app.core.quantity import parse_duration
from experiments_app.core.records import Limits
from experiments_app.core.workloads.base import (
    MAX_THREADS,
    REPORT_US,
    Result,
    WorkloadBase,
    scale_count,
)

MIN_REPORT_US = 100_000
INFO_US = 500_000


class Spin(WorkloadBase):
    """`threads` threads burn CPU for `duration` and report every `report`; a round is a report.

    A duration of 0 goes on until the arm ends: a neighbour. What it is judged by is the CPU
    that it got.
    """

    result: ClassVar[Result | None] = "cpu"
    kind: Literal["spin"] = "spin"
    threads: Annotated[int, within(1, MAX_THREADS)] = 1
    duration: DurationText = "0s"
    report: DurationText = "10s"

    @property
    def duration_us(self) -> int:
        """How long it burns, us; 0 for until the arm ends."""
        return parse_duration(self.duration)

    @property
    def report_us(self) -> int:
        """From one report to the next, us."""
        return parse_duration(self.report)

    @property
    def round_count(self) -> int:
        """Whole reports within the duration."""
        return self.duration_us // self.report_us

    @property
    def ends(self) -> bool:
        return self.duration_us > 0

    def span_us(self, limits: Limits, cpus: int | None) -> int:
        return self.duration_us

    def scaled(self, factor: Fraction) -> tuple[Self, str]:
        threads, note = scale_count("threads", self.threads, factor)
        return self.model_copy(update={"threads": threads}), note

    @model_validator(mode="after")
    def _reasonable(self) -> Spin:
        if self.report_us < MIN_REPORT_US:
            raise refuse(f"report = {self.report} is too short.", "Give at least 100ms.")
        if 0 < self.duration_us < self.report_us:
            raise refuse(
                f"duration = {self.duration} ends before the first report at {self.report}.",
                "Lengthen duration or shorten report.",
            )
        return self


class Requests(WorkloadBase):
    """`threads` threads do fixed work, request after request, for `duration`.

    A request is `steps` steps of xorshift: always the same work, whatever CPU time it takes,
    so that throughput and latency can be compared. A round is about one second of it.
    """

    result: ClassVar[Result | None] = "request_us"
    kind: Literal["requests"] = "requests"
    threads: Annotated[int, within(1, MAX_THREADS)] = 2
    steps: Annotated[int, within(1_000, 1_000_000_000)] = 200_000
    duration: DurationText = "10s"

    @property
    def duration_us(self) -> int:
        """How long it goes on, us."""
        return parse_duration(self.duration)

    @property
    def round_count(self) -> int:
        """Seconds, the last one maybe not whole."""
        return -(-self.duration_us // REPORT_US)

    def span_us(self, limits: Limits, cpus: int | None) -> int:
        return self.duration_us

    def scaled(self, factor: Fraction) -> tuple[Self, str]:
        threads, note = scale_count("threads", self.threads, factor)
        return self.model_copy(update={"threads": threads}), note

    @model_validator(mode="after")
    def _reasonable(self) -> Requests:
        if self.duration_us < REPORT_US:
            raise refuse(f"duration = {self.duration} is too short.", "Give at least 1s.")
        return self


class Info(WorkloadBase):
    """Tell what the process sees (CPUs, GOMAXPROCS, limits): one round, no load.

    With `hold` it stays until the arm ends, as a pod stays up.
    """

    busy: ClassVar[bool] = False
    result: ClassVar[Result | None] = None
    kind: Literal["info"] = "info"
    hold: bool = False

    def span_us(self, limits: Limits, cpus: int | None) -> int:
        return INFO_US
