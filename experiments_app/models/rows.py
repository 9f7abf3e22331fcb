"""Rows that carry a sequence number: what a reader replays, in order."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from experiments_app.models.run import Repeat, Run

# The longest name of a unit (core.units): group, replica and container.
UNIT_LENGTH = 130


class EventKind(models.TextChoices):
    RUN = "run"
    REPEAT = "repeat"
    HELLO = "hello"
    TREE = "tree"
    NOTE = "note"
    SETTLED = "settled"
    TOTALS = "totals"


class Event(models.Model):
    """Something that happened, append-only; the body is exactly what a reader is sent."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    seq = models.BigIntegerField()
    kind = models.CharField(max_length=10, choices=EventKind.choices)
    at = models.DateTimeField()
    body = models.JSONField()

    class Meta:
        ordering = ("run_id", "seq")
        constraints = (models.UniqueConstraint(fields=("run", "seq"), name="event_seq"),)

    def __str__(self) -> str:
        return f"event {self.seq} {self.kind}"


class CounterColumns(models.Model):
    """Counters over a window, integer microseconds or counts; null was not measured."""

    window_us = models.BigIntegerField()
    usage_us = models.BigIntegerField(null=True)
    nr_periods = models.BigIntegerField(null=True)
    nr_throttled = models.BigIntegerField(null=True)
    throttled_us = models.BigIntegerField(null=True)
    nr_bursts = models.BigIntegerField(null=True)
    burst_us = models.BigIntegerField(null=True)
    run_delay_us = models.BigIntegerField(null=True)

    settled_seq = models.BigIntegerField(null=True)
    settled_window_us = models.BigIntegerField(null=True)
    settled_usage_us = models.BigIntegerField(null=True)
    settled_nr_periods = models.BigIntegerField(null=True)
    settled_nr_throttled = models.BigIntegerField(null=True)
    settled_throttled_us = models.BigIntegerField(null=True)
    settled_nr_bursts = models.BigIntegerField(null=True)
    settled_burst_us = models.BigIntegerField(null=True)
    settled_run_delay_us = models.BigIntegerField(null=True)

    class Meta:
        abstract = True


class Round(CounterColumns):
    """One measured step of a unit. `start_us` is the target's CLOCK_MONOTONIC.

    `detail` is what only some kinds of work tell of a step: {"measures", "facts", "servers"}
    (see archive.details); null for all others. `point_us` stands for the round in small pictures
    where its wall is no result: the median latency of its requests.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="rounds")
    repeat = models.ForeignKey(Repeat, on_delete=models.CASCADE, related_name="rounds")
    seq = models.BigIntegerField()
    group = models.CharField(max_length=UNIT_LENGTH)
    n = models.PositiveIntegerField()
    start_us = models.BigIntegerField()
    wall_us = models.BigIntegerField()
    late_us = models.BigIntegerField(null=True)
    point_us = models.BigIntegerField(null=True)
    detail = models.JSONField(null=True)

    class Meta:
        ordering = ("run_id", "seq")
        constraints = (
            models.UniqueConstraint(fields=("run", "seq"), name="round_seq"),
            models.UniqueConstraint(fields=("repeat", "group", "n"), name="round_once"),
        )

    def __str__(self) -> str:
        return f"round {self.n} of {self.repeat_id}"


class PackedSamples(models.Model):
    """Consecutive samples of one group, packed (see core.packing)."""

    group = models.CharField(max_length=UNIT_LENGTH)
    first_seq = models.BigIntegerField()
    seq = models.BigIntegerField()
    t0_us = models.BigIntegerField()
    t1_us = models.BigIntegerField()
    count = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        abstract = True


class SampleFrame(PackedSamples):
    """At most 100 ms of samples, as they arrived."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="frames")
    repeat = models.ForeignKey(Repeat, on_delete=models.CASCADE, related_name="frames")

    class Meta:
        ordering = ("run_id", "seq")
        constraints = (
            models.UniqueConstraint(fields=("run", "seq"), name="frame_seq"),
            models.CheckConstraint(condition=Q(count__gt=0), name="frame_not_empty"),
        )


class SampleBlock(PackedSamples):
    """About 10 s of samples: what a run's frames become when it has ended."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="blocks")
    repeat = models.ForeignKey(Repeat, on_delete=models.CASCADE, related_name="blocks")

    class Meta:
        ordering = ("run_id", "seq")
        constraints = (models.UniqueConstraint(fields=("run", "seq"), name="block_seq"),)
