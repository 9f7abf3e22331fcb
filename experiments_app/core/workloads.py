"""The work that a container can do: one model a kind, told apart by `kind`.

A new kind is a class here and a member of `Workload`; nothing else lists the kinds.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo

from experiments_app.core.fields import DurationText, duration_text, refuse, within
from experiments_app.core.quantity import parse_duration

MAX_THREADS = 512
MAX_ROUNDS = 100_000
MIN_WORK_US = 10
MIN_INTERVAL_US = 1_000


class WorkloadBase(BaseModel):
    """What every kind of work shares."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Whether the work uses CPU to speak of, so that a limit could ever hold it back.
    busy: ClassVar[bool] = True

    @property
    def round_count(self) -> int:
        """How many rounds one repeat has."""
        return 1

    def settings(self) -> dict[str, object]:
        """Every setting by name, times in microseconds: "1s" and "1000ms" are the same."""
        values: dict[str, object] = dict(self)
        times = [name for name, field in type(self).model_fields.items() if is_duration(field)]
        return values | {name: parse_duration(str(values[name])) for name in times}


def is_duration(field: FieldInfo) -> bool:
    """Whether a field was declared as a DurationText."""
    return any(getattr(part, "func", None) is duration_text for part in field.metadata)


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

    @model_validator(mode="after")
    def _reasonable(self) -> Burst:
        if self.work_us < MIN_WORK_US:
            raise refuse(f"work = {self.work} is too short to meter.", "Give at least 10us.")
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


class Info(WorkloadBase):
    """Tell what the process sees (CPUs, GOMAXPROCS, limits) and end: one round, no load."""

    busy: ClassVar[bool] = False
    kind: Literal["info"] = "info"


Workload = Annotated[Burst | Info, Field(discriminator="kind")]
