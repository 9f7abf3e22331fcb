"""One taker wins, and whoever lost a run writes nothing more."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import pytest
from django.db import connection, transaction

from experiments_app.archive.details import detail_of
from experiments_app.core import packing
from experiments_app.live.replay import rows_between
from experiments_app.models import Event, EventKind, Round, Run, RunStatus, SampleFrame
from experiments_app.runs.claim import Claim, claim_next
from experiments_app.runs.ending import Ending, end_run
from experiments_app.runs.ledger import (
    EventRow,
    FenceLost,
    FrameRow,
    Ledger,
    RoundRow,
    SettledRow,
)
from experiments_app.runs.owner import me
from tests.archive.service import measure, telling
from tests.runs.scripted import a_round, queued_run, samples, settled

pytestmark = pytest.mark.django_db(transaction=True)


def note(text: str = "hello") -> EventRow:
    return EventRow(EventKind.NOTE, {"repeat": None, "level": "info", "text": text})


def claimed(run: Run) -> Claim:
    claim = claim_next(machine=run.machine, owner=me())
    assert claim is not None
    assert claim.number == run.number
    return claim


def test_runs_are_claimed_in_order_one_at_a_time_a_machine() -> None:
    first, second, other = queued_run(), queued_run(), queued_run(machine="far")
    claim = claimed(first)
    assert claim_next(machine="local", owner=me()) is None, "the machine is busy"
    assert claim_next(machine="far", owner=me()) == Claim(other.number, 1)
    end_run(number=claim.number, ending=Ending(RunStatus.FINISHED), fence=claim.fence)
    assert claim_next(machine="local", owner=me()) == Claim(second.number, 1)
    assert claim_next(machine="local", owner=me()) is None


def test_only_one_of_many_takers_gets_a_run() -> None:
    queued_run()

    def take(_: int) -> Claim | None:
        try:
            return claim_next(machine="local", owner=me())
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        taken = [claim for claim in threads.map(take, range(16)) if claim]
    assert len(taken) == 1


def test_a_claim_is_announced_in_the_run_s_own_sequence() -> None:
    run = queued_run()
    claimed(run)
    run.refresh_from_db()
    event = Event.objects.get(run=run)
    assert (event.seq, event.kind, event.body["status"]) == (1, "run", "running")
    assert (run.last_seq, run.status, run.fence) == (1, RunStatus.RUNNING, 1)


def test_what_a_second_of_a_load_tells_is_stored_beside_it() -> None:
    run = queued_run()
    repeat = run.repeats.all()[0].pk
    told = telling(
        measure("work_us", [10, 20, 3_000], timeout=2),
        measure("lag_us", []),
        facts={"sent_count": 5},
        servers={"server.1": (3, 1)},
    )
    claimed(run).ledger.append([RoundRow(repeat, a_round(1)), RoundRow(repeat, told)])
    plain, second = Round.objects.filter(run=run).order_by("seq")
    assert (plain.detail, plain.point_us) == (None, None)
    assert Round.objects.filter(run=run, detail__isnull=True).get() == plain
    assert (second.point_us, second.detail) == (20, detail_of(told))
    assert second.detail is not None
    work = second.detail["measures"]["work_us"]
    assert (work["n"], work["p50"], work["p90"], work["max"]) == (3, 20, None, 3_000)
    assert (work["errors"], work["hdr"]) == ({"timeout": 2}, told.measures[0].histogram)
    assert second.detail["measures"]["lag_us"]["p50"] is None
    assert second.detail["servers"] == {"server.1": {"responses": 3, "connections": 1}}
    run.refresh_from_db()
    sent = [row for row in rows_between(run.number, 0, run.last_seq) if row["k"] == "round"]
    assert "measures" not in sent[0]
    assert sent[1]["measures"]["work_us"]["counts"] == [[10, 1], [20, 1], [3_001, 1]]
    assert sent[1]["facts"] == {"sent_count": 5}


def test_rows_get_consecutive_numbers_over_all_kinds() -> None:
    run = queued_run()
    ledger = claimed(run).ledger
    repeat = run.repeats.all()[0].pk
    one, two = a_round(1), settled(1)
    last = ledger.append(
        [
            note(),
            RoundRow(repeat, one),
            FrameRow(repeat, samples(5_000_000, 3)),
            SettledRow(repeat, "app", 1, two.counters, two.run_delay_us),
        ]
    )
    assert last == 5
    stored = Round.objects.get(run=run)
    frame = SampleFrame.objects.get(run=run)
    assert (stored.seq, frame.seq, stored.settled_seq) == (3, 4, 5)
    assert (stored.wall_us, stored.throttled_us, stored.settled_throttled_us) == (
        9_001,
        40_000,
        41_000,
    )
    assert (stored.settled_window_us, stored.settled_run_delay_us) == (50_000, 310)
    assert packing.unpack(bytes(frame.data)) == samples(5_000_000, 3).samples
    assert (frame.t0_us, frame.t1_us, frame.count) == (5_000_000, 5_040_000, 3)
    event = Event.objects.get(run=run, kind="settled")
    assert event.seq == 5
    assert event.body == {
        "repeat": repeat,
        "group": "app",
        "n": 1,
        "run_delay_us": 310,
        **asdict(two.counters),
    }


def test_a_writer_with_an_old_fence_writes_nothing() -> None:
    run = queued_run()
    claim = claimed(run)
    end_run(number=run.number, ending=Ending(RunStatus.INTERRUPTED, "worker-silent"))
    before = list(Event.objects.values_list("seq", flat=True))
    with pytest.raises(FenceLost):
        claim.ledger.append([note("too late")])
    assert list(Event.objects.values_list("seq", flat=True)) == before


def test_a_failed_append_leaves_no_hole() -> None:
    run = queued_run()
    ledger = claimed(run).ledger

    def fail() -> None:
        raise RuntimeError("in the same transaction")

    with pytest.raises(RuntimeError):
        ledger.append([note()], also=fail)
    assert ledger.append([note()]) == 2
    assert list(Event.objects.order_by("seq").values_list("seq", flat=True)) == [1, 2]


def test_a_round_cannot_be_stored_twice() -> None:
    run = queued_run()
    ledger = claimed(run).ledger
    repeat = run.repeats.all()[0].pk
    ledger.append([RoundRow(repeat, a_round(1))])
    with pytest.raises(Exception, match=r"(?i)unique"), transaction.atomic():
        ledger.append([RoundRow(repeat, a_round(1))])
    assert Round.objects.count() == 1
    assert Ledger(run.number, 1).last_seq() == 2


def test_the_last_event_of_a_run_carries_its_final_number() -> None:
    run = queued_run()
    claim = claimed(run)
    final = end_run(number=run.number, ending=Ending(RunStatus.CANCELLED, "cancelled", "Enough."))
    run.refresh_from_db()
    last = Event.objects.filter(run=run).latest("seq")
    assert (final, last.seq, last.body["final"], run.last_seq) == (4, 4, 4, 4)
    assert (last.body["status"], last.body["reason"]) == ("cancelled", "Enough.")
    assert [repeat.state for repeat in run.repeats.all()] == ["skipped", "skipped"]
    assert run.fence == claim.fence + 1
    again = Ending(RunStatus.FAILED)
    assert end_run(number=run.number, ending=again, fence=claim.fence) is None
