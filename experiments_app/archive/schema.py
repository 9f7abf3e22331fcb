"""The shape of the run document, of its log and of its index of samples, as an import takes it.

Mirrors archive.document and core.records field by field (a test compares them). Parts that
are derived (summaries, connections, prediction, verdict) are read past: an import works them
out again.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from experiments_app.archive.round_schema import (
    CountersShape,
    Name,
    RoundShape,
    Shape,
    Small,
    Text,
    Unit,
    Us,
)
from experiments_app.core.fields import refuse
from experiments_app.core.instants import parse_iso
from experiments_app.core.spec_model import MAX_ARMS, MAX_REPEATS, TargetKind

MAX_GROUPS = 3_000
MAX_WARNINGS = 200_000


def _instant(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        at = parse_iso(value)
    except ValueError:
        at = None
    if at is None or not 2000 <= at.year < 3000:
        raise refuse("This is not an instant.", "Write it in UTC as 2026-01-31T12:00:00.123Z.")
    return at


Instant = Annotated[datetime, BeforeValidator(_instant)]
Long = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,79}$")]
Code = Annotated[str, Field(max_length=60)]
Derived = dict[str, JsonValue] | None
Scalar = bool | int | float | Text | None


class LevelShape(Shape):
    """One level of a cgroup tree (core.records.TreeLevel)."""

    path: Text
    quota_us: Us | None
    period_us: Us | None
    burst_us: Us | None
    weight: Us | None
    shares: Us | None


class LimitsShape(Shape):
    """core.records.Limits."""

    quota_us: Us | None
    period_us: Us
    burst_us: Us = 0
    shares: Us | None = None


class ReadbackShape(Shape):
    """core.records.Readback without the name of its group."""

    asked: LimitsShape
    found: LimitsShape
    effective_quota_us: Us | None
    effective_period_us: Us | None
    effective_at: Text | None
    cpus: Small
    notes: list[Text] = []


class ClockShape(Shape):
    mono_us: Us
    unix_us: Us


class GroupShape(Shape):
    name: Unit
    pod: None = None
    node: None = None
    summary: Derived = None
    totals: CountersShape | None = None
    tree: Annotated[list[LevelShape], Field(max_length=100)] | None = None
    readback: ReadbackShape | None = None
    connections: Derived = None
    program: dict[str, JsonValue] | None = None
    clock: ClockShape | None = None

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.program is None) != (self.clock is None):
            raise refuse("Either program or clock is there, the other is null.", "Give both.")
        return self


class RepeatShape(Shape):
    n: Annotated[int, Field(ge=1, le=MAX_REPEATS)]
    order: Annotated[int, Field(ge=0, lt=MAX_ARMS * MAX_REPEATS)]
    state: Literal["done", "failed", "skipped"]
    reason_code: Code | None = None
    reason: Text | None = None
    started_at: Instant | None = None
    finished_at: Instant | None = None
    summary: Derived = None
    groups: Annotated[list[GroupShape], Field(max_length=MAX_GROUPS)]
    rounds: list[RoundShape]
    lab: dict[str, Scalar] | None = None
    warnings: Annotated[list[Text], Field(max_length=MAX_WARNINGS)] = []

    @model_validator(mode="after")
    def _once(self) -> Self:
        names = {group.name for group in self.groups}
        if len(names) < len(self.groups):
            raise refuse("Two groups have the same name.", "Give each its own.")
        seen: set[tuple[str, int]] = set()
        for entry in self.rounds:
            if entry.group not in names:
                raise refuse(f"A round is of {entry.group}, which is none of the groups.")
            if (entry.group, entry.n) in seen:
                raise refuse(f"Round {entry.n} of {entry.group} is there twice.")
            seen.add((entry.group, entry.n))
        return self


class ArmShape(Shape):
    name: Name
    label: Text
    settings: dict[str, JsonValue]
    scale: Annotated[str, Field(pattern=r"^[0-9]{1,9}(/[0-9]{1,9})?$")] | None
    expected_us: Us
    notes: list[Text]
    summary: Derived = None
    repeats: Annotated[list[RepeatShape], Field(max_length=MAX_REPEATS)]
    prediction: Derived = None
    verdict: Derived = None


class PlanShape(Shape):
    kind: TargetKind
    cpus: Annotated[int, Field(ge=1, le=1_000_000)] | None
    repeats: Annotated[int, Field(ge=1, le=MAX_REPEATS)]
    notes: list[Text]


class EnvironmentShape(Shape):
    """targets.base.TargetFacts."""

    kernel: Text | None = None
    cgroup: Text | None = None
    cpus: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    cpu_model: Text | None = None
    runtime: Text | None = None
    cpulab: Text | None = None
    extra: dict[str, Text] = {}


class RunShape(Shape):
    id: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    number: Us | None = None
    imported: bool = False
    experiment: Long
    title: Annotated[str, Field(max_length=200)]
    catalogue_version: Annotated[str, Field(max_length=80)] = ""
    own_version: Small | None = None
    target: Long
    target_kind: Annotated[str, Field(max_length=20)]
    machine: Annotated[str, Field(max_length=120)]
    status: Literal["queued", "running", "finished", "failed", "cancelled", "interrupted"]
    reason_code: Code | None = None
    reason: Text | None = None
    remedy: Text | None = None
    failed_repeats: Small | None = None
    repeats_asked: Small
    expected_us: Us
    created_at: Instant
    started_at: Instant | None
    finished_at: Instant | None


class DocumentShape(Shape):
    format: Literal["throttle-lab.run/1"]
    run: RunShape
    environment: EnvironmentShape
    spec: dict[str, JsonValue]
    plan: PlanShape
    arms: Annotated[list[ArmShape], Field(min_length=1, max_length=MAX_ARMS)]

    @property
    def repeats(self) -> list[tuple[int, RepeatShape]]:
        """Every repeat with the index of its arm, in the order of the run."""
        pairs = [(index, repeat) for index, arm in enumerate(self.arms) for repeat in arm.repeats]
        return sorted(pairs, key=lambda pair: pair[1].order)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        for index, arm in enumerate(self.arms):
            numbers = [repeat.n for repeat in arm.repeats]
            if len(set(numbers)) < len(numbers):
                raise refuse(f"Arm {self.arms[index].name} has two repeats of the same n.")
        orders = [repeat.order for _, repeat in self.repeats]
        if len(set(orders)) < len(orders):
            raise refuse("Two repeats have the same order.", "Number them from 0 on.")
        return self


class RunLine(Shape):
    at: Instant
    kind: Literal["run"]
    status: Literal["queued", "running", "finished", "failed", "cancelled", "interrupted"]
    code: Code = ""
    reason: Text = ""


class RepeatLine(Shape):
    at: Instant
    kind: Literal["repeat"]
    repeat: Small
    state: Literal["waiting", "preparing", "measuring", "cleaning", "done", "failed", "skipped"]
    code: Code = ""
    reason: Text = ""


class NoteLine(Shape):
    at: Instant
    kind: Literal["note"]
    repeat: Small | None
    level: Literal["info", "warning", "error"]
    text: Text


LogLine = Annotated[RunLine | RepeatLine | NoteLine, Field(discriminator="kind")]


class BlockShape(Shape):
    repeat: Small
    group: Unit
    t0_us: Us
    t1_us: Us
    count: Annotated[int, Field(ge=1, le=1_000_000)]
    file: Annotated[str, Field(max_length=200)]


class IndexShape(Shape):
    format: Literal["throttle-lab.samples/1"]
    blocks: Annotated[list[BlockShape], Field(max_length=50_000)]
