"""What the tests of targets share: real parts or a reason, a lab of one's own, a watcher."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from experiments_app.core.plan import PlannedArm
from experiments_app.core.records import ArmFinished, Counters, Readback, Record
from experiments_app.core.spec_model import Arm
from experiments_app.targets.base import RepeatContext
from experiments_app.targets.local import LocalTarget, delegation
from experiments_app.targets.local.place import Place
from experiments_app.targets.local.session import LocalSession

Builds = dict[str, Path]
Fake = Callable[[str], Builds]
ProcTree = Callable[[str, str, Mapping[str, Mapping[str, str]]], tuple[Path, Path]]
R = TypeVar("R")
REPO = Path(__file__).resolve().parents[2]


def require(condition: bool, reason: str) -> None:
    """Skip where a real part is missing; under CI that is a failure, not a skip."""
    if condition:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"needed under CI: {reason}")
    pytest.skip(reason)


def wait_for(condition: Callable[[], bool], within_s: float = 10.0) -> None:
    """Return as soon as it is so; fail when it takes too long."""
    end = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end, "the condition did not come true in time"
        os.sched_yield()


def with_repo_on_path() -> dict[str, str]:
    paths = [str(REPO), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


@dataclass
class Recorder:
    """A sink that keeps everything and lets a test act on a record."""

    on: Callable[[Record], None] = lambda record: None
    records: list[Record] = field(default_factory=list)

    def __call__(self, record: Record, /) -> None:
        self.records.append(record)
        self.on(record)

    @property
    def totals(self) -> dict[str, Counters]:
        """The totals of the one arm that has finished, by unit."""
        (finished,) = self.of(ArmFinished)
        return {total.group: total.counters for total in finished.totals}

    def of(self, kind: type[R]) -> list[R]:
        return [record for record in self.records if isinstance(record, kind)]


@dataclass
class Bench:
    """A lab of one test on the real kernel."""

    place: Place
    builds: Builds
    lab: str

    @property
    def target(self) -> LocalTarget:
        return LocalTarget(builds=self.builds)

    def arm(self, **settings: Any) -> PlannedArm:
        work = {"threads": 8, "work": "20ms", "interval": "600ms", "rounds": 3}
        work |= settings.pop("work", {})
        short = {
            "name": "arm",
            "env": {"GOMAXPROCS": "8"},
            "workload": {"kind": "burst", **work},
            **settings,
        }
        arm = Arm.model_validate(short)
        return PlannedArm(0, "arm", "arm", None, arm, expected_us=1_000_000)

    def session(
        self, *, run: str = "run", repeat: str = "r1", hz: int = 50, **arm: Any
    ) -> LocalSession:
        session = self.target.open(RepeatContext(self.lab, run, repeat, self.arm(**arm), hz))
        assert isinstance(session, LocalSession)
        return session

    def open(self, *, run: str = "run", hz: int = 50, **arm: Any) -> LocalSession:
        """A session of an arm written long: groups and steps."""
        found = Arm.model_validate({"name": "arm", **arm})
        planned = PlannedArm(0, "arm", "arm", None, found, expected_us=1_000_000)
        session = self.target.open(RepeatContext(self.lab, run, "r1", planned, hz))
        assert isinstance(session, LocalSession)
        return session

    def run(self, sink: Recorder, **arm: Any) -> tuple[Readback, ...]:
        """One repeat of an arm from prepare to clean."""
        session = self.open(**arm)
        try:
            readbacks = session.prepare()
            self.shield()
            session.measure(sink, threading.Event())
            return readbacks
        finally:
            session.clean()

    def shield(self) -> None:
        """Outweigh whatever else this machine does: tests measure the limit, not the rest."""
        for group in (self.place.group(), self.place.group(self.lab)):
            name, value = (
                ("cpu.weight", "10000") if self.place.version == 2 else ("cpu.shares", "262144")
            )
            (group.cpu / name).write_text(value)

    def left(self) -> list[Path]:
        """Directories of this lab that are still there."""
        return [d for d in self.place.group(self.lab).dirs if d.exists()]


def all_pids(bench: Bench) -> set[int]:
    found: set[int] = set()
    for top in bench.place.group(bench.lab).dirs:
        for path, _, _ in os.walk(top):
            found.update(delegation.pids_in(Path(path)))
    return found
