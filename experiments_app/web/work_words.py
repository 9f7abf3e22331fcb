"""What a container does, in a sentence for a table."""

from __future__ import annotations

from experiments_app.core.workloads import (
    Burst,
    Info,
    Load,
    Parallel,
    Requests,
    Serve,
    Spin,
    Tasks,
    Workload,
)
from experiments_app.templatetags.quantities import NBSP, count, number


def work_words(work: Workload) -> str:
    """The workload with all that decides its result; times as short as they can be said."""
    match work:
        case Burst():
            jitter = f", up to {span(work.jitter_us)} later at random" if work.jitter_us else ""
            return (
                f"{_many(work.threads, 'thread')} × {span(work.work_us)} of CPU every "
                f"{span(work.interval_us)}{jitter}, {count(work.rounds)} times"
            )
        case Tasks():
            gap = f"with {span(work.gap_us)} off the CPU between two" if work.gap_us else ""
            return (
                f"{_many(work.count, 'task')} of {span(work.work_us)} CPU, {gap or 'back to back'}"
            )
        case Parallel():
            gap = f", {span(work.gap_us)} apart" if work.gap_us else ""
            return (
                f"{_many(work.processes, 'process', 'processes')} at once × "
                f"{span(work.work_us)} of CPU, {count(work.rounds)} times{gap}"
            )
        case Spin():
            until = f"for {span(work.duration_us)}" if work.duration_us else "until the arm ends"
            busy = _many(work.threads, "busy thread")
            return f"{busy} {until}, a report every {span(work.report_us)}"
        case Requests():
            return (
                f"{_many(work.threads, 'thread')}, request after request of "
                f"{count(work.steps)} steps, for {span(work.duration_us)}"
            )
        case Serve():
            return (
                f"serves: {span(work.work_us)} of CPU and {work.alloc} of memory a request, "
                f"{work.live} in use"
            )
        case Load():
            return _load_words(work)
        case Info():
            return "tells what it sees" + (" and stays up" if work.hold else "")


def _load_words(work: Load) -> str:
    each = "evenly spaced" if work.arrivals == "constant" else "at random times"
    clump = f"in clumps of {count(work.clump)} " if work.clump > 1 else ""
    pings = f" and {count(work.ping_rate)} empty ones" if work.ping_rate else ""
    fresh = ", a new connection for each" if work.connections == "new" else ""
    return (
        f"sends {work.to} {count(work.rate)} requests a second {clump}{each}{pings}{fresh}; "
        f"{span(work.duration_us)} counted after {span(work.warmup_us)} of warm-up"
    )


def span(us: int) -> str:
    """A setting's time: whole seconds and minutes where it is made of them, else ms."""
    if us and us % 60_000_000 == 0 and us > 60_000_000:
        return f"{us // 60_000_000}{NBSP}min"
    if us and us % 1_000_000 == 0:
        return f"{us // 1_000_000}{NBSP}s"
    return f"{us // 1000 if us % 1000 == 0 else number(us / 1000)}{NBSP}ms"


def _many(n: int, one: str, several: str = "") -> str:
    return f"{count(n)} {one if n == 1 else several or one + 's'}"
