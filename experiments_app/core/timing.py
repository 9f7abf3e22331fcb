"""How long an arm takes, told before it runs: never less than its work can take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments_app.core.records import Limits

if TYPE_CHECKING:
    from experiments_app.core.spec_model import Arm, Container

PREPARE_US = 500_000
# A last reading is taken two full periods after the last work, plus a tick of the kernel.
SETTLE_PERIODS = 2
TICK_US = 10_000
# Starting a process costs CPU beside its work: about this much here, more on a busy machine.
START_CPU_US = 20_000
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


def container_us(container: Container, cpus: int | None) -> int:
    """How long a container's measured work takes, the last counters included, us."""
    limits = container.limits
    span_us = container.workload.span_us(limits, cpus)
    return span_us + SETTLE_PERIODS * limits.period_us + TICK_US


def arm_us(arm: Arm, cpus: int | None = None) -> int:
    """One repeat of an arm from prepare to clean, us; waits between its steps included."""
    waits = sum(step.wait_us for step in arm.steps)
    return PREPARE_US + waits + max(container_us(c, cpus) for c in arm.measured.containers)


def hours(us: int) -> str:
    """A long time for a message, to the minute."""
    minutes = round(us / 60_000_000)
    return f"{minutes // 60} h {minutes % 60} min"
