"""Removing what a run left: end the processes in its cgroups, then the cgroups."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from experiments_app.core.errors import TargetError
from experiments_app.targets.local.delegation import pids_in
from experiments_app.targets.local.files import in_words, write_value
from experiments_app.targets.local.groups import raise_quota

_DEADLINE_S = 10.0
_PAUSE_S = 0.005


def remove(trees: Iterable[Path], *, deadline_s: float = _DEADLINE_S) -> tuple[str, ...]:
    """Kill everything in these cgroup trees and remove them; returns what was removed.

    A tree that is not there is no error. Raises TargetError when something stays.
    """
    found = [directory for top in trees for directory in _bottom_up(top)]
    for directory in found:
        raise_quota(directory)
    end = time.monotonic() + deadline_s
    removed = []
    for directory in found:
        if _remove(directory, end):
            removed.append(str(directory))
    return tuple(removed)


def kill(trees: Iterable[Path]) -> bool:
    """One SIGKILL to every process in these trees; whether there was any."""
    any_left = False
    for directory in [d for top in trees for d in _bottom_up(top)]:
        raise_quota(directory)
        any_left = _kill_in(directory) or any_left
    return any_left


def prune(directory: Path, *, up_to: Path) -> None:
    """Remove a directory and its parents up to and with `up_to`, as far as they are empty."""
    while directory.is_relative_to(up_to):
        try:
            # An administrator may have made the top one for us; that one is not ours to take.
            if directory.stat().st_uid != os.geteuid():
                return
            directory.rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            return  # in use by another run, or its parent is not ours: it may stay
        directory = directory.parent


def _remove(directory: Path, end: float) -> bool:
    """Whether the directory was there. Kills and tries until it is gone or time is up."""
    while True:
        _kill_in(directory)
        try:
            directory.rmdir()
            return True
        except FileNotFoundError:
            return False
        except OSError as error:
            # EBUSY: a process is still dying, or one appeared in a child meanwhile.
            if error.errno not in (errno.EBUSY, errno.ENOTEMPTY) or time.monotonic() > end:
                raise _stays(directory, error) from error
        for child in _bottom_up(directory)[:-1]:
            _remove(child, end)
        time.sleep(_PAUSE_S)


def _stays(directory: Path, error: OSError) -> TargetError:
    pids = pids_in(directory)
    left = f" Processes still in it: {', '.join(map(str, pids))}." if pids else ""
    return TargetError(
        f"The cgroup {directory} could not be removed: {in_words(error)}.{left}",
        remedy=f"End them and remove it by hand: rmdir {directory}.",
        code="cleanup-failed",
    )


def _bottom_up(top: Path) -> list[Path]:
    """The directories of a tree, children before parents; empty when it is not there."""
    return [Path(path) for path, _, _ in os.walk(top, topdown=False)]


def _kill_in(directory: Path) -> bool:
    pids = pids_in(directory)
    if not pids:
        return False
    with contextlib.suppress(OSError):
        write_value(directory / "cgroup.kill", "1")  # v2 from 5.14: no race with forks
    for pid in pids:
        _kill(pid, directory)
    return True


def _kill(pid: int, directory: Path) -> None:
    """SIGKILL by pidfd: the number may have been given to another process since it was read."""
    if sys.platform != "linux" or pid == os.getpid():
        return
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except OSError:  # a kernel or sandbox without pidfds
        if pid in pids_in(directory):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return
    try:
        if pid in pids_in(directory):
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(fd, signal.SIGKILL)
    finally:
        os.close(fd)
