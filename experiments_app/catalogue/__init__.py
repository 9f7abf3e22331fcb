"""The experiments that come with the lab: one data file each, validated when first read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from experiments_app.catalogue.figures import (
    Figure,
    Published,
    PublishedArm,
    PublishedRepeat,
    SeriesRow,
    load_published,
)
from experiments_app.core.errors import SpecError
from experiments_app.core.spec import Spec, load_spec
from experiments_app.core.spec_errors import did_you_mean

__all__ = [
    "CATALOGUE_VERSION",
    "Figure",
    "Published",
    "PublishedArm",
    "PublishedRepeat",
    "SeriesRow",
    "Spec",
    "entries",
    "find",
    "load_published",
    "published",
]


@cache
def entries() -> tuple[Spec, ...]:
    """Every experiment of the catalogue, in reading order.

    Raises SpecErrors for a file that is wrong, RuntimeError when two share a name or alias.
    """
    found = [
        load_spec(file.read_text("utf-8"), file.name)
        for file in _files()
        if file.name.endswith(".toml")
    ]
    names = [name for spec in found for name in (spec.name, *spec.aliases)]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise RuntimeError(f"two experiments of the catalogue share {', '.join(sorted(twice))}")
    return tuple(sorted(found, key=lambda spec: (spec.order, spec.name)))


def find(name: str) -> Spec:
    """The experiment of this name or alias, in capitals or not.

    Raises SpecError naming the closest one and all that there are.
    """
    wanted = name.strip().casefold()
    for spec in entries():
        if wanted in {known.casefold() for known in (spec.name, *spec.aliases)}:
            return spec
    known = [known for spec in entries() for known in (spec.name, *spec.aliases)]
    raise SpecError(
        f'There is no experiment "{name[:60]}" in the catalogue.',
        field="experiment",
        remedy=did_you_mean(name, known),
    )


@cache
def published(key: str) -> Published | None:
    """The published figures of a spec's `reference`; None when there are none."""
    for file in _files(("published",)):
        if file.name == f"{key}.toml":
            return load_published(file.read_text("utf-8"), file.name)
    return None


def _files(under: tuple[str, ...] = ()) -> Iterator[Traversable]:
    folder = resources.files(__name__).joinpath(*under)
    yield from sorted(folder.iterdir(), key=lambda file: file.name)


def _version() -> str:
    """A digest of every data file: a run freezes it, so that an old figure tells its spec."""
    digest = hashlib.sha256()
    for under in ((), ("published",)):
        for file in _files(under):
            if file.name.endswith(".toml"):
                content = file.read_bytes().replace(b"\r\n", b"\n")
                digest.update("/".join((*under, file.name)).encode() + b"\0")
                digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()[:12]


CATALOGUE_VERSION = _version()
