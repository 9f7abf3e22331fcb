"""The only way to write rows of a run: fenced, numbered, in one transaction.

A writer holds the fence it was given when it claimed the run. One statement checks that
fence and takes a range of the run's sequence; whoever lost the run writes nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone

from experiments_app.archive.details import detail_of, point_of
from experiments_app.core import packing
from experiments_app.core.errors import Stopped
from experiments_app.core.records import Counters, Samples
from experiments_app.core.records import Round as RoundRecord
from experiments_app.models import Event, EventKind, Round, Run, RunStatus, SampleFrame


class FenceLost(Stopped):
    """Another process has taken the run over, or has ended it."""

    code = "fence-lost"


@dataclass(frozen=True, slots=True)
class EventRow:
    kind: EventKind
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RoundRow:
    repeat: int
    record: RoundRecord


@dataclass(frozen=True, slots=True)
class SettledRow:
    """Settled counters: an event of its own, and columns of the round for those who query."""

    repeat: int
    group: str
    n: int
    counters: Counters
    run_delay_us: int | None


@dataclass(frozen=True, slots=True)
class FrameRow:
    repeat: int
    record: Samples


Row = EventRow | RoundRow | SettledRow | FrameRow


def take_range(*, number: int, fence: int, count: int) -> int:
    """Check the fence and take `count` numbers; returns the first of them."""
    table = connection.ops.quote_name(Run._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET last_seq = last_seq + %s "
            "WHERE number = %s AND fence = %s AND status = %s RETURNING last_seq",
            [count, number, fence, RunStatus.RUNNING],
        )
        row = cursor.fetchone()
    if row is None:
        raise FenceLost(f"Run {number} no longer belongs to this worker.")
    return int(row[0]) - count + 1


@dataclass(frozen=True, slots=True)
class Ledger:
    """Writes rows of one claimed run."""

    number: int
    fence: int

    def append(self, rows: Sequence[Row], *, also: Callable[[], object] | None = None) -> int:
        """Store rows under consecutive numbers; returns the last number given.

        `also` runs in the same transaction, for the state that the rows announce.
        """
        with transaction.atomic():
            first = take_range(number=self.number, fence=self.fence, count=len(rows))
            store(self.number, rows, first)
            if also is not None:
                also()
        return first + len(rows) - 1

    def last_seq(self) -> int:
        """The newest number of the run, as stored."""
        last: int = Run.objects.values_list("last_seq", flat=True).get(number=self.number)
        return last


def store(number: int, rows: Sequence[Row], first: int) -> None:
    """Insert rows numbered from `first`; the caller holds the transaction and the range."""
    now = timezone.now()
    events: list[Event] = []
    rounds: list[tuple[Any, ...]] = []
    frames: list[tuple[Any, ...]] = []
    settled: list[tuple[int, SettledRow]] = []
    for seq, row in enumerate(rows, start=first):
        if isinstance(row, EventRow):
            events.append(Event(run_id=number, seq=seq, kind=row.kind, at=now, body=row.body))
        elif isinstance(row, RoundRow):
            rounds.append(_round(number, seq, row))
        elif isinstance(row, FrameRow):
            frames.append(_frame(number, seq, row))
        else:
            settled.append((seq, row))
            body = {
                "repeat": row.repeat,
                "group": row.group,
                "n": row.n,
                **{name: getattr(row.counters, name) for name in _COUNTERS},
                "run_delay_us": row.run_delay_us,
            }
            events.append(Event(run_id=number, seq=seq, kind=EventKind.SETTLED, at=now, body=body))
    Event.objects.bulk_create(events)
    _insert(Round, _ROUND_COLUMNS, rounds)
    _insert(SampleFrame, _FRAME_COLUMNS, frames)
    _settle(number, settled)


_COUNTERS = tuple(Counters.__slots__)
_ROUND_COLUMNS = (
    *("run_id", "repeat_id", "seq", "group", "n", "start_us", "wall_us", "late_us"),
    *("run_delay_us", *_COUNTERS, "point_us", "detail"),
)
_FRAME_COLUMNS = (
    *("run_id", "repeat_id", "first_seq", "seq", "group", "t0_us", "t1_us", "count", "data"),
)


def _insert(model: type[Model], columns: Sequence[str], rows: list[tuple[Any, ...]]) -> None:
    """Rows of plain numbers, text and bytes: half the time of making a model of each."""
    if not rows:
        return
    quote = connection.ops.quote_name
    names = ", ".join(map(quote, columns))
    marks = ", ".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({marks})", rows
        )


def _round(number: int, seq: int, row: RoundRow) -> tuple[Any, ...]:
    record = row.record
    detail = detail_of(record)
    # JSON as this database takes it; most rounds have none.
    written = None if detail is None else connection.ops.adapt_json_value(detail, None)
    return (
        *(number, row.repeat, seq, record.group, record.n, record.start_us, record.wall_us),
        *(record.late_us, record.run_delay_us),
        *(getattr(record.counters, name) for name in _COUNTERS),
        point_of(detail),
        written,
    )


def _frame(number: int, seq: int, row: FrameRow) -> tuple[Any, ...]:
    samples = row.record.samples
    return (
        *(number, row.repeat, seq, seq, row.record.group),
        *(samples[0].mono_us, samples[-1].mono_us, len(samples), packing.pack(samples)),
    )


_SETTLED_COLUMNS = (
    "settled_seq",
    "settled_run_delay_us",
    *(f"settled_{name}" for name in _COUNTERS),
)


def _settle(number: int, settled: list[tuple[int, SettledRow]]) -> None:
    """Fill the settled columns of rounds that are stored already."""
    if not settled:
        return
    quote = connection.ops.quote_name
    columns = ", ".join(f"{quote(name)} = %s" for name in _SETTLED_COLUMNS)
    where = " AND ".join(f"{quote(name)} = %s" for name in ("run_id", "repeat_id", "group", "n"))
    with connection.cursor() as cursor:
        # One prepared statement for many rows: bulk_update's CASE grows with their square.
        cursor.executemany(
            f"UPDATE {quote(Round._meta.db_table)} SET {columns} WHERE {where}",
            [
                (
                    seq,
                    row.run_delay_us,
                    *(getattr(row.counters, name) for name in _COUNTERS),
                    number,
                    row.repeat,
                    row.group,
                    row.n,
                )
                for seq, row in settled
            ],
        )
