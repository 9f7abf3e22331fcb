"""Nearest-rank percentiles that say nothing where the sample is too small to say it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction


def needed(percent: Fraction) -> int:
    """How many values a percentile above the median needs to differ from the maximum.

    ceil(100 / (100 - percent)): 10 for p90, 20 for p95, 100 for p99, 1000 for p99.9.
    """
    return -(-100 // (100 - percent))


def percentile(ordered: Sequence[int], percent: str | int) -> int | None:
    """The nearest-rank (ceil) percentile of values in ascending order.

    `percent` is whole or decimal text (50, "99.9"), so that the rank is exact. None for no values,
    and above the median for fewer than `needed`, where it would only repeat the maximum.
    Raises ValueError for a percentile outside 0 < percent < 100.
    """
    p = Fraction(percent)
    if not 0 < p < 100:
        raise ValueError(f"a percentile lies between 0 and 100: {percent}")
    n = len(ordered)
    if n == 0 or (p > 50 and n < needed(p)):
        return None
    rank = -(-p * n // 100)
    return ordered[int(rank) - 1]


@dataclass(frozen=True, slots=True)
class Summary:
    """A sample in short, in the unit of its values; None where n is too small to tell."""

    n: int
    p50: int | None
    p95: int | None
    p99: int | None
    max: int | None
    min: int | None


def summarise(values: Iterable[int | None]) -> Summary:
    """Summarise what was measured; values that are None were not measured and do not count."""
    ordered = sorted(value for value in values if value is not None)
    return Summary(
        n=len(ordered),
        p50=percentile(ordered, "50"),
        p95=percentile(ordered, "95"),
        p99=percentile(ordered, "99"),
        max=ordered[-1] if ordered else None,
        min=ordered[0] if ordered else None,
    )
