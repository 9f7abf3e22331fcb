"""cgroup v2: enabling cpu below a directory, past its rule of no internal processes."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from experiments_app.core.errors import TargetError
from experiments_app.targets.local.files import in_words, read_text, write_value

HOME = "throttle-lab-home"
_REMEDY = (
    "Start the lab in a delegated scope: systemd-run --user --scope -p Delegate=yes ./lab up "
    "(or as root)."
)
_TRIES = 20  # a process that forks while it is moved needs another look


def pids_in(directory: Path) -> tuple[int, ...]:
    """Processes in a cgroup, in no order. Those of another pid namespace (0) are left out."""
    text = read_text(directory / "cgroup.procs") or ""
    return tuple(pid for word in text.split() if (pid := int(word)) > 0)


def may_host(directory: Path) -> bool:
    """Whether groups with limits can be made below: no process there, or only our own tree."""
    if not (directory / "cgroup.events").exists():
        return True  # the real root is exempt from the rule
    if "0" in (read_text(directory / "cgroup.procs") or "").split():
        return False
    return not _foreign(directory)


def enable_cpu(directory: Path) -> None:
    """Have cpu in the directory's cgroup.subtree_control, and no process beside its groups.

    Processes in the way that are ours or our caller's (a delegated scope holds the shell that
    started us) move to a leaf beside the groups. They must go first: the kernel lets cpu be
    enabled with them there, but then takes the directory for the root of a threaded subtree,
    in which no process can join a group. Raises TargetError, or FileNotFoundError when the
    directory has vanished.
    """
    if _has_processes(directory) and (directory / "cgroup.events").exists():
        if not may_host(directory):
            raise TargetError(
                f"{directory} holds processes that are not the lab's, so limits cannot be "
                "enabled below it.",
                remedy=_REMEDY,
                code="cgroup-has-other-processes",
            )
        _move_home(directory)
    control = directory / "cgroup.subtree_control"
    if "cpu" in (read_text(control) or "").split():
        return
    try:
        write_value(control, "+cpu")
    except OSError as error:
        # ENOENT is the kernel's word for a controller that is not available here as well.
        if error.errno == errno.ENOENT and not control.exists():
            raise
        raise TargetError(
            f"Could not enable the cpu controller in {control}: {in_words(error)}.",
            remedy=_REMEDY,
            code="controller-missing",
        ) from error


def _has_processes(directory: Path) -> bool:
    return bool(read_text(directory / "cgroup.procs"))


def _move_home(directory: Path) -> None:
    home = directory / HOME
    home.mkdir(exist_ok=True)
    for _ in range(_TRIES):
        pids = pids_in(directory)
        if not pids:
            return
        for pid in pids:
            try:
                write_value(home / "cgroup.procs", str(pid))
            except ProcessLookupError:
                continue
    raise TargetError(
        f"Processes keep appearing in {directory}.",
        remedy=_REMEDY,
    )


def _foreign(directory: Path) -> set[int]:
    """Processes there that do not descend from the topmost of our ancestors that is there."""
    inside = set(pids_in(directory))
    if not inside:
        return set()
    family = os.getpid()
    if family not in inside:
        return inside
    while (parent := _parent(family)) in inside:
        family = parent
    return {pid for pid in inside if not _descends(pid, family)}


def _descends(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        pid = _parent(pid)
    return pid == ancestor


def _parent(pid: int) -> int:
    """The parent's pid; 0 when there is none or the process has ended."""
    text = read_text(Path("/proc") / str(pid) / "status") or ""
    for line in text.splitlines():
        if line.startswith("PPid:"):
            return int(line.split()[1])
    return 0
