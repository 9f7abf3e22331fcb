"""One repeat's measurement: sampler first, then the arm's steps, read in one loop."""

from __future__ import annotations

import selectors
from collections.abc import Callable
from functools import partial
from pathlib import Path

from experiments_app.core.errors import Stopped, TargetError
from experiments_app.core.quantity import CpuMax, format_cpu_max
from experiments_app.core.records import ArmFinished, Note, Readback, Sink, StopFlag
from experiments_app.core.spec_model import Step
from experiments_app.core.timing import TICK_US
from experiments_app.targets.local import sweep
from experiments_app.targets.local.crew import Crew
from experiments_app.targets.local.groups import gone, read_cpu_max, tightest
from experiments_app.targets.local.place import Group
from experiments_app.targets.local.process import Child, Stream
from experiments_app.targets.local.sampling import SampleFeed
from experiments_app.targets.local.workload import Workload, now_us

_POLL_S = 0.1
_LOOK_US = 500_000
_SILENT_SAMPLER_US = 10_000_000
_START_US = 10_000_000


class Measurement:
    """Everything that runs in `measure`; `children` is what must be reaped afterwards."""

    def __init__(
        self,
        *,
        crew: Crew,
        groups: dict[str, Group],
        sampler_group: Group,
        readbacks: dict[str, Readback],
        sampler: Path,
        top: Path,
        hz: int,
        sink: Sink,
        stop: StopFlag,
    ) -> None:
        self._crew, self._groups, self._readbacks = crew, groups, readbacks
        self._sampler_group, self._program, self._hz = sampler_group, sampler, hz
        self._top = top
        self._sink, self._stop = sink, stop
        self._selector = selectors.DefaultSelector()
        self._sampler: Child | None = None
        self._closing = False
        self._looked_us = 0
        self._sampled_us = 0
        version = sampler_group.version
        self._feed = SampleFeed(
            sink,
            version=1 if version == 1 else 2,
            hz=hz,
            generations={name: group.cpu.stat().st_ino for name, group in groups.items()},
        )
        self.children: list[Child] = []

    def run(self, steps: tuple[Step, ...]) -> None:
        """Raises Stopped, or TargetError with what went wrong."""
        try:
            self._start_sampler()
            self._until(lambda: self._feed.complete, within_us=_START_US, what="a first sample")
            self._feed.flush()  # the baseline is known before anything runs
            for step in steps:
                self._do(step)
            self._end_workloads()
            self._settle()
            self._end_sampler()
            self._finish()
        except BaseException:
            sweep.kill(d for group in self._groups.values() for d in group.dirs)
            for child in self.children:
                child.kill()
            raise
        finally:
            self._selector.close()

    def _do(self, step: Step) -> None:
        if step.start is not None:
            self._start(step.start)
        if step.wait is not None:
            end_us = now_us() + step.wait_us
            self._until(lambda: now_us() >= end_us)
        if step.measure is not None:
            measured = step.measure
            self._until(lambda: self._crew.done(measured))

    def _start(self, names: tuple[str, ...]) -> None:
        """All at once, but a load once its server listens; then wait until they are up."""
        for name in names:
            for server in self._crew.calls(name):
                self._until(partial(self._crew.started, server))
            for workload in self._crew.start(name):
                self._follow(workload.child, workload.take)
        self._until(lambda: all(self._crew.started(name) for name in names))

    def _start_sampler(self) -> None:
        words: list[str] = []
        for name, group in self._groups.items():
            words += ["--cgroup", f"{name}={','.join(map(str, group.dirs))}"]
        child = Child.start(
            "the sampler",
            self._sampler_group,
            self._program,
            ("sample", "--hz", str(self._hz), *words, "--until-eof"),
        )
        self._sampler = child
        self._sampled_us = now_us()
        self._follow(child, self._feed.take)

    def _follow(self, child: Child, take: Callable[[bytes], None]) -> None:
        self.children.append(child)
        self._selector.register(child.out.pipe, selectors.EVENT_READ, (child.out, take))
        self._selector.register(child.err.pipe, selectors.EVENT_READ, (child.err, child.hear))

    def _until(
        self, done: Callable[[], bool], *, within_us: int | None = None, what: str = ""
    ) -> None:
        """Turn the loop until something is so. Raises TargetError when it takes too long."""
        started_us = now_us()
        while not done():
            self._turn()
            if within_us is not None and now_us() - started_us > within_us and not done():
                raise TargetError(
                    f"Waited {within_us // 1_000_000} s for {what}, in vain.{self._said()}",
                    remedy="The machine may be overloaded: look at its load, then run again.",
                )

    def _turn(self) -> None:
        timeout_s = min(_POLL_S, self._feed.due_us(now_us()) / 1e6 + 0.001)
        for key, _ in self._selector.select(timeout_s):
            stream, take = key.data
            self._read(stream, take)
        self._feed.flush(now_us())
        self._watch()

    def _read(self, stream: Stream, take: Callable[[bytes], None]) -> None:
        for line in stream.read():
            take(line)
        if not stream.open:
            self._selector.unregister(stream.pipe)

    def _watch(self) -> None:
        if self._stop.is_set():
            raise Stopped("The run was told to stop.")
        for name, reason in self._feed.gone.items():
            raise self._vanished(name, reason)
        self._crew.check()
        if (counting_us := self._crew.counting_us) is not None:
            self._feed.count_from(counting_us)
        self._watch_sampler()
        if now_us() - self._looked_us >= _LOOK_US:
            self._looked_us = now_us()
            self._look()

    def _watch_sampler(self) -> None:
        assert self._sampler is not None
        self._sampled_us = max(self._sampled_us, self._feed.latest_us)
        if self._closing:
            return
        if self._sampler.ended:
            raise TargetError(
                f"The sampler ended in the middle: {self._sampler.exit_in_words()}."
                f"{self._sampler.said()}",
                remedy="Run ./lab doctor: it tries the same and explains it.",
                code="sampler-failed",
            )
        silent_us = now_us() - self._sampled_us
        if silent_us > _SILENT_SAMPLER_US:
            raise TargetError(
                f"The sampler printed nothing for {silent_us // 1_000_000} s."
                f"{self._sampler.said()}",
                remedy="The machine may be overloaded: look at its load, then run again.",
                code="sampler-failed",
            )

    def _look(self) -> None:
        """Twice a second: are the cgroups still there, and the workloads still in them?"""
        for name, group in self._groups.items():
            if (missing := gone(group)) is not None:
                raise self._vanished(name, missing.reason)
            workload = self._crew.get(name)
            if workload is not None and (directory := workload.outside()) is not None:
                raise self._moved(name, directory)

    def _vanished(self, name: str, reason: str) -> TargetError:
        missing = gone(self._groups[name])
        path = missing.path if missing is not None else str(self._groups[name].cpu)
        return TargetError(
            f"The cgroup {path} of group {name} was removed while the arm was running"
            f"{f' ({reason})' if reason else ''}.",
            remedy="See what manages cgroups on this machine (another lab's cleanup, a service "
            "manager), then run again.",
            code="cgroup-vanished",
        )

    def _moved(self, name: str, directory: Path) -> TargetError:
        missing = gone(self._groups[name])
        if missing is not None:
            return self._vanished(name, missing.reason)
        return TargetError(
            f"The workload of group {name} was moved out of its cgroup {directory} while the "
            "arm was running.",
            remedy="See what moves processes between cgroups on this machine, then run again.",
            code="workload-moved",
        )

    def _end_workloads(self) -> None:
        """The measured group is done; what only kept it company is asked to end.

        Whatever calls others goes first, so that it never finds its server gone.
        """
        self._dismiss([w for w in self._crew if w.job.command.calls is not None])
        self._dismiss(list(self._crew))
        for workload in self._crew:
            workload.part()

    def _dismiss(self, going: list[Workload]) -> None:
        for workload in going:
            workload.dismiss()
        self._until(
            lambda: all(workload.child.ended for workload in going),
            within_us=max((workload.patience_us for workload in going), default=_START_US),
            what="the other groups to end",
        )

    def _settle(self) -> None:
        """Sample on until the kernel has booked the last pause and one idle period more."""
        periods = [r.effective_period_us or 0 for r in self._readbacks.values()]
        end_us = now_us() + 2 * max(periods) + TICK_US
        self._until(
            lambda: self._feed.latest_us >= end_us,
            within_us=end_us - now_us() + _START_US,
            what="the last samples",
        )

    def _end_sampler(self) -> None:
        sampler = self._sampler
        assert sampler is not None
        self._closing = True
        sampler.end_input()
        self._until(lambda: sampler.ended, within_us=_START_US, what="the sampler to end")
        self._feed.flush()

    def _finish(self) -> None:
        self._feed.report()
        for name, group in self._groups.items():
            self._check_limit(name, group)
            self._note_pauses(name, group)
        delays = {name: self._crew.run_delay_us(name) for name in self._groups}
        self._sink(ArmFinished(self._feed.totals(delays)))

    def _note_pauses(self, name: str, group: Group) -> None:
        """A limit above pauses a group without a trace in the group's own counters."""
        paused_us = self._feed.paused_from_above().get(name)
        above = tightest(group.cpu.parent, group.version, self._top)
        if paused_us is None or above is None:
            return
        text = (
            f"The group {name} was paused for {paused_us / 1000:.1f} ms (summed over CPUs) by the "
            f"limit of its ancestor {above[2]}; its own throttling counters did not move."
        )
        self._sink(Note(text, "warning"))

    def _check_limit(self, name: str, group: Group) -> None:
        """A period timer that overruns makes the kernel scale quota and period up by itself."""
        found, had = read_cpu_max(group.cpu, group.version), self._readbacks[name].found
        if found is not None and (found.quota_us, found.period_us) != (had.quota_us, had.period_us):
            text = (
                f"The limit of group {name} changed while the arm was running: from "
                f"{format_cpu_max(CpuMax(had.quota_us, had.period_us))} to "
                f"{format_cpu_max(found)} us."
            )
            self._sink(Note(text, "warning"))

    def _said(self) -> str:
        return "".join(child.said() for child in self.children)
