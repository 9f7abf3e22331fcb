"""What every kind of work shares."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict
from pydantic.fields import FieldInfo

from experiments_app.core.fields import duration_text, size_text
from experiments_app.core.quantity import parse_duration
from experiments_app.core.records import Limits
from experiments_app.core.sizes import parse_size

MAX_THREADS = 512
MAX_ROUNDS = 100_000
MIN_WORK_US = 10
# A program that reports at intervals does so once a second.
REPORT_US = 1_000_000

# What one round of a kind is judged by: its wall time, the latencies of its requests, or the
# CPU it got. None: it tells facts, not figures.
Result = Literal["wall_us", "work_us", "request_us", "cpu"]


class WorkloadBase(BaseModel):
    """What every kind of work shares."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Whether the work uses CPU to speak of, so that a limit could ever hold it back.
    busy: ClassVar[bool] = True
    result: ClassVar[Result | None] = "wall_us"

    @property
    def round_count(self) -> int:
        """How many rounds one repeat has; 0 where it goes on until the arm ends."""
        return 1

    @property
    def ends(self) -> bool:
        """Whether it comes to an end by itself, so that it can be measured to its end."""
        return True

    def span_us(self, limits: Limits, cpus: int | None) -> int:
        """How long one repeat of it takes under `limits` on `cpus` CPUs (None: not known), us.

        Never less than the work can take; 0 where it goes on until the arm ends.
        """
        raise NotImplementedError

    def scaled(self, factor: Fraction) -> tuple[Self, str]:
        """The same work with its threads scaled, and what could not be scaled exactly."""
        return self, ""

    def settings(self) -> dict[str, object]:
        """Every setting by name, times in us and sizes in bytes: "1s" and "1000ms" are equal."""
        values: dict[str, object] = dict(self)
        for name, field in type(self).model_fields.items():
            if _is_made_by(field, duration_text):
                values[name] = parse_duration(str(values[name]))
            elif _is_made_by(field, size_text):
                values[name] = parse_size(str(values[name]))
        return values


def _is_made_by(field: FieldInfo, check: object) -> bool:
    """Whether a field was declared as a type that this function checks."""
    return any(getattr(part, "func", None) is check for part in field.metadata)


def is_duration(field: FieldInfo) -> bool:
    """Whether a field was declared as a DurationText."""
    return _is_made_by(field, duration_text)


def at_least_us(cpu_us: int, limits: Limits) -> int:
    """The time in which a limit lets so much CPU through, over many periods (us)."""
    if limits.quota_us is None:
        return 0
    return -(-cpu_us * limits.period_us // limits.quota_us)


def scale_count(what: str, count: int, factor: Fraction) -> tuple[int, str]:
    """A number of threads scaled and rounded, and what a person should know of the rounding."""
    exact = count * factor
    scaled = max(1, round(exact))
    note = "" if scaled == exact else f"{count} {what} scaled by {factor} are rounded to {scaled}."
    return scaled, note
