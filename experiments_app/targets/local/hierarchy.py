"""Which cgroup hierarchies account and limit CPU on this machine: found by looking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from experiments_app.core.errors import TargetError
from experiments_app.targets.local.files import read_text
from experiments_app.targets.local.mounts import (
    Membership,
    Mount,
    parse_memberships,
    parse_mountinfo,
)


class NoCgroups(TargetError):
    """There is no hierarchy here in which CPU can be limited; `code` says why."""


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One mounted hierarchy: its visible top and, where it is shown, our own cgroup in it."""

    top: Path
    own: Path | None
    writable: bool

    def ancestors(self) -> Iterator[Path]:
        """From our own cgroup up to the visible top; only the top when ours is not shown."""
        here = self.own if self.own is not None else self.top
        while here != self.top:
            yield here
            here = here.parent
        yield self.top


@dataclass(frozen=True, slots=True)
class Layout:
    """Where CPU is limited (`cpu`) and, on v1 with a mount of its own, accounted (`cpuacct`).

    `hybrid`: v2 is mounted as well, but the cpu controller is bound to v1.
    """

    version: int
    cpu: Hierarchy
    cpuacct: Hierarchy | None
    hybrid: bool

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        return (self.cpu,) if self.cpuacct is None else (self.cpu, self.cpuacct)


def discover(*, proc: Path = Path("/proc"), fs: Path = Path("/")) -> Layout:
    """Look at the mounts and at our own memberships.

    `proc` and `fs` are where /proc and / are found. Raises NoCgroups with a remedy.
    """
    mountinfo = read_text(proc / "self" / "mountinfo")
    own = read_text(proc / "self" / "cgroup")
    if mountinfo is None or own is None:
        raise NoCgroups(
            f"{proc}/self/mountinfo and {proc}/self/cgroup cannot be read.",
            code="no-proc",
            remedy="The local target needs Linux with /proc mounted.",
        )
    mounts, memberships = parse_mountinfo(mountinfo), parse_memberships(own)
    unified = _unified(mounts, memberships, fs)
    cpu = _named("cpu", mounts, memberships, fs)
    if cpu is not None:
        return _v1(cpu, _named("cpuacct", mounts, memberships, fs), hybrid=unified is not None)
    if unified is None:
        raise NoCgroups(
            "No cgroup file system with the cpu controller is mounted here.",
            code="no-cgroup-mount",
            remedy="Mount it (cgroup2 on /sys/fs/cgroup), or in a container start it with "
            "--privileged or with /sys/fs/cgroup bound in.",
        )
    return Layout(2, unified, None, hybrid=False)


def _v1(cpu: Hierarchy, cpuacct: Hierarchy | None, *, hybrid: bool) -> Layout:
    if cpuacct is None:
        raise NoCgroups(
            "The cpu controller is mounted (cgroup v1), but cpuacct is not: CPU use cannot "
            "be counted.",
            code="controller-missing",
            remedy="Mount it: mount -t cgroup -o cpuacct cgroup /sys/fs/cgroup/cpuacct.",
        )
    joined = cpuacct.top == cpu.top
    return Layout(1, cpu, None if joined else cpuacct, hybrid=hybrid)


def _named(
    controller: str, mounts: tuple[Mount, ...], own: tuple[Membership, ...], fs: Path
) -> Hierarchy | None:
    """The v1 hierarchy of a controller, by the best of its mounts."""
    fitting = [m for m in mounts if m.fstype == "cgroup" and controller in m.options]
    path = next((m.path for m in own if controller in m.controllers), None)
    return _best(fitting, path, fs)


def _unified(mounts: tuple[Mount, ...], own: tuple[Membership, ...], fs: Path) -> Hierarchy | None:
    fitting = [m for m in mounts if m.fstype == "cgroup2"]
    path = next((m.path for m in own if not m.controllers), None)
    return _best(fitting, path, fs)


def _best(mounts: list[Mount], own: str | None, fs: Path) -> Hierarchy | None:
    """Of several mounts of one hierarchy: writable, showing our own cgroup, showing most."""

    def rank(mount: Mount) -> tuple[bool, bool, int]:
        shows_own = own is not None and mount.locate(own, fs) is not None
        return (mount.writable, shows_own, -len(mount.root.strip("/")))

    # A mount point may be hidden by a later mount above it: then its files are not there.
    visible = [m for m in mounts if (m.path(fs) / "cgroup.procs").exists()]
    if not visible:
        return None
    mount = max(visible, key=rank)
    own_dir = mount.locate(own, fs) if own is not None else None
    if own_dir is not None and not own_dir.is_dir():
        own_dir = None
    return Hierarchy(mount.path(fs), own_dir, mount.writable)
