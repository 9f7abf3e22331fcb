"""How long an arm takes, told before it runs: never less than its work can take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments_app.core.records import Limits
from experiments_app.core.workloads import Burst

if TYPE_CHECKING:
    from experiments_app.core.spec_model import Arm, Container

PREPARE_US = 500_000
# A last reading is taken two full periods after the last work, plus a tick of the kernel.
SETTLE_PERIODS = 2
TICK_US = 10_000
INFO_US = 500_000
MAX_RUN_US = 6 * 3_600_000_000

DEFAULT_HZ = 50
MAX_HZ = 500
SAMPLES_A_PERIOD = 5


def sample_hz(limits: Limits) -> int:
    """How often to read counters a second: 50, or five a period, at most 500.

    Without a limit there is no period to resolve.
    """
    if limits.quota_us is None:
        return DEFAULT_HZ
    wanted = -(-SAMPLES_A_PERIOD * 1_000_000 // limits.period_us)
    return min(MAX_HZ, max(DEFAULT_HZ, wanted))


def burst_wall_us(burst: Burst, cpus: int | None) -> int:
    """A lower bound for the wall of one round without a limit, us.

    No thread burns its work faster than the clock, and the CPUs (None: not known) share the
    work of all threads.
    """
    if cpus is None:
        return burst.work_us
    return max(burst.work_us, -(-burst.round_cpu_us // cpus))


def burst_pace_us(burst: Burst, limits: Limits, cpus: int | None) -> int:
    """From one round to the next (us): the interval, or what CPUs and limit make of it.

    Over many rounds a limit gives quota / period CPUs; rounds that are due faster queue.
    """
    pace = max(burst.interval_us, burst_wall_us(burst, cpus))
    if limits.quota_us is not None:
        pace = max(pace, -(-burst.round_cpu_us * limits.period_us // limits.quota_us))
    return pace


def container_us(container: Container, cpus: int | None) -> int:
    """How long a container's measured work takes, us."""
    work = container.workload
    if not isinstance(work, Burst):
        return INFO_US
    limits = container.limits
    pace = burst_pace_us(work, limits, cpus)
    return work.rounds * pace + work.jitter_us + SETTLE_PERIODS * limits.period_us + TICK_US


def arm_us(arm: Arm, cpus: int | None = None) -> int:
    """One repeat of an arm from prepare to clean, us; waits between its steps included."""
    waits = sum(step.wait_us for step in arm.steps)
    return PREPARE_US + waits + max(container_us(c, cpus) for c in arm.measured.containers)


def hours(us: int) -> str:
    """A long time for a message, to the minute."""
    minutes = round(us / 60_000_000)
    return f"{minutes // 60} h {minutes % 60} min"
