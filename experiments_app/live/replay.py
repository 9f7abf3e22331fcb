"""Rows of a run in the order of their numbers, as a reader is sent them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from experiments_app.archive.details import unpacked
from experiments_app.archive.tally import COUNTER_FIELDS
from experiments_app.core.instants import milliseconds
from experiments_app.models import Event, Round, Run, SampleBlock, SampleFrame
from experiments_app.models.rows import PackedSamples

CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows with `after < seq <= last`, encoded once for every reader."""

    after: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Position:
    """Where a run stands: its newest number and whether there will be more."""

    last: int
    status: str
    ended: bool


def position(number: int) -> Position | None:
    """None where there is no such run."""
    run = Run.objects.filter(number=number).only("last_seq", "status").first()
    return Position(run.last_seq, run.status, run.ended) if run else None


def chunks(number: int, after: int, upto: int) -> Iterator[Chunk]:
    """Everything with after < seq <= upto, in pieces of at most CHUNK numbers.

    `upto` must have been read from the run before: its rows are then all visible.
    """
    while after < upto:
        last = min(after + CHUNK, upto)
        rows = rows_between(number, after, last)
        message = {"t": "rows", "prev": after, "last": last, "rows": rows}
        text = json.dumps(message, separators=(",", ":"))
        yield Chunk(after, last, text)
        after = last


def rows_between(number: int, after: int, upto: int) -> list[dict[str, Any]]:
    """The rows of three tables merged by number.

    Frames are read before blocks: when a compaction comes in between, samples are sent
    twice (and dropped by their time), never missed.
    """
    wanted = {"run_id": number, "seq__gt": after, "seq__lte": upto}
    rows = [_frame(frame) for frame in SampleFrame.objects.filter(**wanted)]
    rows += [_frame(block) for block in SampleBlock.objects.filter(**wanted)]
    rows += [_event(event) for event in Event.objects.filter(**wanted)]
    rows += [_round(entry) for entry in Round.objects.filter(**wanted).values(*_ROUND)]
    rows.sort(key=lambda row: row["s"])
    return rows


def _event(event: Event) -> dict[str, Any]:
    return {"s": event.seq, "k": event.kind, "at": milliseconds(event.at), **event.body}


_ROUND = (
    *("seq", "repeat_id", "group", "n", "start_us", "wall_us", "late_us", "detail"),
    *COUNTER_FIELDS,
)


def _round(values: dict[str, Any]) -> dict[str, Any]:
    detail = values.pop("detail")
    return {
        "s": values.pop("seq"),
        "k": "round",
        "repeat": values.pop("repeat_id"),
        **values,
        **(unpacked(detail) if detail else {}),
    }


def _frame(frame: SampleFrame | SampleBlock) -> dict[str, Any]:
    packed: PackedSamples = frame
    return {
        "s": packed.seq,
        "k": "samples",
        "first": packed.first_seq,
        "repeat": frame.repeat_id,
        "group": packed.group,
        "t0": packed.t0_us,
        "t1": packed.t1_us,
        "count": packed.count,
        "data": base64.b64encode(bytes(packed.data)).decode(),
    }
