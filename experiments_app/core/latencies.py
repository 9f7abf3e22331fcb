"""Latencies of many requests: HDR histograms read, added up, and their percentiles.

The workload program records microseconds with three significant digits and sends them in the
histogram's own V2 form; here a histogram is a mapping from a value to its count. A value is
the largest one of its bucket, so a percentile is never less than what was measured, and at
most 0.1% more; the largest of all is kept exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from experiments_app.core.histogram import BadHistogram, decode
from experiments_app.core.percentile import needed
from experiments_app.core.records import Measure

__all__ = ["BadHistogram", "Latencies", "LatencySummary", "decode", "summarise_measure"]


@dataclass(frozen=True, slots=True)
class LatencySummary:
    """Latencies in short, us. None where n is too small to tell it from the maximum.

    `errors` counts the requests that failed, by kind; they are not among the `n`.
    """

    n: int
    p50: int | None
    p90: int | None
    p95: int | None
    p99: int | None
    p999: int | None
    max: int | None
    errors: dict[str, int] = field(default_factory=dict)


class Latencies:
    """Adds up histograms of one name; summaries are over all that was added."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.errors: Counter[str] = Counter()
        self.max_us: int | None = None

    def add(self, measure: Measure) -> None:
        """Raises BadHistogram."""
        self.add_counts(decode(measure.histogram), measure.max_us, measure.errors)

    def add_counts(
        self, counts: Iterable[tuple[int, int]], max_us: int | None, errors: Mapping[str, int]
    ) -> None:
        """The same from a histogram that is decoded already."""
        for value, count in counts:
            self.counts[value] += count
        if max_us is not None:
            self.max_us = max_us if self.max_us is None else max(self.max_us, max_us)
        self.errors.update(errors)

    @property
    def n(self) -> int:
        return self.counts.total()

    def percentile(self, percent: str) -> int | None:
        """Nearest rank (ceil); None where n is too small, as in core.percentile."""
        p, n = Fraction(percent), self.n
        if n == 0 or (p > 50 and n < needed(p)):
            return None
        rank, seen = int(-(-p * n // 100)), 0
        for value in sorted(self.counts):
            seen += self.counts[value]
            if seen >= rank:
                return value if self.max_us is None else min(value, self.max_us)
        raise AssertionError("a rank beyond the sample")

    def summary(self) -> LatencySummary:
        return LatencySummary(
            n=self.n,
            p50=self.percentile("50"),
            p90=self.percentile("90"),
            p95=self.percentile("95"),
            p99=self.percentile("99"),
            p999=self.percentile("99.9"),
            max=self.max_us,
            errors=dict(self.errors),
        )


def summarise_measure(measure: Measure) -> LatencySummary:
    """One measure by itself. Raises BadHistogram."""
    latencies = Latencies()
    latencies.add(measure)
    return latencies.summary()
