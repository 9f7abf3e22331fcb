"""Trying for real whether experiments can run here: a group, a limit, a process in it."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from pathlib import Path

from experiments_app.core.errors import LabError, TargetError
from experiments_app.core.records import Limits
from experiments_app.targets.base import Problem
from experiments_app.targets.local import groups, sweep
from experiments_app.targets.local.files import in_words
from experiments_app.targets.local.jobs import binary
from experiments_app.targets.local.place import Group, Place
from experiments_app.targets.local.readback import read_back

LAB = ".probe"  # a leading dot: no lab can have this name
_LIMITS = Limits(quota_us=50_000, period_us=100_000)
_TIMEOUT_S = 5.0


def probe(place: Place, builds: dict[str, Path]) -> tuple[Problem, ...]:
    """Make a group, limit it, start a process in it, read back, remove; problems found.

    Never raises, and leaves nothing, not even what a probe that was killed has left.
    """
    problems: list[Problem] = []
    name = f"{os.getpid()}-{secrets.token_hex(4)}"
    top = place.layout.cpu.top
    try:
        _remove_dead(place)
        group = groups.create(place, LAB, name)
        groups.apply(group, _LIMITS, top)
        read_back("probe", group, _LIMITS, top)
        for build in builds or ("go1.25",):
            try:
                _join(group, binary(builds, build))
            except LabError as error:
                problems.append(as_problem(error))
    except LabError as error:
        problems.append(as_problem(error))
    except OSError as error:
        problems.append(Problem("probe-failed", in_words(error), "See the kernel's log."))
    try:
        _clean(place, name)
    except LabError as error:
        problems.append(as_problem(error))
    return tuple(problems)


def as_problem(error: LabError) -> Problem:
    return Problem(error.code, error.message, error.remedy)


def _join(group: Group, program: Path) -> None:
    """cpulab itself says which limit it sees from inside."""
    joins = [word for path in group.procs for word in ("--join", str(path))]
    command = [str(program), "exec", *joins, "--", str(program), "info"]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            env={"PATH": os.defpath},
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TargetError(
            f"{program} info did not answer within {_TIMEOUT_S:g} s in {group.cpu}.",
            remedy="The machine may be overloaded: look at its load.",
            code="join-failed",
        ) from error
    except OSError as error:
        raise TargetError(
            f"{program} cannot be started: {in_words(error)}.",
            remedy="Build it again for this machine: ./lab up does.",
            code="cpulab-missing",
        ) from error
    if done.returncode != 0:
        raise TargetError(
            f"A process could not start inside {group.cpu} (exit status {done.returncode}): "
            f"{done.stderr.decode(errors='replace').strip()}",
            remedy="The lab must be allowed to move its processes there: start it as root or in "
            "a delegated scope.",
            code="join-failed",
        )
    seen = _quota_seen(done.stdout)
    if seen != _LIMITS.quota_us:
        raise TargetError(
            f"A process in {group.cpu} sees a quota of {seen} instead of {_LIMITS.quota_us} us.",
            remedy="See what moves processes between cgroups on this machine.",
            code="readback-mismatch",
        )


def _quota_seen(output: bytes) -> object:
    try:
        line = json.loads(output.splitlines()[0])
        return line["cgroup"]["quota_us"]
    except (ValueError, IndexError, KeyError, TypeError):
        return None


def _clean(place: Place, name: str) -> None:
    group = place.group(LAB, name)
    sweep.remove(group.dirs)
    for directory in group.dirs:
        sweep.prune(directory.parent, up_to=directory.parents[1])


def _remove_dead(place: Place) -> None:
    """What probes of processes that are no more have left."""
    for directory in place.group(LAB).dirs:
        for left in directory.iterdir() if directory.is_dir() else ():
            pid = left.name.partition("-")[0]
            if left.is_dir() and pid.isdigit() and not Path("/proc", pid).exists():
                sweep.remove([left])
