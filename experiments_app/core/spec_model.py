"""The shape of an experiment: one schema for a file, a form and the API.

An arm may be written short (limit, workload, ... of its own); it becomes one measured group
"app" with one container "app" here, so that everything behind this module knows one form.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from experiments_app.core.arm_rules import check_arm
from experiments_app.core.environment import Environment
from experiments_app.core.fields import (
    Alias,
    CpuText,
    DurationText,
    LimitText,
    Prose,
    Slug,
    refuse,
    refuse_twice,
    within,
)
from experiments_app.core.quantity import (
    MAX_PERIOD_US,
    MIN_PERIOD_US,
    limit_to_quota,
    parse_cpu,
    parse_duration,
    say_duration,
)
from experiments_app.core.records import Limits
from experiments_app.core.short_form import APP, lengthen, steps_of
from experiments_app.core.timing import MAX_RUN_US, arm_us, hours
from experiments_app.core.weights import shares_from_milli
from experiments_app.core.workloads import Workload

Build = Literal["go1.24", "go1.25"]
Role = Literal["measured", "load", "neighbour"]
TargetKind = Literal["local", "docker", "kubernetes", "simulated"]
TARGET_KINDS: tuple[TargetKind, ...] = ("local", "docker", "kubernetes", "simulated")

MAX_ARMS = 64
MAX_REPEATS = 50


class Model(BaseModel):
    """Frozen, and loud about a key it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Container(Model):
    """One container: a build of the workload program, its limits and what it does."""

    name: Slug = APP
    build: Build = "go1.25"
    limit: LimitText = "none"
    request: CpuText = "none"
    period: DurationText = "100ms"
    burst: DurationText = "0s"
    env: Environment = {}
    workload: Workload

    @property
    def limit_milli(self) -> int | None:
        """The limit in millicpu; None for no limit."""
        return parse_cpu(self.limit)

    @property
    def request_milli(self) -> int | None:
        """The request in millicpu; None for no request."""
        return parse_cpu(self.request)

    @property
    def period_us(self) -> int:
        """The period of the quota, us."""
        return parse_duration(self.period)

    @property
    def burst_us(self) -> int:
        """What may be saved up beyond the quota, us."""
        return parse_duration(self.burst)

    @property
    def limits(self) -> Limits:
        """The same in the kernel's terms; no request means no shares of its own."""
        quota = limit_to_quota(self.limit_milli, self.period_us).limit
        request = self.request_milli
        shares = None if request is None else shares_from_milli(request)
        return Limits(quota.quota_us, quota.period_us, self.burst_us, shares)

    @model_validator(mode="after")
    def _kernel_takes_it(self) -> Self:
        if not MIN_PERIOD_US <= self.period_us <= MAX_PERIOD_US:
            raise refuse(
                f"period = {self.period} is outside what the kernel takes.",
                "Choose a period from 1ms to 1s; 100ms is the default.",
            )
        quota_us = self.limits.quota_us
        if self.burst_us and quota_us is None:
            raise refuse(f"burst = {self.burst} without a limit.", "Give a limit, or no burst.")
        if quota_us is not None and self.burst_us > quota_us:
            raise refuse(
                f"burst = {self.burst} is above the quota of {say_duration(quota_us)} a period.",
                "The kernel takes a burst up to the quota: lower it or raise the limit.",
            )
        request, limit = self.request_milli, self.limit_milli
        if request is not None and limit is not None and request > limit:
            raise refuse(
                f"request = {self.request} is above limit = {self.limit}.",
                "Kubernetes refuses that: lower the request or raise the limit.",
            )
        return self


class Group(Model):
    """A pod, a Docker container or a cgroup, by target; `place` names a node or CPUs."""

    name: Slug
    role: Role = "measured"
    place: Slug = "work"
    replicas: Annotated[int, within(1, 100)] = 1
    containers: Annotated[tuple[Container, ...], Field(min_length=1, max_length=10)]

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        refuse_twice("container", [c.name for c in self.containers])
        return self


