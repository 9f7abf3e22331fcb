"""A run as a file: the document alone, or a zip of document, samples and log.

The same run gives the same bytes: nothing in a file tells when it was exported.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

from experiments_app.archive.document import FORMAT, document
from experiments_app.archive.samples import Piece, pieces
from experiments_app.core.instants import iso
from experiments_app.models import Event, EventKind, Repeat, Run

DOCUMENT = "run.json"
INDEX = "samples.json"
LOG = "log.ndjson"
README = "README.txt"
SAMPLES_FORMAT = "throttle-lab.samples/1"

_LOGGED = (EventKind.RUN, EventKind.REPEAT, EventKind.NOTE)
# The earliest that a zip can say.
_NEVER = (1980, 1, 1, 0, 0, 0)


def export_json(run: Run) -> bytes:
    """The document as UTF-8 JSON text."""
    return _text(document(run))


def export_zip(run: Run) -> bytes:
    """Everything that is kept of the run, as a zip."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as bundle:
        _put(bundle, README, _readme(run).encode())
        _put(bundle, DOCUMENT, export_json(run))
        _put(bundle, LOG, b"".join(_text(entry) for entry in log(run)))
        entries: list[dict[str, Any]] = []
        for number, piece in enumerate(pieces(run)):
            name = f"samples/{number:05d}.bin"
            entries.append(_entry(piece, name))
            _put(bundle, name, piece.data)
        _put(bundle, INDEX, _text({"format": SAMPLES_FORMAT, "blocks": entries}))
    return out.getvalue()


def log(run: Run) -> Iterator[dict[str, Any]]:
    """What happened, in order: states of the run and of its repeats, and notes.

    `repeat` is the repeat's order in the run, None for the run itself.
    """
    orders = dict(Repeat.objects.filter(run_id=run.pk).values_list("pk", "order"))
    events = Event.objects.filter(run_id=run.pk, kind__in=_LOGGED).order_by("seq")
    for event in events.iterator(chunk_size=1000):
        body = event.body
        line: dict[str, Any] = {"at": iso(event.at), "kind": event.kind}
        if event.kind == EventKind.RUN:
            line["status"] = body["status"]
        else:
            line["repeat"] = orders.get(body["repeat"])
        if event.kind == EventKind.NOTE:
            yield line | {"level": body["level"], "text": body["text"]}
            continue
        if event.kind == EventKind.REPEAT:
            line["state"] = body["state"]
        yield line | {"code": body.get("code", ""), "reason": body.get("reason", "")}


def _entry(piece: Piece, name: str) -> dict[str, Any]:
    return {
        "repeat": piece.repeat,
        "group": piece.group,
        "t0_us": piece.t0_us,
        "t1_us": piece.t1_us,
        "count": piece.count,
        "file": name,
    }


def _put(bundle: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _NEVER)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3
    info.external_attr = 0o644 << 16
    bundle.writestr(info, data, compresslevel=6)


def _text(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return (text + "\n").encode()


def _readme(run: Run) -> str:
    return f"""Throttle Lab: {run.title}, on target {run.target}
Run {run.uid}

{DOCUMENT}      The run document ({FORMAT}): experiment, settings, environment and every
              round. Durations are integers in microseconds; null means not measured.
              throttled_us is CPU time paused, summed over CPUs: never a share of time.
{LOG}    What happened, one JSON object a line.
{INDEX}  Which file holds which samples: repeat (its order in the run), group, first and
              last time (the machine's monotonic clock, us) and how many.
samples/      Counters read from outside the group, packed: a varint count, then five columns
              (mono_us, usage_us, nr_periods, nr_throttled, throttled_us) of that many
              varints: 0 is not measured, else 1 + zigzag(value - the last one measured).
              Varints are little-endian base 128.

Import this file into any Throttle Lab: ./lab import FILE, or Archive, Import.
"""
