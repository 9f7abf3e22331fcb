"""What a pod of several containers gets as a whole, as the kubelet makes it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from experiments_app.core.quantity import DEFAULT_PERIOD_US, MIN_QUOTA_US
from experiments_app.core.records import Limits
from experiments_app.core.weights import shares_from_milli

if TYPE_CHECKING:
    from experiments_app.core.spec_model import Container


def whole_limits(containers: Sequence[Container]) -> Limits:
    """The limits of the pod around these containers.

    Shares of the sum of the requests, if there is any; a quota of the sum of the limits only
    if every container has one, at their period where they agree on it, else 100 ms. The
    burst is the sum too: without one above them the containers' own could not be used.
    """
    requests = [c.request_milli for c in containers if c.request_milli is not None]
    shares = shares_from_milli(sum(requests)) if requests else None
    periods = {c.period_us for c in containers}
    period_us = periods.pop() if len(periods) == 1 else DEFAULT_PERIOD_US
    quotas = [c.limits.quota_us for c in containers]
    known = [quota for quota in quotas if quota is not None]
    if len(known) < len(quotas):
        return Limits(None, period_us, 0, shares)
    # In the kernel's terms and rounded up: v1 refuses a container that has more than its pod.
    pairs = zip(known, containers, strict=True)
    total = sum((Fraction(quota, c.period_us) for quota, c in pairs), Fraction(0))
    quota_us = max(MIN_QUOTA_US, -(-total.numerator * period_us // total.denominator))
    return Limits(quota_us, period_us, min(quota_us, sum(c.burst_us for c in containers)), shares)
