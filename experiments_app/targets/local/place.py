"""The directory under which the lab may make its cgroups, and the names it uses there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from experiments_app.core.errors import LabError, TargetError
from experiments_app.targets.local.delegation import HOME, may_host
from experiments_app.targets.local.files import read_text
from experiments_app.targets.local.hierarchy import Hierarchy, Layout

ROOT = "throttle-lab"
SAMPLER = ".sampler"  # a leading dot: no group can have this name
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")

SCOPE_REMEDY = (
    "Start the lab in a delegated scope: systemd-run --user --scope -p Delegate=yes ./lab up "
    "(or as root)."
)
_CONTROLLER_REMEDY = (
    "Delegate it: sudo systemctl set-property user@$(id -u).service Delegate='cpu cpuset memory "
    "pids', sign in again, then systemd-run --user --scope -p Delegate=yes ./lab up; or start "
    "the lab as root."
)
_READ_ONLY_REMEDY = (
    "Remount it read-write; in a container start it with --privileged, or with "
    "-v /sys/fs/cgroup:/sys/fs/cgroup:rw --cgroupns=host."
)


class NoPlace(TargetError):
    """Nowhere on this machine may the lab make a cgroup; `code` says why."""


@dataclass(frozen=True, slots=True)
class Group:
    """One cgroup: its directory, and on v1 its twin where cpuacct has a mount of its own."""

    version: int
    cpu: Path
    cpuacct: Path | None

    @property
    def dirs(self) -> tuple[Path, ...]:
        return (self.cpu,) if self.cpuacct is None else (self.cpu, self.cpuacct)

    @property
    def procs(self) -> tuple[Path, ...]:
        """The files that a process writes itself into to join."""
        return tuple(directory / "cgroup.procs" for directory in self.dirs)


@dataclass(frozen=True, slots=True)
class Place:
    """`base`: where the lab's own root goes; `layout`: what it was chosen from."""

    layout: Layout
    base: Group

    @property
    def version(self) -> int:
        return self.layout.version

    def group(self, *names: str) -> Group:
        """The cgroup BASE/throttle-lab/NAMES... in every hierarchy that matters."""
        cpuacct = self.base.cpuacct
        return Group(
            self.version,
            self.base.cpu.joinpath(ROOT, *names),
            cpuacct.joinpath(ROOT, *names) if cpuacct is not None else None,
        )


def check_name(kind: str, name: str) -> str:
    """A lab, run, repeat or group becomes a directory: no way out of ours by its name."""
    if not _NAME.fullmatch(name):
        raise LabError(
            f"The {kind} name {name!r} cannot name a cgroup.",
            code="bad-name",
            remedy="Use 1 to 63 of a-z, 0-9 and '-', not '-' at an end.",
        )
    return name


def choose(layout: Layout, *, euid: int) -> Place:
    """Root: the visible top. Otherwise the nearest ancestor of our own cgroup that is ours.

    Only looks; `delegation.enable_cpu` makes it fit. Raises NoPlace with a remedy.
    """
    bases = []
    for hierarchy in layout.hierarchies:
        if not hierarchy.writable:
            raise NoPlace(
                f"The cgroup file system at {hierarchy.top} is mounted read-only.",
                code="read-only-cgroupfs",
                remedy=_READ_ONLY_REMEDY,
            )
        candidates = tuple(_candidates(hierarchy, euid))
        bases.append(_v1(candidates) if layout.version == 1 else _v2(candidates))
    return Place(layout, Group(layout.version, bases[0], bases[1] if len(bases) > 1 else None))


def every_root(layout: Layout) -> Iterator[Path]:
    """Each directory in which any process of the lab on this machine may have made groups."""
    for hierarchy in layout.hierarchies:
        for directory in hierarchy.ancestors():
            if (directory / ROOT).is_dir():
                yield directory / ROOT


def _candidates(hierarchy: Hierarchy, euid: int) -> Iterator[Path]:
    if euid == 0:
        yield hierarchy.top
    for directory in hierarchy.ancestors():
        # HOME is where the lab moved its own processes: groups go beside it, never inside.
        if directory.name != HOME and (euid != 0 or directory != hierarchy.top):
            yield directory


def _ours(directory: Path) -> bool:
    return os.access(directory, os.W_OK | os.X_OK)


def _v1(candidates: tuple[Path, ...]) -> Path:
    """v1 asks for no right on a common ancestor: a directory handed to us anywhere will do."""
    for directory in candidates:
        if _ours(directory) or _ours(directory / ROOT):
            return directory
    at = candidates[-1] / ROOT
    raise NoPlace(
        f"No permission to make a cgroup in {candidates[-1]} or in any group that this "
        "process is in.",
        code="permission",
        remedy=f"Have one handed over: sudo mkdir -p {at} && sudo chown $USER {at} (the same "
        "for cpuacct where it has a mount of its own), or start the lab as root.",
    )


def _v2(candidates: tuple[Path, ...]) -> Path:
    writable = [d for d in candidates if _ours(d) and os.access(d / "cgroup.procs", os.W_OK)]
    if not writable:
        raise NoPlace(
            f"No permission to make a cgroup in {candidates[0]} or in any group above it.",
            code="permission",
            remedy=SCOPE_REMEDY,
        )
    with_cpu = [d for d in writable if _has_cpu(d / "cgroup.controllers")]
    if not with_cpu:
        raise NoPlace(
            f"The cpu controller is not available in {writable[0]} (its cgroup.controllers does "
            "not list it), so no limit can be set there.",
            code="controller-missing",
            remedy=_CONTROLLER_REMEDY,
        )
    for directory in with_cpu:
        if may_host(directory):
            return directory
    raise NoPlace(
        f"{with_cpu[0]} holds processes that are not the lab's, so limits cannot be enabled "
        "below it (cgroup v2 allows no processes beside groups with a limit).",
        code="cgroup-has-other-processes",
        remedy=SCOPE_REMEDY,
    )


def _has_cpu(path: Path) -> bool:
    return "cpu" in (read_text(path) or "").split()
