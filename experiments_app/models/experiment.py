"""A person's own experiments: a name, and versions that are only ever added."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class OwnExperiment(models.Model):
    """The name of an own experiment. Hidden ones leave the lists, not the archive."""

    name = models.CharField(max_length=60, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    hidden_at = models.DateTimeField(null=True, blank=True)
    hidden_by = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class OwnVersion(models.Model):
    """What an own experiment was when it was saved for the n-th time; never rewritten.

    `spec` is the whole spec with its defaults written out, so that a default that changes
    later changes no version; `digest` is of its canonical text.
    """

    experiment = models.ForeignKey(OwnExperiment, on_delete=models.CASCADE, related_name="versions")
    n = models.PositiveIntegerField()
    spec = models.JSONField()
    digest = models.CharField(max_length=64)
    saved_at = models.DateTimeField(default=timezone.now)
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    saved_who = models.CharField(max_length=150, blank=True)

    class Meta:
        ordering = ("experiment_id", "-n")
        constraints = (
            models.UniqueConstraint(fields=("experiment", "n"), name="own_version_once"),
        )

    def __str__(self) -> str:
        return f"version {self.n} of {self.experiment_id}"
