"""The shape of a round in a run document: counters, and what some kinds of work tell beside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from experiments_app.archive.details import PARTS
from experiments_app.core.fields import refuse
from experiments_app.core.histogram import HIGHEST_US, decode, smallest_like
from experiments_app.core.histogram import MAX_TEXT as MAX_HISTOGRAM
from experiments_app.core.latencies import BadHistogram, summarise_measure
from experiments_app.core.records import Measure

# What a browser reads exactly; also what packed samples may hold.
LARGEST = 2**53 - 1
MAX_TEXT = 100_000
MAX_NAMES = 200

Us = Annotated[int, Field(ge=0, le=LARGEST)]
Late = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Small = Annotated[int, Field(ge=0, le=2**31 - 1)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]
Unit = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,129}$")]
FactName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
MeasureName = Literal["work_us", "ping_us", "lag_us", "request_us"]


class Shape(BaseModel):
    """Frozen and strict: no unknown key, no text for a number, no 1 for true."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class CountersShape(Shape):
    """Counters over a window; null or left out is not measured."""

    window_us: Us
    usage_us: Us | None = None
    nr_periods: Us | None = None
    nr_throttled: Us | None = None
    throttled_us: Us | None = None
    nr_bursts: Us | None = None
    burst_us: Us | None = None
    run_delay_us: Us | None = None


class MeasureShape(Shape):
    """Latencies of a round (archive.details): what is derived must be what the histogram says."""

    n: Us
    p50: Us | None
    p90: Us | None
    p95: Us | None
    p99: Us | None
    p999: Us | None
    max: Us | None
    errors: Annotated[dict[FactName, Us], Field(max_length=MAX_NAMES)] = {}
    hdr: Annotated[str, Field(max_length=MAX_HISTOGRAM)]

    @model_validator(mode="after")
    def _as_counted(self) -> Self:
        try:
            found = asdict(summarise_measure(Measure("", self.hdr, self.max, self.errors)))
            counts = decode(self.hdr)
        except BadHistogram as error:
            raise refuse(f"hdr is no histogram: {error}.") from error
        if (self.max is None) != (not counts):
            raise refuse("max is there if and only if something was counted.")
        if self.max is not None and not _in_bucket(self.max, counts[-1][0]):
            raise refuse(f"max = {self.max} is not in the last bucket of hdr.")
        for name, value in found.items():
            if getattr(self, name) != value:
                given, right = json.dumps(getattr(self, name)), json.dumps(value)
                raise refuse(f"{name} = {given}, but hdr gives {right}.")
        return self


def _in_bucket(value_us: int, largest_us: int) -> bool:
    """Whether the exact largest value belongs to the bucket that `largest_us` ends.

    The first and the last bucket take what is below and above them too.
    """
    above = smallest_like(largest_us) <= value_us or largest_us == 1
    return above and (value_us <= largest_us or largest_us >= HIGHEST_US)


class AnswersShape(Shape):
    """core.records.Answers."""

    responses: Us
    connections: Us


class RoundShape(CountersShape):
    group: Unit
    n: Small
    start_us: Us
    wall_us: Us
    late_us: Late | None = None
    settled: CountersShape | None = None
    measures: dict[MeasureName, MeasureShape] = {}
    facts: Annotated[dict[FactName, Us], Field(max_length=MAX_NAMES)] = {}
    servers: Annotated[dict[Unit, AnswersShape], Field(max_length=MAX_NAMES)] = {}

    @property
    def detail(self) -> dict[str, JsonValue] | None:
        """The detail that is stored (archive.details); None where there is none."""
        parts: Mapping[str, JsonValue] = self.model_dump(mode="json", include=set(PARTS))
        return dict(parts) if any(parts.values()) else None
