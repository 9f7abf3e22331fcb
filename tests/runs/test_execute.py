"""A claimed run to its end: every path ends it with a reason and cleans up."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from experiments_app.core.errors import Stopped, TargetError
from experiments_app.core.records import Sink, StopFlag
from experiments_app.live.replay import rows_between
from experiments_app.models import Round, Run, RunStatus, SampleBlock, SampleFrame
from experiments_app.runs.announce import silent
from experiments_app.runs.cancel import cancel
from experiments_app.runs.claim import claim_next
from experiments_app.runs.execute import Execution, execute
from experiments_app.runs.owner import me
from experiments_app.runs.stop import Stop
from experiments_app.runs.sweep import sweep
from experiments_app.runs.work import SHUTDOWN
from tests.runs.scripted import ScriptedTarget, a_round, play, queued_run, usual_records

pytestmark = pytest.mark.django_db(transaction=True)


def go(target: ScriptedTarget, *, repeats: int = 1, stop: Stop | None = None) -> Run:
    run = queued_run(repeats=repeats)
    claim = claim_next(machine="local", owner=me())
    assert claim is not None
    execute(
        claim,
        Execution(target=target, lab="lab", stop=stop or Stop(), announce=silent, lease_seconds=10),
    )
    run.refresh_from_db()
    return run


def test_a_whole_run() -> None:
    target = ScriptedTarget()
    run = go(target, repeats=2)
    assert (run.status, run.reason, run.failed_repeats) == (RunStatus.FINISHED, "", 0)
    assert [(r.arm_name, r.n, r.state) for r in run.repeats.all()] == [
        ("none", 1, "done"),
        ("half", 1, "done"),
        ("none", 2, "done"),
        ("half", 2, "done"),
    ]
    assert target.log[-1] == f"cleanup {run.uid}"
    assert target.log.count("clean r0") == 1
    assert Round.objects.filter(run=run).count() == 12
    assert not Round.objects.filter(run=run, settled_seq=None).exists()
    assert SampleFrame.objects.count() == 0, "frames are compacted at the end"
    assert sum(SampleBlock.objects.values_list("count", flat=True)) == 4 * 3 * 4
    repeat = run.repeats.all()[0]
    assert repeat.totals["app"]["throttled_us"] == 123_000
    assert repeat.lab is not None
    assert repeat.lab["window_us"] > 0
    rows = rows_between(run.number, 0, run.last_seq)
    assert [row["s"] for row in rows] == sorted(row["s"] for row in rows)
    states = [row["state"] for row in rows if row["k"] == "repeat" and row["repeat"] == repeat.pk]
    assert states == ["preparing", "measuring", "cleaning", "done"]


def test_a_failed_arm_does_not_stop_the_others() -> None:
    calls: list[int] = []

    def step(sink: Sink, stop: StopFlag) -> None:
        calls.append(1)
        if len(calls) == 1:
            sink(a_round(1))
            raise TargetError("The workload was killed.", remedy="Look at the log.")
        play(usual_records())(sink, stop)

    run = go(ScriptedTarget(step=step))
    assert [repeat.state for repeat in run.repeats.all()] == ["failed", "done"]
    assert run.repeats.all()[0].reason == "The workload was killed. Look at the log."
    assert (run.status, run.reason_code, run.failed_repeats) == (
        RunStatus.FINISHED,
        "finished-with-failures",
        1,
    )
    assert Round.objects.filter(run=run).count() == 4, "what was measured before it failed stays"


def test_a_run_without_one_measured_repeat_has_failed() -> None:
    run = go(ScriptedTarget(prepare_error=TargetError("No such controller.")))
    assert (run.status, run.failed_repeats) == (RunStatus.FAILED, 2)
    assert "No such controller." in run.reason


def test_a_fault_of_the_lab_ends_the_run_and_says_so() -> None:
    def step(_sink: Sink, _stop: StopFlag) -> None:
        raise ZeroDivisionError("a fault")

    run = go(ScriptedTarget(step=step))
    assert (run.status, run.reason_code) == (RunStatus.FAILED, "lab-fault")
    assert "ZeroDivisionError" in run.reason
    assert [repeat.state for repeat in run.repeats.all()] == ["failed", "skipped"]


def test_what_could_not_be_cleaned_is_said() -> None:
    run = go(ScriptedTarget(clean_error=TargetError("A process would not die.")))
    assert run.status == RunStatus.FAILED
    assert "A process would not die." in run.reason


def waiting_step(reached: threading.Event) -> Any:
    def step(sink: Sink, stop: StopFlag) -> None:
        sink(a_round(1))
        reached.set()
        while not stop.wait(0.01):
            pass
        raise Stopped("told to stop")

    return step


def test_cancel_of_a_running_run() -> None:
    reached = threading.Event()
    target = ScriptedTarget(step=waiting_step(reached))

    def later() -> None:
        from django.db import connection

        assert reached.wait(10)
        cancel(number=Run.objects.get().number, who="olga")
        connection.close()

    thread = threading.Thread(target=later)
    thread.start()
    run = go(target)
    thread.join()
    assert (run.status, run.reason_code) == (RunStatus.CANCELLED, "cancelled")
    assert [repeat.state for repeat in run.repeats.all()] == ["failed", "skipped"]
    assert "clean r0" in target.log
    assert Round.objects.filter(run=run).count() == 1


def test_shutdown_interrupts_with_a_reason() -> None:
    stop = Stop()
    stop.request(SHUTDOWN)
    run = go(ScriptedTarget(), stop=stop)
    assert (run.status, run.reason_code) == (RunStatus.INTERRUPTED, "shutdown")
    assert run.remedy.endswith("Run it again.")


def test_cancel_of_a_queued_run_ends_it_at_once() -> None:
    run = queued_run()
    assert cancel(number=run.number, who="olga") == RunStatus.CANCELLED
    run.refresh_from_db()
    assert run.reason == "Cancelled before it began."
    assert claim_next(machine="local", owner=me()) is None
    assert cancel(number=run.number, who="olga") == RunStatus.CANCELLED


def test_the_sweeper_cleans_what_no_running_run_owns() -> None:
    running = queued_run()
    assert claim_next(machine="local", owner=me())
    target = ScriptedTarget(left={"gone": "cgroup gone", running.uid: "cgroup running"})
    assert sweep(target=target, lab="lab") == ["cgroup gone"]
    assert list(target.left) == [running.uid]


def test_rows_that_cannot_be_stored_end_the_run_instead_of_being_lost() -> None:
    """The same round twice is refused by the table; the run must say so and not go on."""

    def step(sink: Sink, stop: StopFlag) -> None:
        for _ in range(2):
            sink(a_round(1))
        while not stop.wait(0.01):
            pass
        raise Stopped("told to stop")

    run = go(ScriptedTarget(step=step))
    assert (run.status, run.reason_code) == (RunStatus.FAILED, "lab-fault")
    assert "could not be stored" in run.reason
    assert [repeat.state for repeat in run.repeats.all()] == ["failed", "skipped"]


def test_a_note_with_a_nul_is_kept_readable() -> None:
    from experiments_app.core.records import Note

    run = go(ScriptedTarget(step=play([Note("before\0after"), *usual_records()])))
    assert run.status == RunStatus.FINISHED
    texts = [r["text"] for r in rows_between(run.number, 0, run.last_seq) if r["k"] == "note"]
    assert "before\N{REPLACEMENT CHARACTER}after" in texts
