"""No orphans: a process started through here ends when its parent does, however that ends.

    python -m labsite.lifeline [--back-off FILE] [--after HOST:PORT] COMMAND [ARG ...]

With --back-off, starts are noted in FILE, and a command that was started three times within
ten seconds waits before its next start: 1 s, then twice as long each time, at most 30 s. With
--after, the command starts once something listens there, or after 15 s: on a small machine
several starts at once would all be slow, and the pages come first.

On Linux the kernel sends the signal (PR_SET_PDEATHSIG survives exec), so the command
replaces this process. Elsewhere a small parent watches and passes signals on.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1


def tie_to_parent(parent: int | None = None) -> None:
    """End this process with SIGTERM when its parent ends.

    `parent` is the expected parent's pid: if it is gone already, this process ends now.
    """
    parent = parent or os.getppid()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)
        return
    threading.Thread(target=_watch, args=(parent,), name="lifeline", daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)


def back_off(starts: list[float], now: float) -> float:
    """Seconds to wait before a start at `now`, given the times of earlier starts.

    Counts the crashes in a row: starts that each lived for less than ten seconds and their
    own wait.
    """
    streak = 0
    following = now
    for start in reversed(starts):
        if following - start > 10 + _wait(streak):
            break
        streak += 1
        following = start
    return _wait(streak)


def _wait(streak: int) -> float:
    return 0.0 if streak < 3 else float(min(30, 2 ** (streak - 3)))


def _note_start(path: Path) -> float:
    try:
        starts = [float(line) for line in path.read_text().splitlines()]
    except (OSError, ValueError):
        starts = []
    now = time.time()
    wait = back_off(starts, now)
    path.write_text("".join(f"{start:.3f}\n" for start in [*starts[-12:], now]))
    return wait


def _wait_for(address: str, *, seconds: float = 15) -> None:
    host, _, port = address.rpartition(":")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return


def main(argv: list[str]) -> int:
    wait = 0.0
    if argv[:1] == ["--back-off"] and len(argv) > 2:
        wait = _note_start(Path(argv[1]))
        argv = argv[2:]
    if argv[:1] == ["--after"] and len(argv) > 2:
        _wait_for(argv[1])
        argv = argv[2:]
    if not argv:
        print("usage: python -m labsite.lifeline COMMAND [ARG ...]", file=sys.stderr)
        return 2
    if wait:
        print(f"lifeline: {argv[0]} keeps ending; next start in {wait:g} s", file=sys.stderr)
        time.sleep(wait)
    if sys.platform == "linux":
        tie_to_parent()
        os.execvp(argv[0], argv)
    child = subprocess.Popen(argv)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: child.send_signal(received))
    tie_to_parent()
    return child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
