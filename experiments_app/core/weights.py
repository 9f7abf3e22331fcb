"""How a CPU request becomes shares (cgroup v1) and a weight (cgroup v2)."""

from __future__ import annotations

import math

MIN_SHARES = 2
MAX_SHARES = 262_144
MIN_WEIGHT = 1
MAX_WEIGHT = 10_000


def shares_from_milli(millicpu: int | None) -> int:
    """cpu.shares for a request in millicpu, as the kubelet computes it.

    shares = min(262144, max(2, millicpu * 1024 / 1000)), integer; no request is 2.
    """
    if millicpu is None:
        return MIN_SHARES
    return min(MAX_SHARES, max(MIN_SHARES, millicpu * 1024 // 1000))


def weight_linear(shares: int) -> int:
    """cpu.weight for shares: the kubelet's pod, QoS and kubepods levels, and old runtimes.

    1 + (shares - 2) * 9999 / 262142, integer. Container level too for runc before 1.3.2 and
    crun before 1.23.
    """
    clamped = min(MAX_SHARES, max(MIN_SHARES, shares))
    return 1 + (clamped - MIN_SHARES) * 9999 // 262_142


def weight_new(shares: int) -> int:
    """cpu.weight for shares at container level: runc from 1.3.2, crun from 1.23.

    With L = log2(shares): ceil(10 ^ ((L*L + 125*L) / 612 - 7/34)); 1 at 2 shares or fewer,
    10000 at 262144 or more. It keeps 1024 shares at the default weight, 100.
    """
    if shares <= MIN_SHARES:
        return MIN_WEIGHT
    if shares >= MAX_SHARES:
        return MAX_WEIGHT
    log = math.log2(shares)
    return math.ceil(10 ** ((log * log + 125 * log) / 612 - 7 / 34))
