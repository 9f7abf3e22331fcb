"""Recording: rounds a second through the real recorder, ledger, SQLite and channel layer."""

from __future__ import annotations

import time

from bench.figure import Figure
from experiments_app.core.records import Counters, Round, RoundSettled, Sample, Samples
from experiments_app.models import Repeat, Run, RunStatus
from experiments_app.runs.announce import Announcer
from experiments_app.runs.claim import claim_next
from experiments_app.runs.compact import compact
from experiments_app.runs.ending import Ending, end_run
from experiments_app.runs.owner import me
from experiments_app.runs.record import Recorder, rows_of
from experiments_app.runs.stop import Stop
from tests.runs.scripted import queued_run

ROUNDS = 10_000
TARGET_ROUNDS_A_SECOND = 2_000
INTERVAL_US = 200_000


def measure() -> tuple[int, list[Figure]]:
    """Record ROUNDS rounds, each with its settled counters and ten samples; the run's number."""
    run = queued_run(machine="bench")
    claim = claim_next(machine="bench", owner=me())
    assert claim is not None
    repeat: Repeat = run.repeats.all()[0]
    records = [_records(n) for n in range(1, ROUNDS + 1)]
    stop = Stop()
    with Announcer() as announce:
        began = time.monotonic()
        with Recorder(ledger=claim.ledger, stop=stop, announce=announce) as recorder:
            for batch in records:
                for record in batch:
                    recorder.put(rows_of(record, repeat.pk))
        seconds = time.monotonic() - began
    end_run(number=claim.number, ending=Ending(RunStatus.FINISHED), fence=claim.fence)
    began = time.monotonic()
    compact(claim.number)
    compacting = time.monotonic() - began
    assert Run.objects.get(number=claim.number).rounds.count() == ROUNDS
    return claim.number, [
        Figure(
            "record",
            "rounds recorded and published",
            ROUNDS / seconds,
            "rounds/s",
            TARGET_ROUNDS_A_SECOND,
            "higher",
            "each with settled counters and a frame of 10 samples",
        ),
        Figure("record", "compaction of its samples", compacting, "s"),
    ]


def _records(n: int) -> tuple[Round | Samples | RoundSettled, ...]:
    start = n * INTERVAL_US
    wall = 80_000 + (n * 7919) % 50_000
    counters = Counters(wall + 90, 164_000, 1, 1, 380_000 + n % 999, 0, 0)
    settled = Counters(INTERVAL_US, 164_400, 2, 1, 380_000 + n % 999, 0, 0)
    samples = tuple(
        Sample(start + i * 20_000, n * 164_400 + i * 16_440, n * 2 + i // 5, n, n * 380_000)
        for i in range(10)
    )
    return (
        Round("app", n, start, wall, counters, 1_200, 0),
        Samples("app", samples),
        RoundSettled("app", n, settled, 1_300),
    )