class Step(Model):
    """One thing done in an arm: exactly one of its keys is given.

    `pin` keeps a place or a group on so many `cpus`, and is undone when the arm ends.
    """

    start: Annotated[tuple[Slug, ...], Field(min_length=1)] | None = None
    wait: DurationText | None = None
    measure: Slug | None = None
    pin: Slug | None = None
    cpus: Annotated[int, within(1, 1024)] | None = None

    @property
    def wait_us(self) -> int:
        """How long this step waits, us; 0 for the other kinds."""
        return parse_duration(self.wait) if self.wait is not None else 0

    @model_validator(mode="after")
    def _one(self) -> Self:
        keys = ("start", "wait", "measure", "pin")
        given = [key for key in keys if getattr(self, key) is not None]
        if len(given) != 1:
            raise refuse(
                f"A step does one thing; this one has {' and '.join(given) or 'nothing'}.",
                'Write one of {start = ["app"]}, {wait = "15s"}, {measure = "app"} or '
                '{pin = "work", cpus = 1}.',
            )
        if (self.pin is None) != (self.cpus is None):
            raise refuse(
                "A pin needs a place or group and a number of CPUs.",
                'Write {pin = "work", cpus = 1}.',
            )
        return self


class Arm(Model):
    """One configuration: its groups, and the steps that run them."""

    name: Slug
    label: Prose = ""
    groups: Annotated[tuple[Group, ...], Field(min_length=1, max_length=20)]
    steps: Annotated[tuple[Step, ...], Field(max_length=50)] = ()

    @model_validator(mode="before")
    @classmethod
    def _from_short(cls, value: Any) -> Any:
        return lengthen(value) if isinstance(value, dict) else value

    @property
    def measured(self) -> Group:
        """The group whose rounds are the result: the one that a step measures."""
        name = next(step.measure for step in self.steps if step.measure is not None)
        return next(group for group in self.groups if group.name == name)

    @property
    def is_short(self) -> bool:
        """Whether the short form says all there is to say."""
        containers = self.groups[0].containers
        return (
            self.groups == (Group(name=APP, containers=containers),)
            and [container.name for container in containers] == [APP]
            and self.steps == tuple(Step(**step) for step in steps_of(APP))
        )

    @property
    def places(self) -> tuple[str, ...]:
        """Where its groups are, each place once."""
        return tuple(dict.fromkeys(group.place for group in self.groups))

    @model_validator(mode="after")
    def _groups_and_steps_fit(self) -> Self:
        check_arm(self)
        return self


class Needs(Model):
    """What the experiment needs to be worth running; nothing given is nothing needed."""

    cpus: Annotated[int, within(1, 1024)] | None = None
    request: CpuText = "none"
    cgroup: Literal[1, 2] | None = None


def _one_or_many(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Texts = Annotated[tuple[Prose, ...], BeforeValidator(_one_or_many), Field(max_length=30)]


class Spec(Model):
    """An experiment: a question with its arms."""

    name: Slug
    aliases: Annotated[tuple[Alias, ...], Field(max_length=10)] = ()
    title: Prose = ""
    question: Prose = ""
    shows: Texts = ()
    does_not_show: Texts = ()
    order: Annotated[int, within(0, 10_000)] = 1_000
    needs: Needs = Needs()
    targets: Annotated[tuple[TargetKind, ...], Field(min_length=1)] = TARGET_KINDS
    reference: Slug | None = None
    repeats: Annotated[int, within(1, MAX_REPEATS)] = 1
    arms: Annotated[tuple[Arm, ...], Field(min_length=1, max_length=MAX_ARMS)]

    @property
    def heading(self) -> str:
        """What a page calls it: the title, or the name in words."""
        return self.title or self.name.replace("-", " ").capitalize()

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        refuse_twice("arm", [arm.name for arm in self.arms])
        refuse_twice("target", list(self.targets))
        total = self.repeats * sum(arm_us(arm) for arm in self.arms)
        if total > MAX_RUN_US:
            raise refuse(
                f"A run would take about {hours(total)}; a run may take {hours(MAX_RUN_US)}.",
                "Give fewer rounds, repeats or arms, or a shorter interval.",
            )
        return self
