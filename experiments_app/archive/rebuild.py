"""The rows of an imported run, under fresh numbers without a gap.

What a reader replays must make sense in this order: a repeat begins, its rounds and samples
follow, it ends; the run's end is the last row. The log gives instants and notes; where
there is none, states are made from the document.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from experiments_app.archive.details import point_of
from experiments_app.archive.incoming import Incoming
from experiments_app.archive.notes import WARNING
from experiments_app.archive.round_schema import CountersShape, RoundShape
from experiments_app.archive.samples import Piece
from experiments_app.archive.schema import LogLine, NoteLine, RepeatLine, RepeatShape, RunLine
from experiments_app.archive.tally import COUNTER_FIELDS
from experiments_app.core.instants import milliseconds
from experiments_app.models import (
    END_STATES,
    Event,
    EventKind,
    Repeat,
    RepeatState,
    Round,
    Run,
    SampleBlock,
)

BATCH = 2000
_ENDS = (RepeatState.DONE, RepeatState.FAILED, RepeatState.SKIPPED)


class Rebuilder:
    """Collects the rows of one run in order; `store` writes them."""

    def __init__(self, run: Run, repeats: Iterable[Repeat], incoming: Incoming) -> None:
        """`run` and its `repeats` are stored already."""
        self._run = run
        self._incoming = incoming
        self._repeats = {repeat.order: repeat for repeat in repeats}
        self._shapes = {shape.order: shape for _, shape in incoming.document.repeats}
        self._pieces: dict[int, list[Piece]] = defaultdict(list)
        for piece in incoming.pieces:
            self._pieces[piece.repeat].append(piece)
        self._seq = 0
        self._measured: set[int] = set()
        self._state: dict[int, str] = {}
        self._untold = _untold_warnings(incoming)
        self._events: list[Event] = []
        self._rounds: list[Round] = []
        self._blocks: list[SampleBlock] = []

    def store(self) -> int:
        """Write every row; returns the last number."""
        log = self._incoming.log
        for line in synthetic_log(self._incoming) if log is None else log:
            self._line(line)
        for order, shape in self._shapes.items():
            if self._state.get(order) != shape.state:
                self._line(_end_line(shape, self._ended_at))
        self._end()
        Event.objects.bulk_create(self._events, BATCH)
        Round.objects.bulk_create(self._rounds, BATCH)
        SampleBlock.objects.bulk_create(self._blocks, 200)
        return self._seq

    @property
    def _ended_at(self) -> datetime:
        run = self._incoming.document.run
        return run.finished_at or run.created_at

    def _next(self) -> int:
        self._seq += 1
        return self._seq

    def _event(self, kind: EventKind, at: datetime, body: dict[str, Any]) -> int:
        seq = self._next()
        self._events.append(Event(run=self._run, seq=seq, kind=kind, at=at, body=body))
        return seq

    def _line(self, line: LogLine) -> None:
        match line:
            case NoteLine():
                repeat = None if line.repeat is None else self._repeats[line.repeat].pk
                body = {"repeat": repeat, "level": line.level, "text": line.text}
                self._event(EventKind.NOTE, line.at, body)
            case RunLine():
                if line.status not in END_STATES:
                    body = {"status": line.status, "reason": line.reason}
                    self._event(EventKind.RUN, line.at, body | {"at": milliseconds(line.at)})
            case RepeatLine():
                self._repeat_line(line)

    def _repeat_line(self, line: RepeatLine) -> None:
        repeat = self._repeats[line.repeat]
        if line.state in _ENDS:
            self._measure(line.repeat)
            self._warn(line)
        body: dict[str, Any] = {
            "repeat": repeat.pk,
            "arm": repeat.arm,
            "n": repeat.n,
            "state": line.state,
            "code": line.code,
            "reason": line.reason,
            "at": milliseconds(line.at),
        }
        measuring = line.state == "measuring"
        if measuring:
            body["readback"] = repeat.readback
        if line.state in _ENDS and repeat.lab is not None:
            body["lab"] = repeat.lab
        self._event(EventKind.REPEAT, line.at, body)
        self._state[line.repeat] = line.state
        if measuring:
            self._measure(line.repeat)

    def _warn(self, end: RepeatLine) -> None:
        """The warnings of a repeat that no line of a log has, before its end."""
        for text in self._untold.pop(end.repeat, ()):
            body = {"repeat": self._repeats[end.repeat].pk, "level": WARNING, "text": text}
            self._event(EventKind.NOTE, end.at, body)

    def _measure(self, order: int) -> None:
        """Everything that a repeat measured, once."""
        if order in self._measured:
            return
        self._measured.add(order)
        repeat, shape = self._repeats[order], self._shapes[order]
        at = shape.started_at or self._ended_at
        for program in repeat.programs.values():
            self._event(EventKind.HELLO, at, {"repeat": repeat.pk, **program})
        for tree in repeat.tree or ():
            self._event(EventKind.TREE, at, {"repeat": repeat.pk, **tree})
        for entry in shape.rounds:
            self._round(repeat, entry, at)
        for piece in self._pieces[order]:
            self._block(repeat, piece)
        for group in shape.groups:
            if group.totals is not None:
                body = {"repeat": repeat.pk, "group": group.name, **counters(group.totals)}
                self._event(EventKind.TOTALS, shape.finished_at or at, body)

    def _round(self, repeat: Repeat, entry: RoundShape, at: datetime) -> None:
        detail = entry.detail
        row = Round(
            run=self._run,
            repeat=repeat,
            seq=self._next(),
            group=entry.group,
            n=entry.n,
            start_us=entry.start_us,
            wall_us=entry.wall_us,
            late_us=entry.late_us,
            point_us=point_of(detail),
            detail=detail,
            **counters(entry),
        )
        if entry.settled is not None:
            values = counters(entry.settled)
            body = {"repeat": repeat.pk, "group": entry.group, "n": entry.n, **values}
            row.settled_seq = self._event(EventKind.SETTLED, at, body)
            for name, value in values.items():
                setattr(row, f"settled_{name}", value)
        self._rounds.append(row)

    def _block(self, repeat: Repeat, piece: Piece) -> None:
        seq = self._next()
        self._blocks.append(
            SampleBlock(
                run=self._run,
                repeat=repeat,
                group=piece.group,
                first_seq=seq,
                seq=seq,
                t0_us=piece.t0_us,
                t1_us=piece.t1_us,
                count=piece.count,
                data=piece.data,
            )
        )

    def _end(self) -> None:
        run = self._run
        ends = [
            line.at
            for line in self._incoming.log or ()
            if isinstance(line, RunLine) and line.status == run.status
        ]
        at = ends[-1] if ends else self._ended_at
        body = {
            "status": run.status,
            "code": run.reason_code,
            "reason": run.reason,
            "remedy": run.remedy,
            "failed_repeats": run.failed_repeats,
            "at": milliseconds(at),
            "final": self._seq + 1,
        }
        self._event(EventKind.RUN, at, body)


def counters(shape: CountersShape) -> dict[str, int | None]:
    """Every counter by name."""
    return {name: getattr(shape, name) for name in COUNTER_FIELDS}


def synthetic_log(incoming: Incoming) -> list[LogLine]:
    """What the log would have said, as far as the document knows."""
    document = incoming.document
    run = document.run
    texts = list(document.plan.notes)
    texts += [f"{arm.name}: {note}" for arm in document.arms for note in arm.notes]
    lines: list[LogLine] = [
        NoteLine(at=run.created_at, kind="note", repeat=None, level="info", text=text)
        for text in texts
    ]
    if run.started_at is not None:
        lines.append(RunLine(at=run.started_at, kind="run", status="running"))
    ended = run.finished_at or run.created_at
    for _, shape in document.repeats:
        if shape.started_at is not None:
            lines.append(
                RepeatLine(
                    at=shape.started_at, kind="repeat", repeat=shape.order, state="measuring"
                )
            )
        lines.append(_end_line(shape, ended))
    return lines


def _untold_warnings(incoming: Incoming) -> dict[int, list[str]]:
    """The warnings of the document that its log lacks, by the repeat's order."""
    logged: dict[int | None, Counter[str]] = defaultdict(Counter)
    for line in incoming.log or ():
        if isinstance(line, NoteLine) and line.level == WARNING:
            logged[line.repeat][line.text] += 1
    untold: dict[int, list[str]] = defaultdict(list)
    for _, shape in incoming.document.repeats:
        known = logged[shape.order]
        for text in shape.warnings:
            if known[text] > 0:
                known[text] -= 1
            else:
                untold[shape.order].append(text)
    return untold


def _end_line(shape: RepeatShape, otherwise: datetime) -> RepeatLine:
    return RepeatLine(
        at=shape.finished_at or otherwise,
        kind="repeat",
        repeat=shape.order,
        state=shape.state,
        code=shape.reason_code or "",
        reason=shape.reason or "",
    )
