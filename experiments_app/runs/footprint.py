"""What the lab itself and the rest of the machine did while a repeat ran."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass

import psutil


@dataclass(frozen=True, slots=True)
class Footprint:
    """Over one repeat: CPU times in microseconds, summed over CPUs; None where unknown.

    `lab_cpu_us` is the process that runs the run (the sampler, the pages and control are not
    in it);
    `steal_us` is what the hypervisor gave to others; `machine_busy_us` is all CPU time
    spent on the machine, the measured groups included. `load_1m` is the load average.
    """

    window_us: int
    lab_cpu_us: int | None
    machine_busy_us: int | None
    steal_us: int | None
    cpus: int
    load_1m: float | None


class FootprintMeter:
    """Take `start` before and `stop` after a repeat."""

    def __init__(self) -> None:
        self._at = time.monotonic()
        self._own = _own_cpu()
        self._machine = psutil.cpu_times()

    def stop(self) -> dict[str, object]:
        machine = psutil.cpu_times()
        return asdict(
            Footprint(
                window_us=int((time.monotonic() - self._at) * 1e6),
                lab_cpu_us=int((_own_cpu() - self._own) * 1e6),
                machine_busy_us=int((_busy(machine) - _busy(self._machine)) * 1e6),
                steal_us=_steal(self._machine, machine),
                cpus=psutil.cpu_count() or 1,
                load_1m=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
            )
        )


def _own_cpu() -> float:
    times = os.times()
    return times.user + times.system


def _busy(times: object) -> float:
    names = ("user", "nice", "system", "irq", "softirq")
    return float(sum(getattr(times, name, 0.0) for name in names))


def _steal(before: object, after: object) -> int | None:
    if not hasattr(after, "steal") or not hasattr(before, "steal"):
        return None
    return int((after.steal - before.steal) * 1e6)
