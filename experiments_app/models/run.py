"""A run and its repeats: what was asked, where, how it went and why it ended."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q


class RunStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


END_STATES = frozenset(
    {RunStatus.FINISHED, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.INTERRUPTED}
)


class RepeatState(models.TextChoices):
    WAITING = "waiting"
    PREPARING = "preparing"
    MEASURING = "measuring"
    CLEANING = "cleaning"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"


def new_uid() -> str:
    """A run's identity outside this database: 32 hex digits, also its label on a target."""
    return uuid.uuid4().hex


class Run(models.Model):
    """One launch of an experiment on a target.

    Frozen at launch: spec, plan, target facts, catalogue version, and which version of an own
    experiment it was (null for others). `fence` counts claims: a writer that holds an older
    fence can no longer write. `last_seq` is the number of the newest row that belongs to the
    run (events, rounds, sample frames share one sequence).
    `heartbeat` counts the owner's signs of life; an observer that sees it stand still for
    longer than the lease by its own monotonic clock takes the run to be abandoned.
    """

    number = models.BigAutoField(primary_key=True)
    uid = models.CharField(max_length=32, unique=True, default=new_uid, editable=False)
    experiment = models.CharField(max_length=80, db_index=True)
    title = models.CharField(max_length=200)
    spec = models.JSONField()
    plan = models.JSONField()
    catalogue_version = models.CharField(max_length=80, blank=True)
    own_version = models.PositiveIntegerField(null=True, blank=True)
    target = models.CharField(max_length=80)
    target_kind = models.CharField(max_length=20)
    machine = models.CharField(max_length=120)
    facts = models.JSONField(default=dict)
    repeats_asked = models.PositiveIntegerField(default=1)
    expected_us = models.BigIntegerField(default=0)

    status = models.CharField(max_length=12, choices=RunStatus.choices, default=RunStatus.QUEUED)
    reason_code = models.CharField(max_length=60, blank=True)
    reason = models.TextField(blank=True)
    remedy = models.TextField(blank=True)
    failed_repeats = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    launched_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    launched_who = models.CharField(max_length=150, blank=True)
    imported = models.BooleanField(default=False)

    fence = models.PositiveIntegerField(default=0)
    owner = models.CharField(max_length=200, blank=True)
    heartbeat = models.PositiveBigIntegerField(default=0)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    cancelled_by = models.CharField(max_length=150, blank=True)
    rung_at = models.DateTimeField(null=True, blank=True)
    ring_error = models.CharField(max_length=300, blank=True)
    last_seq = models.BigIntegerField(default=0)

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(
                fields=("machine",),
                condition=Q(status="running"),
                name="one_run_at_a_time_per_machine",
            ),
        )
        indexes = (models.Index(fields=("machine", "status", "number"), name="run_queue"),)

    def __str__(self) -> str:
        return f"run {self.number} ({self.experiment} on {self.target})"

    @property
    def ended(self) -> bool:
        return self.status in END_STATES


class Repeat(models.Model):
    """One execution of one arm inside a run. `n` counts the repeats of that arm from 1."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="repeats")
    order = models.PositiveIntegerField()
    arm = models.PositiveIntegerField()
    arm_name = models.CharField(max_length=80)
    n = models.PositiveIntegerField()
    state = models.CharField(
        max_length=12, choices=RepeatState.choices, default=RepeatState.WAITING
    )
    reason_code = models.CharField(max_length=60, blank=True)
    reason = models.TextField(blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    readback = models.JSONField(null=True, blank=True)
    tree = models.JSONField(null=True, blank=True)
    programs = models.JSONField(default=dict, blank=True)
    totals = models.JSONField(default=dict, blank=True)
    lab = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ("run_id", "order")
        constraints = (
            models.UniqueConstraint(fields=("run", "order"), name="repeat_order"),
            models.UniqueConstraint(fields=("run", "arm", "n"), name="repeat_of_arm"),
        )

    def __str__(self) -> str:
        return f"{self.arm_name} repeat {self.n} of run {self.run_id}"
