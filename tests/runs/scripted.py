"""A target that plays a script, for what a real one cannot be made to do on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from experiments_app.core.plan import make_plan
from experiments_app.core.records import (
    ArmFinished,
    Counters,
    GroupTotals,
    Readback,
    Record,
    Round,
    RoundSettled,
    Sample,
    Samples,
    Sink,
    StopFlag,
)
from experiments_app.core.spec import Spec, parse_spec
from experiments_app.models import Repeat, Run
from experiments_app.targets.base import RepeatContext, TargetFacts, TargetStatus

SPEC = {
    "name": "two-arms",
    "title": "Two arms",
    "question": "Which one?",
    "targets": ["local"],
    "arms": [
        {
            "name": name,
            "limit": limit,
            "workload": {
                "kind": "burst",
                "threads": 2,
                "work": "5ms",
                "interval": "50ms",
                "rounds": 3,
            },
        }
        for name, limit in (("none", "none"), ("half", "500m"))
    ],
}


def spec() -> Spec:
    return parse_spec(SPEC)


def a_round(n: int, *, group: str = "app", throttled_us: int | None = 40_000) -> Round:
    start = 1_000_000 + n * 50_000
    counters = Counters(9_000, 10_000, 1, 1, throttled_us, 0, 0)
    return Round(group, n, start, 9_000 + n, counters, 300, 0)


def settled(n: int, *, group: str = "app") -> RoundSettled:
    return RoundSettled(group, n, Counters(50_000, 10_100, 2, 1, 41_000, 0, 0), 310)


def samples(first_us: int, count: int, *, group: str = "app") -> Samples:
    return Samples(
        group,
        tuple(
            Sample(first_us + 20_000 * i, 1_000 * i, i // 5, i // 5, 500 * i) for i in range(count)
        ),
    )


def usual_records(rounds: int = 3) -> list[Record]:
    records: list[Record] = []
    for n in range(1, rounds + 1):
        records += [a_round(n), samples(1_000_000 + n * 100_000, 4), settled(n)]
    totals = GroupTotals("app", Counters(150_000, 30_300, 6, 3, 123_000, 0, 0), 930)
    return [*records, ArmFinished((totals,))]


Step = Callable[[Sink, StopFlag], None]


def play(records: Sequence[Record]) -> Step:
    def step(sink: Sink, _stop: StopFlag) -> None:
        for record in records:
            sink(record)

    return step


@dataclass
class ScriptedTarget:
    """Measures by calling `step`; notes what was prepared, cleaned and swept."""

    step: Step = field(default_factory=lambda: play(usual_records()))
    name: str = "local"
    kind: str = "local"
    machine: str = "local"
    prepare_error: Exception | None = None
    clean_error: Exception | None = None
    log: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)

    def status(self) -> TargetStatus:
        return TargetStatus(self.name, self.kind, self.machine, (), TargetFacts(cpus=2))

    def open(self, context: RepeatContext) -> ScriptedSession:
        return ScriptedSession(self, context)

    def cleanup(self, *, lab: str, run: str) -> tuple[str, ...]:
        self.log.append(f"cleanup {run}")
        return (self.left.pop(run),) if run in self.left else ()

    def leftovers(self, *, lab: str) -> tuple[str, ...]:
        return tuple(self.left)


@dataclass
class ScriptedSession:
    target: ScriptedTarget
    context: RepeatContext

    def prepare(self) -> tuple[Readback, ...]:
        self.target.log.append(f"prepare {self.context.repeat}")
        if self.target.prepare_error is not None:
            raise self.target.prepare_error
        return ()

    def measure(self, sink: Sink, stop: StopFlag) -> None:
        self.target.step(sink, stop)

    def clean(self) -> None:
        self.target.log.append(f"clean {self.context.repeat}")
        if self.target.clean_error is not None:
            raise self.target.clean_error


def queued_run(*, machine: str = "local", repeats: int = 1, target: str = "local") -> Run:
    """A queued run of the two arms, without asking any target."""
    plan = make_plan(spec(), kind="local", cpus=2, repeats=repeats)
    run = Run.objects.create(
        experiment="two-arms",
        title="Two arms",
        spec=SPEC,
        plan=plan.to_dict(),
        target=target,
        target_kind="local",
        machine=machine,
        repeats_asked=repeats,
        expected_us=plan.expected_us,
    )
    Repeat.objects.bulk_create(
        Repeat(run=run, order=order, arm=step.arm, arm_name=plan.arms[step.arm].name, n=step.n)
        for order, step in enumerate(plan.order)
    )
    return run
