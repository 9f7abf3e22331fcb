"""Quantities as a terminal shows them: a unit with each, n/m where nothing was measured."""

from __future__ import annotations

NOT_MEASURED = "n/m"


def three(value: float) -> str:
    """Three significant digits, no exponent."""
    if value == 0:
        return "0"
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}"


def time_text(us: int | None) -> str:
    """Milliseconds, seconds from ten seconds on."""
    if us is None:
        return NOT_MEASURED
    return f"{three(us / 1e6)} s" if us >= 10_000_000 else f"{three(us / 1e3)} ms"


def latency(us: int | None) -> str:
    """Microseconds below a millisecond, else as any time."""
    return f"{us} us" if us is not None and us < 1_000 else time_text(us)


def cpus(milli: int | None) -> str:
    """CPUs from thousandths."""
    return NOT_MEASURED if milli is None else f"{milli / 1000:.3f}"


def cpu_time(us: int | None) -> str:
    """CPU time summed over CPUs."""
    if us is None:
        return NOT_MEASURED
    return f"{three(us / 1e6)} CPU s" if us >= 1_000_000 else f"{three(us / 1e3)} CPU ms"


def count(value: int | None) -> str:
    return NOT_MEASURED if value is None else f"{value}"
