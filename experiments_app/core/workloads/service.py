"""A service and the load that calls it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import model_validator

from experiments_app.core.fields import DurationText, SizeText, Slug, refuse, within
from experiments_app.core.quantity import parse_duration
from experiments_app.core.records import Limits
from experiments_app.core.sizes import parse_size
from experiments_app.core.workloads.base import REPORT_US, Result, WorkloadBase

MAX_RATE = 100_000
MAX_CLUMP = 10_000
MAX_BYTES = 8 * 2**30
MAX_WORK_US = 60_000_000
# Requests still under way when the last one was sent are waited for, up to the time-out.
DRAIN_US = 1_000_000


class Serve(WorkloadBase):
    """Answer requests until the arm ends: each /work burns `work` of CPU and allocates `alloc`.

    `live` bytes stay in use all the time, so that the garbage collector has something to
    walk. /ping does nothing: what it waits for is what every request waits for. A round is a
    second.
    """

    result: ClassVar[Result | None] = "cpu"
    kind: Literal["serve"] = "serve"
    work: DurationText = "5ms"
    alloc: SizeText = "1MiB"
    live: SizeText = "64MiB"

    @property
    def work_us(self) -> int:
        """CPU of one /work, us."""
        return parse_duration(self.work)

    @property
    def alloc_bytes(self) -> int:
        """What one /work allocates."""
        return parse_size(self.alloc)

    @property
    def live_bytes(self) -> int:
        """What stays in use."""
        return parse_size(self.live)

    @property
    def round_count(self) -> int:
        return 0

    @property
    def ends(self) -> bool:
        return False

    def span_us(self, limits: Limits, cpus: int | None) -> int:
        return 0

    @model_validator(mode="after")
    def _reasonable(self) -> Serve:
        if self.work_us > MAX_WORK_US:
            raise refuse(f"work = {self.work} is longer than a minute.", "Give at most 1m.")
        for name, size in (("alloc", self.alloc_bytes), ("live", self.live_bytes)):
            if size > MAX_BYTES:
                raise refuse(f"{name} = {getattr(self, name)} is too much.", "Give at most 8GiB.")
        return self


class Load(WorkloadBase):
    """Call the service of group `to` at `rate` a second, whatever it answers (open loop).

    A request's latency counts from when it was to be sent. Arrivals are evenly spaced
    (`constant`) or random (`poisson`); with `clump` above 1 so many come at one instant, the
    instants `clump` times rarer: the rate stays. `ping_rate` more requests a second ask
    for /ping, one by one. `warmup` is not counted, and drained before the count begins;
    `duration` is. Keep-alive connections up to `idle`, or a new one for each request.
    A round is a second.
    """

    result: ClassVar[Result | None] = "work_us"
    kind: Literal["load"] = "load"
    to: Slug = "server"
    rate: Annotated[int, within(1, MAX_RATE)] = 100
    ping_rate: Annotated[int, within(0, MAX_RATE)] = 20
    arrivals: Literal["poisson", "constant"] = "poisson"
    clump: Annotated[int, within(1, MAX_CLUMP)] = 1
    warmup: DurationText = "10s"
    duration: DurationText = "60s"
    timeout: DurationText = "10s"
    connections: Literal["keep-alive", "new"] = "keep-alive"
    idle: Annotated[int, within(1, 10_000)] = 1_000

    @property
    def warmup_us(self) -> int:
        """What is sent before the count begins, us."""
        return parse_duration(self.warmup)

    @property
    def duration_us(self) -> int:
        """What is counted, us."""
        return parse_duration(self.duration)

    @property
    def timeout_us(self) -> int:
        """After so long a request has failed, us."""
        return parse_duration(self.timeout)

    @property
    def round_count(self) -> int:
        """Seconds, the last one maybe not whole."""
        return -(-self.duration_us // REPORT_US)

    def span_us(self, limits: Limits, cpus: int | None) -> int:
        return self.warmup_us + self.duration_us + DRAIN_US

    @model_validator(mode="after")
    def _reasonable(self) -> Load:
        if self.duration_us < REPORT_US:
            raise refuse(f"duration = {self.duration} is too short.", "Give at least 1s.")
        if self.timeout_us < 1_000:
            raise refuse(
                f"timeout = {self.timeout} is too short.", "Give at least 1ms; 10s is usual."
            )
        return self
