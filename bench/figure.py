"""What a benchmark reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure; `better` is "lower" or "higher"."""

    bench: str
    name: str
    value: float
    unit: str
    target: float | None = None
    better: str = "lower"
    note: str = ""

    @property
    def met(self) -> bool | None:
        if self.target is None:
            return None
        return self.value <= self.target if self.better == "lower" else self.value >= self.target
