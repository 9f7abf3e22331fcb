"""What the kernel has after prepare, beside what the arm asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from experiments_app.core.errors import ReadbackMismatch
from experiments_app.core.records import Limits, Readback, Tree
from experiments_app.core.weights import weight_linear
from experiments_app.targets.local.cpus import usable
from experiments_app.targets.local.groups import lineage, read_level, tightest
from experiments_app.targets.local.place import Group


def read_back(
    name: str,
    group: Group,
    asked: Limits,
    top: Path,
    *,
    weigh: Callable[[int], int] = weight_linear,
    pinned: Sequence[int] | None = None,
) -> Readback:
    """Compare a group with its arm. Raises ReadbackMismatch naming file, asked and found.

    `pinned`: the CPUs that its programs are kept on; None is all that they could use.
    """
    level = read_level(group.cpu, group.version)
    v1 = group.version == 1
    quota_file = "cpu.cfs_quota_us" if v1 else "cpu.max"
    _same(group.cpu / quota_file, "quota", asked.quota_us, level.quota_us)
    period_file = "cpu.cfs_period_us" if v1 else "cpu.max"
    _same(group.cpu / period_file, "period", asked.period_us, level.period_us)
    burst_file = "cpu.cfs_burst_us" if v1 else "cpu.max.burst"
    _same(group.cpu / burst_file, "burst", asked.burst_us, level.burst_us or 0)
    if asked.shares is not None and v1:
        _same(group.cpu / "cpu.shares", "shares", asked.shares, level.shares)
    elif asked.shares is not None:
        _same(group.cpu / "cpu.weight", "weight", weigh(asked.shares), level.weight)
    found = Limits(
        quota_us=level.quota_us,
        period_us=level.period_us or asked.period_us,
        burst_us=level.burst_us or 0,
        shares=asked.shares if asked.shares is not None else level.shares,
    )
    effective = tightest(group.cpu, group.version, top)
    cpus = len(pinned if pinned is not None else usable(lineage(group.cpu, top)))
    return Readback(
        group=name,
        asked=asked,
        found=found,
        effective_quota_us=effective[0] if effective is not None else None,
        effective_period_us=effective[1] if effective is not None else None,
        effective_at=str(effective[2]) if effective is not None else None,
        cpus=cpus,
        notes=_notes(name, group, asked, effective, cpus),
    )


def tree(name: str, group: Group, top: Path) -> Tree:
    """Every level from the visible top down to the group."""
    levels = reversed(lineage(group.cpu, top))
    return Tree(name, tuple(read_level(level, group.version) for level in levels))


def _same(path: Path, what: str, asked: int | None, found: int | None) -> None:
    if asked != found:
        words = ["none" if value is None else str(value) for value in (asked, found)]
        raise ReadbackMismatch(
            f"The {what} in {path} is {words[1]}, but {words[0]} was asked for and written.",
            remedy="Something else on this machine manages this cgroup; stop it and run again.",
        )


def _notes(
    name: str,
    group: Group,
    asked: Limits,
    effective: tuple[int, int, Path] | None,
    cpus: int,
) -> tuple[str, ...]:
    own = f"the limit asked for ({_cpus(asked.quota_us, asked.period_us)})"
    if effective is not None and effective[2] != group.cpu:
        quota, period, where = effective
        text = (
            f"The group {name} has less than {own}: its ancestor {where} is limited to "
            f"{_cpus(quota, period)}, {quota}/{period} us, shared by everything below it. "
            f"It sees {cpus} CPU{'s' if cpus != 1 else ''}."
        )
        return (text,)
    if asked.quota_us is not None and Fraction(asked.quota_us, asked.period_us) > cpus:
        return (f"The group {name} sees {cpus} CPUs, fewer than {own}: it cannot bind.",)
    return ()


def _cpus(quota_us: int | None, period_us: int) -> str:
    return "none" if quota_us is None else f"{quota_us / period_us:g} CPU"
