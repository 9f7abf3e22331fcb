"""A program of ours in a cgroup: started there by `cpulab exec`, its lines read as they come."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from experiments_app.core.errors import TargetError
from experiments_app.targets.local.cpus import cpu_list
from experiments_app.targets.local.files import in_words
from experiments_app.targets.local.place import Group

_TAIL = 20
_PIPE = 1 << 20
_LONGEST_LINE = 1 << 20
_CHUNK = 1 << 16


class LineBuffer:
    """Cuts a byte stream into lines; one without an end is cut off, not kept for ever."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _LONGEST_LINE:
            lines.append(self._rest)
            self._rest = b""
        return lines

    def finish(self) -> list[bytes]:
        """What came after the last newline, when the stream has ended."""
        rest, self._rest = self._rest, b""
        return [rest] if rest else []


class Stream:
    """One non-blocking pipe of a child."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self.pipe = pipe
        self.open = True
        self._buffer = LineBuffer()
        os.set_blocking(pipe.fileno(), False)

    def read(self) -> list[bytes]:
        """The lines that are there now; at the end of the stream `open` turns False."""
        try:
            data = os.read(self.pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return []
        if data:
            return self._buffer.feed(data)
        self.open = False
        return self._buffer.finish()


class Child:
    """A running cpulab. `name` is what messages call it."""

    def __init__(self, name: str, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.name = name
        self.process = process
        self.out = Stream(process.stdout)
        self.err = Stream(process.stderr)
        self.complaints: deque[str] = deque(maxlen=_TAIL)

    @classmethod
    def start(
        cls,
        name: str,
        group: Group,
        program: Path,
        arguments: Sequence[str],
        env: Mapping[str, str] | None = None,
        cpus: Sequence[int] | None = None,
    ) -> Child:
        """Start `program` so that it is in the group, and on `cpus`, from its first instruction.

        It inherits nothing of our environment that could change what it measures. Its stdin
        is a pipe that we hold: when we die, however, it reads the end of it and stops.
        """
        joins = [word for path in group.procs for word in ("--join", str(path))]
        pin = ["--cpus", cpu_list(cpus)] if cpus is not None else []
        command = [str(program), "exec", *joins, *pin, "--", str(program), *arguments]
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={"PATH": os.defpath, **(env or {})},
                # Ctrl-C in a terminal is for the lab: it ends its children in order.
                process_group=0,
            )
        except OSError as error:
            raise TargetError(
                f"Could not start {name}: {program}: {in_words(error)}.",
                remedy="Build cpulab for this machine again: ./lab up does.",
                code="cpulab-missing",
            ) from error
        child = cls(name, process)
        child._widen()
        return child

    def _widen(self) -> None:
        """Room for minutes of samples, so that a slow database never slows the sampler."""
        if sys.platform == "linux":
            import fcntl

            with contextlib.suppress(OSError):
                fcntl.fcntl(self.out.pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def ended(self) -> bool:
        """Its streams are read to the end and its exit is known."""
        return not self.out.open and not self.err.open and self.process.poll() is not None

    def hear(self, raw: bytes) -> None:
        """Keep a line of its stderr for a message."""
        text = raw.decode(errors="replace").strip()
        if text:
            self.complaints.append(text)

    def end_input(self) -> None:
        """Close its stdin, which asks it to end."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()

    def close(self, timeout_s: float) -> bool:
        """Reap it and close the pipes; False when it has not ended in time."""
        self.end_input()
        try:
            self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        self.out.pipe.close()
        self.err.pipe.close()
        return True

    def exit_in_words(self) -> str:
        """How it ended: "exit status 1", or the signal by name."""
        code = self.process.poll()
        if code is None:
            return "it is still running"
        if code >= 0:
            return f"exit status {code}"
        try:
            return f"killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"killed by signal {-code}"

    def said(self) -> str:
        """Its last words on stderr, for a message; empty when there were none."""
        return f" It said: {' / '.join(self.complaints)}" if self.complaints else ""
