"""Making cgroups, writing their limits, and reading what the kernel then has."""

from __future__ import annotations

import errno
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from experiments_app.core.cpustat import FileGone
from experiments_app.core.errors import SpecError, TargetError
from experiments_app.core.quantity import CpuMax, format_cpu_max, parse_cpu_max
from experiments_app.core.records import Limits, TreeLevel
from experiments_app.core.weights import weight_linear
from experiments_app.targets.local.delegation import enable_cpu
from experiments_app.targets.local.files import (
    in_words,
    read_int,
    read_text,
    write_value,
)
from experiments_app.targets.local.place import Group, Place

_TRIES = 5


def create(place: Place, *names: str) -> Group:
    """Make BASE/throttle-lab/NAMES..., with cpu enabled all the way on v2.

    Levels above the last may be there already; the last must be new. Raises TargetError.
    """
    for attempt in range(_TRIES):
        try:
            for depth in range(len(names) + 1):
                level = place.group(*names[:depth])
                if place.version == 2:
                    enable_cpu(level.cpu.parent)
                for directory in level.dirs:
                    _make(directory, fresh=depth == len(names) and attempt == 0)
            return place.group(*names)
        except FileNotFoundError:
            # Another run's cleanup took an empty level from between our steps.
            continue
    raise TargetError(
        f"Could not make the cgroup {place.group(*names).cpu}: levels above it keep vanishing.",
        remedy="See what else removes cgroups on this machine.",
    )


def _make(directory: Path, *, fresh: bool) -> None:
    try:
        directory.mkdir()
    except FileExistsError:
        if not fresh:
            return
        raise TargetError(
            f"The cgroup {directory} is there already.",
            remedy="It was left by another run of this name; clean that up first.",
        ) from None
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TargetError(
            f"Could not make the cgroup {directory}: {in_words(error)}.",
            remedy="Check the permission of its parent and that the file system is writable.",
        ) from error


def apply(
    group: Group, limits: Limits, top: Path, weigh: Callable[[int], int] = weight_linear
) -> None:
    """Write an arm's limits and weight, after those of the groups above: v1 compares them.

    `top`: where the search for a tighter parent ends; `weigh`: cpu.weight (v2) for shares.
    """
    try:
        if group.version == 1:
            _apply_v1(group.cpu, limits)
        else:
            _apply_v2(group.cpu, limits, weigh)
    except OSError as error:
        raise _refusal(group, limits, top, error) from error


def _apply_v1(cpu: Path, limits: Limits) -> None:
    # From no quota, so that no half-written ratio is ever compared with the parent's, and
    # burst first to 0, since burst <= quota is checked at each write.
    write_value(cpu / "cpu.cfs_quota_us", "-1")
    burst = cpu / "cpu.cfs_burst_us"
    if burst.exists():
        write_value(burst, "0")
    write_value(cpu / "cpu.cfs_period_us", str(limits.period_us))
    if limits.quota_us is not None:
        write_value(cpu / "cpu.cfs_quota_us", str(limits.quota_us))
    if limits.burst_us:
        _need_burst(burst)
        write_value(burst, str(limits.burst_us))
    if limits.shares is not None:
        write_value(cpu / "cpu.shares", str(limits.shares))


def _apply_v2(cpu: Path, limits: Limits, weigh: Callable[[int], int]) -> None:
    burst = cpu / "cpu.max.burst"
    if burst.exists():
        write_value(burst, "0")
    write_value(cpu / "cpu.max", format_cpu_max(CpuMax(limits.quota_us, limits.period_us)))
    if limits.burst_us:
        _need_burst(burst)
        write_value(burst, str(limits.burst_us))
    if limits.shares is not None:
        write_value(cpu / "cpu.weight", str(weigh(limits.shares)))


def _need_burst(path: Path) -> None:
    if not path.exists():
        raise TargetError(
            f"This kernel has no {path.name}: a burst allowance cannot be set.",
            remedy="Use Linux 5.14 or later, or an arm without burst.",
        )


