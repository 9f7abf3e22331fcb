"""Sizes in bytes, as Kubernetes writes them."""

from __future__ import annotations

from experiments_app.core.errors import SpecError
from experiments_app.core.quantity import parse_quantity, shown

_HELP = 'Write bytes with a unit: "64MiB", "1Mi", "500k" or "0".'


def parse_size(text: str) -> int:
    """Read a size: a Kubernetes quantity in whole bytes, with or without a B after the unit.

    Raises SpecError for anything else.
    """
    bare = text.strip()
    for suffix in ("iB", "kB", "KB", "MB", "GB"):
        if bare.endswith(suffix):
            bare = bare[:-1]
            break
    value = parse_quantity(bare)
    if value is None:
        raise SpecError(f"{shown(text)} is no size.", remedy=_HELP)
    if value.denominator != 1 or value < 0:
        raise SpecError(f"{shown(text)} is not a whole number of bytes.", remedy=_HELP)
    return int(value)
