"""A workload's stream: its rounds as records, and how it may fail, in words."""

from __future__ import annotations

import time
from pathlib import Path

from experiments_app.core.errors import ReadbackMismatch, TargetError
from experiments_app.core.records import Note, Readback, RoundSettled, Sink
from experiments_app.targets.local import translate
from experiments_app.targets.local.delegation import pids_in
from experiments_app.targets.local.files import read_text
from experiments_app.targets.local.groups import gone
from experiments_app.targets.local.jobs import Job
from experiments_app.targets.local.place import Group
from experiments_app.targets.local.process import Child
from experiments_app.targets.local.translate import BadLine, Line, Sequence


class Workload:
    """One group's running workload."""

    def __init__(
        self, job: Job, group: Group, child: Child, readback: Readback, sink: Sink
    ) -> None:
        self.job = job
        self.group = group
        self.child = child
        self._asked = readback.asked
        self._sink = sink
        self._sequence = Sequence(f"group {job.group}")
        self._patience_us = job.patience_us(
            readback.effective_quota_us, readback.effective_period_us
        )
        self._heard_us = now_us()
        self.inside = False
        self._dismissed = self._judged = False
        self._missing: Path | None = None
        self._ending: Line | None = None
        self._delays: list[int | None] = []
        self._oom_before = oom_kills()

    @property
    def run_delay_us(self) -> int | None:
        """Waiting for a CPU over all settled rounds; None when one of them does not know."""
        known = [delay for delay in self._delays if delay is not None]
        return sum(known) if known and len(known) == len(self._delays) else None

    def take(self, raw: bytes) -> None:
        self._heard_us = now_us()
        line = self._sequence.take(raw)
        if line is not None:
            try:
                self._dispatch(line)
            except BadLine as error:
                self._sequence.reject(raw, error)
        for text in self._sequence.drain():
            self._sink(Note(text, "warning"))

    def _dispatch(self, line: Line) -> None:
        name = self.job.group
        match line["type"]:
            case "hello" | "info":
                record = translate.hello(name, line, time.time_ns() // 1000)
                self.inside = True
                self._check_inside(line)
                self._sink(record)
            case "round":
                self._sink(translate.round_(name, line))
            case "settled":
                settled: RoundSettled = translate.settled(name, line)
                self._delays.append(settled.run_delay_us)
                self._sink(settled)
            case "end":
                self._ending = line

    def _check_inside(self, line: Line) -> None:
        """The limit that the workload itself sees is the arm's: it did start inside."""
        seen = line.get("cgroup")
        quota = seen.get("quota_us") if isinstance(seen, dict) else None
        if isinstance(quota, int) and quota not in (-1, self._asked.quota_us):
            raise ReadbackMismatch(
                f"The workload of group {self.job.group} sees a quota of {quota} us a period, "
                f"but {self._asked.quota_us} us was set on {self.group.cpu}: it is in another "
                "cgroup.",
                remedy="See what moves processes between cgroups on this machine.",
            )

    def outside(self) -> Path | None:
        """The directory that it is no longer in, when two looks in a row say so.

        A process that is ending leaves its cgroup a moment before its exit can be seen, and
        in a frozen group the moment is long.
        """
        if not self.inside or self.child.process.poll() is not None or is_ending(self.child.pid):
            return None
        missing = next((d for d in self.group.dirs if self.child.pid not in pids_in(d)), None)
        before, self._missing = self._missing, missing
        return missing if before is not None else None

    def dismiss(self) -> None:
        """It has done its part: let it end, whatever it was to do next."""
        if not self.child.ended:
            self._dismissed = True
            self.child.end_input()

    def check(self) -> None:
        """Raise TargetError when it has failed, or is silent for longer than explains itself."""
        if self._judged or self._dismissed:
            return
        if self.child.ended:
            self._judged = True
            self._judge()
            return
        silent_us = now_us() - self._heard_us
        if silent_us > self._patience_us:
            raise TargetError(
                f"The workload of group {self.job.group} printed nothing for "
                f"{silent_us // 1_000_000} s.{self.child.said()}",
                remedy="The machine may be overloaded: look at its load, then run again.",
                code="workload-silent",
            )

    def _judge(self) -> None:
        code = self.child.process.poll()
        reason = self._ending.get("reason") if self._ending is not None else None
        if code == 0 and self.inside and (reason == "done" or not self.job.ends_with_a_line):
            for text in self.child.complaints:
                self._sink(Note(f"Group {self.job.group}: {text}", "warning"))
            if self._sequence.bad > 1:
                text = f"{self._sequence.bad} lines of group {self.job.group} could not be used."
                self._sink(Note(text, "warning"))
            return
        raise TargetError(
            f"The workload of group {self.job.group} {self._how(code, reason)}.{self.child.said()}",
            remedy=self._remedy(code),
            code="workload-failed",
        )

    def _how(self, code: int | None, reason: object) -> str:
        if code == 0 and reason in ("signal", "eof"):
            return "was told to stop from outside before its last round"
        if code == 0:
            return "ended without its last line"
        words = f"ended before it was done: {self.child.exit_in_words()}"
        if code == -9 and self._out_of_memory():
            words += ", by the kernel because memory ran out (oom_kill)"
        missing = gone(self.group)
        return words + (f", and its cgroup {missing.path} was removed" if missing else "")

    def _remedy(self, code: int | None) -> str:
        if code == -9 and self._out_of_memory():
            return "Free memory or use fewer threads, then run again."
        if code in (126, 127):
            return "Run ./lab doctor: it tries the same and explains it."
        if code is not None and code < 0:
            return "See what ended it (another user, a supervisor, dmesg), then run again."
        return "Run it again; if it repeats, the lines above say what cpulab could not do."

    def _out_of_memory(self) -> bool:
        events = read_text(self.group.cpu / "memory.events") or ""
        inside = any(
            line.startswith("oom_kill ") and line.split()[1] != "0" for line in events.splitlines()
        )
        return inside or oom_kills() > self._oom_before


def now_us() -> int:
    """CLOCK_MONOTONIC, us."""
    return time.monotonic_ns() // 1000


def is_ending(pid: int) -> bool:
    """Whether a process is on its way out (PF_EXITING in its flags) or gone."""
    fields = (read_text(Path("/proc") / str(pid) / "stat") or "").rpartition(")")[2].split()
    return len(fields) < 7 or bool(int(fields[6]) & 0x4)


def oom_kills(vmstat: Path = Path("/proc/vmstat")) -> int:
    """Processes that the kernel has ended for want of memory since boot; 0 if it does not say."""
    for line in (read_text(vmstat) or "").splitlines():
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    return 0
