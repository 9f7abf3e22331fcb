"""Docker's way of writing a CPU limit: --cpus, --cpu-quota and --cpu-period."""

from __future__ import annotations

from experiments_app.core.errors import SpecError
from experiments_app.core.quantity import (
    DEFAULT_PERIOD_US,
    MIN_QUOTA_US,
    CpuMax,
    check_period,
    decimal_to_fraction,
    format_duration,
    shown,
)

NANO = 1_000_000_000


def parse_docker_cpus(text: str) -> int:
    """Read the value of --cpus as nano-CPUs (a billionth of a CPU), exactly.

    Raises SpecError for what is no plain decimal, is finer than a nano-CPU (Docker: "value
    is too precise"), or is below Docker's smallest, 0.01.
    """
    cpus = decimal_to_fraction(text)
    if cpus is None:
        raise SpecError(f"--cpus {shown(text)} is not a number.", remedy='Write "0.5" or "2".')
    nano = cpus * NANO
    if nano.denominator != 1:
        raise SpecError(
            f"--cpus {shown(text)} is too precise: Docker takes nine decimals.",
            remedy="Round it to nine decimals.",
        )
    if nano < NANO // 100:
        raise SpecError(
            f"--cpus {shown(text)} is below Docker's smallest, 0.01.",
            remedy="Give at least 0.01, or leave --cpus out for no limit.",
        )
    return int(nano)


def nano_to_quota(nano_cpus: int, period_us: int = DEFAULT_PERIOD_US) -> int:
    """The quota (us) that nano-CPUs mean at a period (us), rounded down as Docker does."""
    check_period(period_us)
    return nano_cpus * period_us // NANO


def docker_limit(
    *, cpus: str | None = None, quota_us: int | None = None, period_us: int | None = None
) -> CpuMax:
    """The limit that a set of Docker flags means.

    Docker refuses --cpus beside --cpu-period or --cpu-quota, since --cpus sets both; so does
    this, naming them and the way out. Raises SpecError.
    """
    if cpus is None:
        period = DEFAULT_PERIOD_US if period_us is None else period_us
        check_period(period)
        if quota_us is not None and quota_us < MIN_QUOTA_US:
            raise SpecError(
                f"--cpu-quota {quota_us} is below the kernel's smallest, {MIN_QUOTA_US} us.",
                remedy="Give a larger quota, or leave it out for no limit.",
            )
        return CpuMax(quota_us, period)
    nano = parse_docker_cpus(cpus)
    if quota_us is not None:
        raise SpecError(
            f"--cpus {cpus} and --cpu-quota {quota_us} both set the quota; Docker refuses them "
            "together.",
            remedy="Keep one of the two.",
        )
    if period_us is not None:
        quota = nano_to_quota(nano, period_us)
        raise SpecError(
            f"--cpus {cpus} and --cpu-period {period_us} cannot be given together: --cpus brings "
            f"its own period of {format_duration(DEFAULT_PERIOD_US)}, and Docker refuses both.",
            remedy=f"Give quota and period instead: --cpu-quota {quota} --cpu-period {period_us}.",
        )
    return CpuMax(nano_to_quota(nano), DEFAULT_PERIOD_US)
