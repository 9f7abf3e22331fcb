"""Keeping a person's own experiments: a save adds a version, nothing is ever rewritten."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from experiments_app.archive.experiments import digest, in_catalogue
from experiments_app.core.errors import LabError, SpecError
from experiments_app.core.spec import Spec, dump_spec
from experiments_app.models import AuditEntry, OwnExperiment, OwnVersion


class NewerVersion(LabError):
    """Somebody has saved since the reader began; `newest` is the version that there is now."""

    code = "newer-version"

    def __init__(self, message: str, *, remedy: str, newest: int) -> None:
        super().__init__(message, remedy=remedy)
        self.newest = newest


class NoOwnExperiment(LabError):
    code = "no-own-experiment"


@dataclass(frozen=True, slots=True)
class Kept:
    """What a save came to; `changed` is False where the newest version was the same already."""

    name: str
    version: int
    changed: bool


def check_own(spec: Spec) -> None:
    """Raise SpecError for what only the catalogue's experiments may have."""
    taken = in_catalogue(spec.name)
    if taken is not None:
        raise SpecError(
            f"{spec.name} is a name of the catalogue ({taken.name}).",
            field="name",
            remedy=f"Choose another, such as my-{taken.name}.",
            loc=("name",),
        )
    for field, value in (("aliases", spec.aliases), ("reference", spec.reference)):
        if value:
            raise SpecError(
                f"{field}: only the catalogue's experiments have it.",
                field=field,
                remedy=f"Leave {field} out.",
                loc=(field,),
            )


def keep(spec: Spec, *, user: User | None, who: str, based_on: int | None = None) -> Kept:
    """Save an own experiment under its name; a hidden one comes back.

    `based_on` is the version that was changed, 0 for a name that must be new, None for
    whatever there is. Raises SpecError or NewerVersion; then nothing was stored.
    """
    check_own(spec)
    mark = digest(spec)
    with transaction.atomic():
        own, _ = OwnExperiment.objects.get_or_create(name=spec.name)
        # On PostgreSQL two saves at once take turns here; SQLite has one writer anyway.
        own = OwnExperiment.objects.select_for_update().get(pk=own.pk)
        newest = own.versions.order_by("-n").first()
        if based_on is not None:
            _check_base(own, newest, based_on)
        if own.hidden_at is not None:
            _audit(who, "restore", own.name)
            own.hidden_at, own.hidden_by = None, ""
            own.save(update_fields=["hidden_at", "hidden_by"])
        if newest is not None and newest.digest == mark:
            return Kept(own.name, newest.n, changed=False)
        added = OwnVersion.objects.create(
            experiment=own,
            n=1 if newest is None else newest.n + 1,
            spec=dump_spec(spec, full=True),
            digest=mark,
            saved_by=user,
            saved_who=who[:150],
        )
        _audit(who, "keep", f"{own.name} version {added.n}")
    return Kept(own.name, added.n, changed=True)


def _check_base(own: OwnExperiment, newest: OwnVersion | None, based_on: int) -> None:
    there = 0 if newest is None else newest.n
    if there == based_on or newest is None:
        return
    if based_on == 0:
        raise SpecError(
            f"There is an own experiment {own.name} already, version {there}"
            f"{', hidden' if own.hidden_at else ''}.",
            field="name",
            remedy="Choose another name, or edit that one.",
            loc=("name",),
        )
    raise NewerVersion(
        f"{newest.saved_who or 'Somebody'} saved version {there} of {own.name} meanwhile; "
        f"yours began from version {based_on}.",
        remedy=f"Look at version {there} first; saving again makes yours version {there + 1}.",
        newest=there,
    )


def hide(name: str, *, who: str) -> None:
    """Take an own experiment out of the lists; its versions and runs stay. Twice is once."""
    _show(name, who, hidden=True)


def restore(name: str, *, who: str) -> None:
    """Put a hidden experiment back into the lists."""
    _show(name, who, hidden=False)


def _show(name: str, who: str, *, hidden: bool) -> None:
    with transaction.atomic():
        # PostgreSQL takes no NUL in text; no name has one.
        wanted = name.replace("\0", " ")
        own = OwnExperiment.objects.select_for_update().filter(name=wanted).first()
        if own is None:
            raise NoOwnExperiment(
                f'There is no own experiment "{name[:60]}".',
                remedy="The catalogue's experiments cannot be hidden.",
            )
        if (own.hidden_at is not None) == hidden:
            return
        own.hidden_at = timezone.now() if hidden else None
        own.hidden_by = who[:150] if hidden else ""
        own.save(update_fields=["hidden_at", "hidden_by"])
        _audit(who, "hide" if hidden else "restore", own.name)


def _audit(who: str, action: str, subject: str) -> None:
    AuditEntry.objects.create(who=who, action=action, subject=f"experiment {subject}")
