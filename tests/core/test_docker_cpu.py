"""Docker's CPU flags."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments_app.core.docker_cpu import docker_limit, nano_to_quota, parse_docker_cpus
from experiments_app.core.errors import SpecError
from experiments_app.core.quantity import CpuMax


@pytest.mark.parametrize(
    ("text", "nano", "quota_us"),
    [("0.5", 500_000_000, 50_000), ("2", 2_000_000_000, 200_000), (".01", 10_000_000, 1_000)],
)
def test_cpus_become_nano_cpus_and_a_quota(text: str, nano: int, quota_us: int) -> None:
    assert parse_docker_cpus(text) == nano
    assert nano_to_quota(nano) == quota_us
    assert docker_limit(cpus=text) == CpuMax(quota_us, 100_000)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("half", "not a number"),
        ("-1", "not a number"),
        ("1e3", "not a number"),
        ("500m", "not a number"),
        ("0.0000000001", "too precise"),
        ("0", "below Docker's smallest"),
        ("0.001", "below Docker's smallest"),
    ],
)
def test_wrong_cpus_say_why(text: str, why: str) -> None:
    with pytest.raises(SpecError, match=why) as error:
        parse_docker_cpus(text)
    assert error.value.remedy


def test_cpus_with_a_period_names_both_flags_and_the_way_out() -> None:
    """docker/for-linux #558: the two flags together are refused."""
    with pytest.raises(SpecError) as error:
        docker_limit(cpus="0.5", period_us=10_000)
    assert "--cpus 0.5" in error.value.message
    assert "--cpu-period 10000" in error.value.message
    assert "--cpu-quota 5000 --cpu-period 10000" in error.value.remedy
    assert docker_limit(quota_us=5_000, period_us=10_000) == CpuMax(5_000, 10_000)


def test_cpus_with_a_quota_is_refused() -> None:
    with pytest.raises(SpecError, match="--cpu-quota"):
        docker_limit(cpus="0.5", quota_us=50_000)


def test_no_flags_is_no_limit() -> None:
    assert docker_limit() == CpuMax(None, 100_000)


@pytest.mark.parametrize(("quota_us", "period_us"), [(999, None), (5_000, 999), (5_000, 10**7)])
def test_what_the_kernel_refuses_is_refused(quota_us: int, period_us: int | None) -> None:
    with pytest.raises(SpecError):
        docker_limit(quota_us=quota_us, period_us=period_us)


@settings(deadline=None)
@given(st.integers(10, 1_000_000), st.sampled_from([1_000, 10_000, 100_000, 1_000_000]))
def test_a_milli_cpu_is_exact_at_round_periods(milli: int, period_us: int) -> None:
    nano = parse_docker_cpus(f"{milli // 1000}.{milli % 1000:03d}")
    assert nano == milli * 1_000_000
    assert nano_to_quota(nano, period_us) == milli * period_us // 1000
