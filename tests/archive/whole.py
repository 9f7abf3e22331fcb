"""A run that really went through its life, with everything that a run can hold."""

from __future__ import annotations

from experiments_app.core.errors import TargetError
from experiments_app.core.records import (
    Counters,
    Hello,
    Limits,
    Note,
    Readback,
    Round,
    Sink,
    StopFlag,
    Tree,
    TreeLevel,
)
from experiments_app.models import Run
from experiments_app.runs.announce import silent
from experiments_app.runs.claim import claim_next
from experiments_app.runs.execute import Execution, execute
from experiments_app.runs.owner import me
from experiments_app.runs.stop import Stop
from experiments_app.targets.base import RepeatContext
from tests.runs.scripted import (
    ScriptedSession,
    ScriptedTarget,
    Step,
    play,
    queued_run,
    usual_records,
)

ASKED = Limits(50_000, 100_000, 0, None)
READBACK = Readback("app", ASKED, ASKED, 50_000, 100_000, "/lab/app", 2, ("A remark.",))
TREE = Tree("app", (TreeLevel("/", None, None, None, None, 1024),))


class Session(ScriptedSession):
    def prepare(self) -> tuple[Readback, ...]:
        super().prepare()
        return (READBACK,)


class Target(ScriptedTarget):
    def open(self, context: RepeatContext) -> ScriptedSession:
        return Session(self, context)


def rich_step(failing: int | None = None) -> Step:
    """Everything that a target may say; the repeat of number `failing` breaks off."""
    calls: list[int] = []

    def step(sink: Sink, stop: StopFlag) -> None:
        calls.append(1)
        sink(Hello("app", 900_000, 1_770_000_000_000_000, {"go": "go1.25", "gomaxprocs": 2}))
        sink(TREE)
        sink(Note("The sampler missed 3 of 100 readings.", "warning"))
        if len(calls) == failing:
            sink(Round("app", 1, 1_000_000, 7_000, Counters(7_000, usage_us=6_000), None, None))
            raise TargetError("The workload was killed.", remedy="Look at the log.")
        play(usual_records())(sink, stop)

    return step


def whole_run(*, repeats: int = 2, failing: int | None = None) -> Run:
    """A run through launch, claim and execute; its samples are compacted."""
    number = queued_run(repeats=repeats).number
    claim = claim_next(machine="local", owner=me())
    assert claim is not None
    execute(
        claim,
        Execution(
            target=Target(step=rich_step(failing)),
            lab="lab",
            stop=Stop(),
            announce=silent,
            lease_seconds=10,
        ),
    )
    return Run.objects.get(number=number)