def _refusal(group: Group, limits: Limits, top: Path, error: OSError) -> TargetError:
    asked = format_cpu_max(CpuMax(limits.quota_us, limits.period_us))
    text = (
        f"The kernel refused quota and period {asked} us (burst {limits.burst_us}) for "
        f"{group.cpu}: {in_words(error)}."
    )
    if error.errno != errno.EINVAL:
        return TargetError(text, remedy="Run ./lab doctor: it tries the same and explains it.")
    parent = tightest(group.cpu.parent, group.version, top)
    if parent is not None:
        ratio = Fraction(*parent[:2])
        asked_ratio = Fraction(limits.quota_us or 0, limits.period_us)
        if asked_ratio > ratio:
            return TargetError(
                f"{text} Its ancestor {parent[2]} is limited to {parent[0]}/{parent[1]} us "
                f"({float(ratio):g} CPUs), and cgroup v1 refuses a child more than its parent.",
                remedy="Raise the ancestor's limit, or ask for no more than it has.",
                code="limit-above-parent",
            )
    return TargetError(
        text,
        remedy="Quota is at least 1000 us, period 1000 to 1000000 us, burst at most the quota.",
    )


def read_cpu_max(cpu: Path, version: int) -> CpuMax | None:
    """A level's own quota and period; None where it has none to set (a root)."""
    if version == 2:
        text = read_text(cpu / "cpu.max")
        try:
            return parse_cpu_max(text) if text is not None else None
        except SpecError:
            return None
    quota, period = read_int(cpu / "cpu.cfs_quota_us"), read_int(cpu / "cpu.cfs_period_us")
    if quota is None or not period:
        return None
    return CpuMax(quota if quota >= 0 else None, period)


def read_level(cpu: Path, version: int) -> TreeLevel:
    """What one level has, None for each file that is not there."""
    limit = read_cpu_max(cpu, version)
    v1 = version == 1
    return TreeLevel(
        path=str(cpu),
        quota_us=limit.quota_us if limit is not None else None,
        period_us=limit.period_us if limit is not None else None,
        burst_us=read_int(cpu / ("cpu.cfs_burst_us" if v1 else "cpu.max.burst")),
        weight=None if v1 else read_int(cpu / "cpu.weight"),
        shares=read_int(cpu / "cpu.shares") if v1 else None,
    )


def lineage(cpu: Path, top: Path) -> tuple[Path, ...]:
    """The group's directory and its ancestors up to the visible top, nearest first."""
    found = [cpu]
    while found[-1] != top and found[-1] != found[-1].parent:
        found.append(found[-1].parent)
    return tuple(found)


def tightest(cpu: Path, version: int, top: Path) -> tuple[int, int, Path] | None:
    """The smallest quota/period of a group and its ancestors: (quota, period, where).

    None where no level has a limit. Of equals the nearest is named.
    """
    best: tuple[int, int, Path] | None = None
    for level in lineage(cpu, top):
        limit = read_cpu_max(level, version)
        if limit is None or limit.quota_us is None:
            continue
        ratio = Fraction(limit.quota_us, limit.period_us)
        if best is None or ratio < Fraction(best[0], best[1]):
            best = (limit.quota_us, limit.period_us, level)
    return best


def raise_quota(directory: Path) -> None:
    """Lift a group's own limit so that frozen processes in it can die; what fails is no matter.

    Nothing of the measurement depends on it any more, and the kill works without, slower.
    """
    for name, value in (("cpu.max", "max"), ("cpu.cfs_quota_us", "-1")):
        path = directory / name
        if path.exists():
            try:
                write_value(path, value)
            except OSError:
                continue


def gone(group: Group) -> FileGone | None:
    """Which of the group's directories is no longer there."""
    missing = next((d for d in group.dirs if not d.is_dir()), None)
    return None if missing is None else FileGone(str(missing), "the cgroup was removed")
