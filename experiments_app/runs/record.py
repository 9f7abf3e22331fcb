"""From a target's records to stored rows: buffered for a moment, written in batches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict

import structlog
from django.db import InterfaceError, OperationalError, connection

from experiments_app.core.errors import Stopped
from experiments_app.core.records import (
    ArmFinished,
    Hello,
    Note,
    Record,
    Round,
    RoundSettled,
    Samples,
    Tree,
)
from experiments_app.models import EventKind
from experiments_app.runs.lease import TAKEN, UNREACHABLE
from experiments_app.runs.ledger import (
    EventRow,
    FenceLost,
    FrameRow,
    Ledger,
    RoundRow,
    Row,
    SettledRow,
)
from experiments_app.runs.stop import Stop, StopReason

log = structlog.get_logger(__name__)

BATCH_SECONDS = 0.03
MOST_WAITING = 20_000
MOST_AT_ONCE = 1_000
TRIES = 40


def rows_of(record: Record, repeat: int) -> list[Row]:
    """The rows that one record becomes."""
    match record:
        case Round():
            return [RoundRow(repeat, record)]
        case RoundSettled():
            return [
                SettledRow(repeat, record.group, record.n, record.counters, record.run_delay_us)
            ]
        case Samples():
            return [FrameRow(repeat, record)] if record.samples else []
        case Note():
            # PostgreSQL refuses a NUL in text, and a program may print one.
            text = record.text.replace("\0", "\N{REPLACEMENT CHARACTER}")
            body: dict[str, object] = {"level": record.level, "text": text}
            return [EventRow(EventKind.NOTE, {"repeat": repeat, **body})]
        case Hello():
            return [EventRow(EventKind.HELLO, {"repeat": repeat, **asdict(record)})]
        case Tree():
            return [EventRow(EventKind.TREE, {"repeat": repeat, **asdict(record)})]
        case ArmFinished():
            return [
                EventRow(
                    EventKind.TOTALS,
                    {
                        "repeat": repeat,
                        "group": total.group,
                        **asdict(total.counters),
                        "run_delay_us": total.run_delay_us,
                    },
                )
                for total in record.totals
            ]


class Recorder:
    """Collects rows from any thread and stores them about every 30 ms, in order.

    `announce(number, last_seq)` is called after each stored batch; it must not block. A
    database that is away for a moment is waited for; a lost fence stops the run.
    """

    def __init__(self, *, ledger: Ledger, stop: Stop, announce: Callable[[int, int], None]) -> None:
        self._ledger = ledger
        self._stop = stop
        self._announce = announce
        self._rows: list[Row] = []
        self._ready = threading.Condition()
        self._writing = threading.Lock()
        self._closed = False
        self._fault: StopReason | None = None
        self._last = 0
        self._thread = threading.Thread(target=self._loop, name="recorder", daemon=True)

    def __enter__(self) -> Recorder:
        self._last = self._ledger.last_seq()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._ready:
            self._closed = True
            self._ready.notify_all()
        self._thread.join(timeout=60)

    def put(self, rows: list[Row]) -> None:
        """Queue rows; waits while far too many are waiting; Stopped once the run must stop."""
        self._stop.check()
        with self._ready:
            while len(self._rows) >= MOST_WAITING and not self._stop.is_set():
                self._ready.wait(0.2)
            self._rows.extend(rows)
            self._ready.notify_all()
        self._stop.check()

    def flush(self, *more: Row, also: Callable[[], object] | None = None) -> None:
        """Store everything that is waiting, then `more`, before returning."""
        with self._writing:
            self._raise_fault()
            with self._ready:
                batch, self._rows = [*self._rows, *more], []
                self._ready.notify_all()
            # In pieces: nobody else can write to SQLite while one is stored.
            while len(batch) > MOST_AT_ONCE:
                self._write(batch[:MOST_AT_ONCE], None)
                del batch[:MOST_AT_ONCE]
            if batch:
                self._write(batch, also)

    def _loop(self) -> None:
        try:
            while True:
                with self._ready:
                    self._ready.wait_for(lambda: self._rows or self._closed)
                    if self._closed and not self._rows:
                        return
                # Rows that follow at once share the transaction.
                if not self._closed:
                    self._stop.wait(BATCH_SECONDS)
                self.flush()
        except Stopped:
            pass
        except Exception as error:
            log.exception("rows lost", run=self._ledger.number)
            self._fault = StopReason(
                "lab-fault",
                f"Rows of this run could not be stored: {type(error).__name__}: {error}",
                "This is a fault of Throttle Lab: the worker's log has the details.",
            )
            self._stop.request(self._fault)
        finally:
            connection.close()

    def _raise_fault(self) -> None:
        """What the thread could not store is not stored by going on."""
        if self._fault is not None:
            raise Stopped(self._fault.text, remedy=self._fault.remedy, code=self._fault.code)

    def _write(self, batch: list[Row], also: Callable[[], object] | None) -> None:
        for attempt in range(TRIES):
            try:
                last = self._already_stored(batch) if attempt else None
                if last is None:
                    last = self._ledger.append(batch, also=also)
            except FenceLost:
                self._stop.request(TAKEN)
                raise
            except (OperationalError, InterfaceError) as error:
                log.warning("rows not stored yet", run=self._ledger.number, error=str(error))
                connection.close()
                if self._stop.wait(0.25) and attempt > 4:
                    break
            else:
                self._last = last
                self._announce(self._ledger.number, last)
                return
        self._stop.request(UNREACHABLE)
        self._stop.check()

    def _already_stored(self, batch: list[Row]) -> int | None:
        """After a lost connection: was the batch committed before its answer was lost?

        Only the holder of the fence numbers rows, so the run's last number tells.
        """
        last = self._ledger.last_seq()
        return last if last == self._last + len(batch) else None
