"""A workload's stream: its rounds as records, and how it may fail, in words."""

from __future__ import annotations

import time
from pathlib import Path

from experiments_app.core.errors import ReadbackMismatch, TargetError
from experiments_app.core.records import Measure, Note, Readback, RoundSettled, Sink
from experiments_app.targets.local import translate
from experiments_app.targets.local.cpus import allowed, cpu_list, parse_cpu_list
from experiments_app.targets.local.delegation import pids_in
from experiments_app.targets.local.files import read_text
from experiments_app.targets.local.groups import gone
from experiments_app.targets.local.jobs import Job
from experiments_app.targets.local.place import Group
from experiments_app.targets.local.process import Child
from experiments_app.targets.local.translate import BadLine, Line, Sequence

_SOON_US = 1_000_000


class Workload:
    """One container's running workload. `cpus`: those that it is kept on, None for all.

    `counting_us`: when its load began to count, None as long as it has not said so.
    `patience_us`: how long it may take for a step, and to end when told, under its limit.
    """

    def __init__(
        self,
        job: Job,
        group: Group,
        child: Child,
        readback: Readback,
        sink: Sink,
        cpus: tuple[int, ...] | None = None,
    ) -> None:
        self.job = job
        self.group = group
        self.child = child
        self._asked, self._cpus = readback.asked, cpus
        self._sink = sink
        self._sequence = Sequence(f"group {job.unit}")
        self.patience_us = job.patience_us(
            readback.effective_quota_us, readback.effective_period_us
        )
        self._heard_us = now_us()
        self.inside = False
        self.address: str | None = None
        self.counting_us: int | None = None
        self._dismissed = self._judged = False
        self._missing: Path | None = None
        self._ending: Line | None = None
        self._latencies: tuple[Measure, ...] = ()
        self._starts: dict[int, int] = {}
        self._delays: list[tuple[int, int | None]] = []  # of settled rounds, by their start
        self._oom_before = oom_kills()

    def run_delay_us(self, since_us: int | None = None) -> int | None:
        """Waiting for a CPU over all settled rounds that began since then.

        None when one of them does not know, or none has begun.
        """
        delays = [delay for start, delay in self._delays if since_us is None or start >= since_us]
        known = [delay for delay in delays if delay is not None]
        return sum(known) if known and len(known) == len(delays) else None

    @property
    def started(self) -> bool:
        """Whether it runs inside, and listens where others call it; or is over already."""
        up = self.address is not None if self.job.command.serves else self.inside
        return up or self.child.ended

    @property
    def done(self) -> bool:
        """Whether it has done all its work."""
        return self.child.ended or (self.job.command.holds and self.inside)

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
        name = self.job.unit
        match line["type"]:
            case "hello" | "info":
                record = translate.hello(name, line, time.time_ns() // 1000)
                self.inside = True
                self._check_inside(line)
                self._check_cpus(line)
                self._sink(record)
            case "round":
                opened = translate.round_(name, line)
                self._starts = {opened.n: opened.start_us}
                self._sink(opened)
            case "settled":
                settled: RoundSettled = translate.settled(name, line)
                self._delays.append((self._starts.get(settled.n, 0), settled.run_delay_us))
                self._sink(settled)
            case "ready":
                self.address = translate.text(line, "address")
            case "measuring":
                self.counting_us = _soon(translate.count(line, "at_us"))
            case "warning":
                self._sink(Note(translate.text(line, "text"), "warning"))
            case "end":
                self._latencies = translate.measures(line)
                self._ending = line

    def _check_inside(self, line: Line) -> None:
        """The limit that the workload itself sees is the arm's: it did start inside."""
        seen = line.get("cgroup")
        quota = seen.get("quota_us") if isinstance(seen, dict) else None
        if isinstance(quota, int) and quota not in (-1, self._asked.quota_us):
            raise ReadbackMismatch(
                f"The workload of group {self.job.unit} sees a quota of {quota} us a period, "
                f"but {self._asked.quota_us} us was set on {self.group.cpu}: it is in another "
                "cgroup.",
                remedy="See what moves processes between cgroups on this machine.",
            )

    def _check_cpus(self, line: Line) -> None:
        """It runs on the CPUs that it was started on: what it says itself, or the kernel."""
        if self._cpus is None:
            return
        said = line.get("affinity")
        seen = parse_cpu_list(said) if isinstance(said, str) else allowed(self.child.pid)
        if seen is not None and seen != set(self._cpus):
            raise ReadbackMismatch(
                f"The workload of group {self.job.unit} runs on CPUs {cpu_list(sorted(seen))}, "
                f"but was started on {cpu_list(self._cpus)}.",
                remedy="See what changes CPU affinities on this machine.",
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

    def part(self) -> None:
        """Once it has ended after `dismiss`: say what did not go well then."""
        if not self._dismissed:
            return
        if self.child.process.poll() != 0:
            text = f"Group {self.job.unit}, told to end, ended otherwise: "
            text += f"{self.child.exit_in_words()}.{self.child.said()}"
            self._sink(Note(text, "warning"))
            return
        self._complain()

    def check(self) -> None:
        """Raise TargetError when it has failed, or is silent for longer than explains itself."""
        if self._judged or self._dismissed:
            return
        if self.child.ended:
            self._judged = True
            self._judge()
            return
        if self.done:
            return  # it holds: there is nothing more for it to say
        silent_us = now_us() - self._heard_us
        if silent_us > self.patience_us:
            raise TargetError(
                f"The workload of group {self.job.unit} printed nothing for "
                f"{silent_us // 1_000_000} s{waiting_in_words(self.child.pid)}.{self.child.said()}",
                remedy="The machine may be overloaded: look at its load, then run again.",
                code="workload-silent",
            )

    def _judge(self) -> None:
        code = self.child.process.poll()
        reason = self._ending.get("reason") if self._ending is not None else None
        if code == 0 and self.inside and (reason == "done" or not self.job.ends_with_a_line):
            self._complain()
            if self.job.command.calls is not None:
                require_answers(self.job.unit, self._latencies)
            return
        raise TargetError(
            f"The workload of group {self.job.unit} {self._how(code, reason)}.{self.child.said()}",
            remedy=self._remedy(code),
            code="workload-failed",
        )

    def _complain(self) -> None:
        for text in self.child.complaints:
            self._sink(Note(f"Group {self.job.unit}: {text}", "warning"))
        if self._sequence.bad > 1:
            text = f"{self._sequence.bad} lines of group {self.job.unit} could not be used."
            self._sink(Note(text, "warning"))

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


def require_answers(unit: str, measures: tuple[Measure, ...]) -> None:
    """Raise TargetError when a load got no answer at all: then there is no latency to show."""
    work = next((measure for measure in measures if measure.name == "work_us"), None)
    if work is not None and work.max_us is not None:
        return
    failed = dict(work.errors) if work is not None else {}
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(failed.items()))
    raise TargetError(
        f"The load {unit} had not one answer: all of its {sum(failed.values())} requests failed "
        f"({kinds})."
        if failed
        else f"The load {unit} counted not one request.",
        remedy="See whether its server is up and can keep pace at all: lower the rate, raise the "
        "server's limit or the time-out.",
        code="load-failed",
    )


def _soon(mono_us: int) -> int:
    """An instant of this machine's clock that has been or is about to be. Raises BadLine."""
    if mono_us > now_us() + _SOON_US:
        raise BadLine("its time is far off")
    return mono_us


def now_us() -> int:
    """CLOCK_MONOTONIC, us."""
    return time.monotonic_ns() // 1000


def is_ending(pid: int) -> bool:
    """Whether a process is on its way out (PF_EXITING in its flags) or gone."""
    fields = (read_text(Path("/proc") / str(pid) / "stat") or "").rpartition(")")[2].split()
    return len(fields) < 7 or bool(int(fields[6]) & 0x4)


def waiting_in_words(pid: int) -> str:
    """Whether a silent process starves or hangs: how long its threads ran and waited, ever."""
    found = [
        [int(word) for word in text.split()[:2]]
        for path in Path("/proc", str(pid), "task").glob("*/schedstat")
        if (text := read_text(path))
    ]
    if not found:
        return ""
    ran_s, waited_s = (sum(column) / 1e9 for column in zip(*found, strict=True))
    return f" (its threads have run for {ran_s:.1f} s and waited {waited_s:.1f} s for a CPU)"


def oom_kills(vmstat: Path = Path("/proc/vmstat")) -> int:
    """Processes that the kernel has ended for want of memory since boot; 0 if it does not say."""
    for line in (read_text(vmstat) or "").splitlines():
        if line.startswith("oom_kill "):
            return int(line.split()[1])
    return 0
