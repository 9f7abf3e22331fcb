"""Running docker, kind and go: with a limit, stoppable, and with their own words when they fail."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments_app.core.errors import LabError, Stopped
from experiments_app.core.records import StopFlag

SHORT_S = 30
END_S = 15

Say = Callable[[str], None]


class ClusterError(LabError):
    """A cluster cannot be made, looked at or taken down."""

    code = "cluster-failed"


@dataclass(frozen=True, slots=True)
class Done:
    """How a program ended; `said` is what it printed last to either stream, for people."""

    status: int
    out: str
    said: str


def ask(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    limit_s: float = SHORT_S,
) -> Done:
    """Run a program that answers soon, out of reach of a terminal's Ctrl-C.

    Raises ClusterError when it does not answer in time.
    """
    try:
        done = subprocess.run(
            argv,
            env=None if environment is None else dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=limit_s,
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise ClusterError(
            f"{' '.join(argv[:3])} has not answered for {limit_s:g} s.",
            remedy="See whether Docker itself still answers: docker ps.",
            code="no-answer",
        ) from error
    return Done(done.returncode, done.stdout, (done.stderr or done.stdout).strip())


def work(
    argv: Sequence[str],
    *,
    log: Path,
    environment: Mapping[str, str],
    limit_s: float,
    stop: StopFlag,
    say: Say,
    cwd: Path | None = None,
) -> Done:
    """Run a program that takes its time; hand on its lines as they come and keep them in `log`.

    It has a session of its own, so that Ctrl-C reaches only us: told to stop, or out of time,
    we end it with everything that it started. Raises Stopped, ClusterError.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "wb") as output, open(log, "rb") as shown:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            _follow(process, shown.readline, limit_s, stop, say)
        except BaseException:
            _end_group(process)
            raise
    said = log.read_text(errors="replace").strip()
    return Done(process.returncode, said, said)


def _follow(
    process: subprocess.Popen[bytes],
    readline: Callable[[], bytes],
    limit_s: float,
    stop: StopFlag,
    say: Say,
) -> None:
    end = time.monotonic() + limit_s
    partial = b""
    while True:
        ended = process.poll() is not None
        while line := readline():
            partial += line
            if partial.endswith(b"\n"):
                say(partial.decode(errors="replace").rstrip())
                partial = b""
        if ended:
            return
        if stop.wait(0.1):
            raise Stopped("Stopped before it was done.")
        if time.monotonic() > end:
            raise ClusterError(
                f"{process.args!r} was ended: it had not finished after {limit_s:g} s.",
                remedy="On a slow machine or network, try again: what it has fetched is kept.",
                code="no-answer",
            )


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """The process and what it started: they are the only ones in its group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_S)
            if not _group_lives(process.pid):
                return


def _group_lives(group: int) -> bool:
    """Whether anything is left in a process group, given a moment to end."""
    end = time.monotonic() + END_S
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        time.sleep(0.05)
    return True
