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
    started us) move to a leaf beside the groups, with cpu off: the kernel takes a directory that
    has both cpu enabled and processes for the root of a threaded subtree, and then no process
    can join any group below, the leaf included. Raises TargetError, or FileNotFoundError when
    the directory has vanished.
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
        _disable_cpu(directory)
        for pid in pids:
            try:
                write_value(home / "cgroup.procs", str(pid))
            except ProcessLookupError:
                continue
            except OSError as error:
                raise TargetError(
                    f"Process {pid} could not be moved from {directory} to {home}: "
                    f"{in_words(error)}.",
                    remedy=_REMEDY,
                    code="cgroup-has-other-processes",
                ) from error
    raise TargetError(
        f"Processes keep appearing in {directory}.",
        remedy=_REMEDY,
        code="cgroup-has-other-processes",
    )


def _disable_cpu(directory: Path) -> None:
    """Off again where an earlier start has enabled it, so that processes can leave downwards.

    Groups below lose their limits by that, so none may be in use. Empty ones may still have it
    on for their own children (what a killed lab has left), and that would keep it on here.
    """
    if "cpu" not in (read_text(directory / "cgroup.subtree_control") or "").split():
        return
    below = [path for path in directory.iterdir() if path.is_dir() and path.name != HOME]
    for path in below:
        if _populated(path):
            raise TargetError(
                f"This process was started in {directory} itself while {path} below it is in "
                "use, and the kernel moves none from there to a group below.",
                remedy=f"Wait until the run there has ended, or start from a process in "
                f"{directory / HOME}, or in a delegated scope of its own: "
                "systemd-run --user --scope -p Delegate=yes ./lab up.",
                code="cgroup-in-use",
            )
    empty = [Path(path) for top in below for path, _, _ in os.walk(top, topdown=False)]
    for path in (*empty, directory):
        try:
            if "cpu" in (read_text(path / "cgroup.subtree_control") or "").split():
                write_value(path / "cgroup.subtree_control", "-cpu")
        except OSError as error:
            raise TargetError(
                f"The cpu controller could not be taken off {path} for a moment, to move "
                f"processes from {directory}: {in_words(error)}.",
                remedy=_REMEDY,
                code="cgroup-in-use",
            ) from error


def _populated(directory: Path) -> bool:
    """Whether a process is in it or in any group below."""
    return "populated 1" in (read_text(directory / "cgroup.events") or "").splitlines()


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
