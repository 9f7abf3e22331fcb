"""Finding experiments by name: the catalogue's first, then people's own, with their versions."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, QuerySet

from experiments_app import catalogue
from experiments_app.core.errors import SpecError
from experiments_app.core.spec import Spec, dump_spec, parse_spec
from experiments_app.core.spec_errors import did_you_mean
from experiments_app.models import OwnExperiment, OwnVersion


@dataclass(frozen=True, slots=True)
class Version:
    """One saved version of an own experiment."""

    n: int
    spec: Spec
    saved_at: datetime
    saved_who: str


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """An own experiment as a list shows it: its newest version, and how many there are."""

    newest: Version
    versions: int
    hidden_at: datetime | None

    @property
    def spec(self) -> Spec:
        return self.newest.spec

    @property
    def name(self) -> str:
        return self.spec.name


@dataclass(frozen=True, slots=True)
class Found:
    """An experiment by name; `version` is None for one of the catalogue."""

    spec: Spec
    version: int | None


def find_spec(name: str) -> Spec:
    """The experiment of this name or alias, the newest version of an own one.

    Hidden ones are found too: their runs lead to them. Raises SpecError naming the closest
    name and all that there are.
    """
    return find_experiment(name).spec


def find_experiment(name: str) -> Found:
    """As `find_spec`, with the version of an own experiment."""
    spec = in_catalogue(name)
    if spec is not None:
        return Found(spec, None)
    newest = newest_version(name.strip().casefold())
    if newest is not None:
        return Found(newest.spec, newest.n)
    raise SpecError(
        f'There is no experiment "{name[:60]}", neither in the catalogue nor an own one.',
        field="experiment",
        remedy=did_you_mean(name, [*catalogue_names(), *own_names()]),
    )


def in_catalogue(name: str) -> Spec | None:
    """The catalogue's experiment of this name or alias, in capitals or not."""
    wanted = name.strip().casefold()
    return next(
        (
            spec
            for spec in catalogue.entries()
            if wanted in {known.casefold() for known in (spec.name, *spec.aliases)}
        ),
        None,
    )


def catalogue_names() -> list[str]:
    """Every name and alias of the catalogue."""
    return [known for spec in catalogue.entries() for known in (spec.name, *spec.aliases)]


def own_names() -> list[str]:
    """The names of own experiments that are not hidden."""
    return list(_own().values_list("name", flat=True))


def own_entries(*, hidden: bool = False) -> list[OwnEntry]:
    """Own experiments by name, each with its newest version; `hidden` gives the hidden ones."""
    # Versions are only ever added: the last key is the newest version's.
    found = list(_own(hidden=hidden).annotate(Count("versions"), newest=Max("versions__pk")))
    rows = OwnVersion.objects.in_bulk([own.newest for own in found])
    return [
        OwnEntry(_version(rows[own.newest]), own.versions__count, own.hidden_at) for own in found
    ]


def own_entry(name: str) -> OwnEntry | None:
    """The own experiment of this name, hidden or not; None where there is none."""
    rows = list(_versions(name).select_related("experiment"))
    if not rows:
        return None
    newest = max(rows, key=lambda row: row.n)
    return OwnEntry(_version(newest), len(rows), newest.experiment.hidden_at)


def versions(name: str) -> list[Version]:
    """Every version of an own experiment, the newest first; nothing where there is none."""
    rows = _versions(name).order_by("-n")
    return [_version(row) for row in rows]


def version(name: str, n: int) -> Version | None:
    """One version of an own experiment; None where there is none."""
    row = _versions(name).filter(n=min(n, 2**31 - 1)).first()
    return None if row is None else _version(row)


def newest_version(name: str) -> Version | None:
    """The newest version of an own experiment; None where there is none."""
    row = _versions(name).order_by("-n").first()
    return None if row is None else _version(row)


def version_of(spec: Spec) -> int | None:
    """The newest version of the own experiment of its name that is exactly this spec."""
    if in_catalogue(spec.name) is not None:
        return None
    same = _versions(spec.name).filter(digest=digest(spec))
    return same.order_by("-n").values_list("n", flat=True).first()


def digest(spec: Spec) -> str:
    """The same for two specs that are equal, whatever the order in which they were written."""
    text = json.dumps(dump_spec(spec, full=True), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _own(*, hidden: bool = False) -> QuerySet[OwnExperiment]:
    return OwnExperiment.objects.filter(hidden_at__isnull=not hidden).order_by("name")


def _versions(name: str) -> QuerySet[OwnVersion]:
    # PostgreSQL takes no NUL in text; no name has one.
    return OwnVersion.objects.filter(experiment__name=name.replace("\0", " "))


def _version(row: OwnVersion) -> Version:
    return Version(row.n, parse_spec(row.spec), row.saved_at, row.saved_who)
