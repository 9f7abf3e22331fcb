"""From the bytes of an exported file to a checked run: nothing here touches the database."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pydantic import TypeAdapter, ValidationError

from experiments_app.archive.bundle import MAX_BYTES, Bundle
from experiments_app.archive.document import FORMAT
from experiments_app.archive.errors import DocumentError, read_as
from experiments_app.archive.exports import DOCUMENT, INDEX, LOG
from experiments_app.archive.samples import Piece
from experiments_app.archive.schema import BlockShape, DocumentShape, IndexShape, LogLine
from experiments_app.archive.strict_json import parse
from experiments_app.core import packing
from experiments_app.core.errors import LabError
from experiments_app.core.plan import Plan
from experiments_app.core.spec import parse_spec
from experiments_app.models import END_STATES

MAX_DOCUMENT = 100_000_000
MAX_PIECE = 2_000_000
MAX_LIST = 50_000_000
MAX_LINES = 200_000
_DOCUMENT = TypeAdapter(DocumentShape)
_INDEX = TypeAdapter(IndexShape)
_LINE: TypeAdapter[LogLine] = TypeAdapter(LogLine)
# A number below 2^53 takes 8 bytes, so ten bytes that all go on are no packing of ours.
_ENDLESS = re.compile(rb"[\x80-\xff]{10}")


@dataclass(frozen=True, slots=True)
class Incoming:
    """A run as it came: `plan` as a run stores it; `log` is None where only JSON came."""

    document: DocumentShape
    spec: dict[str, Any]
    plan: dict[str, Any]
    log: list[LogLine] | None
    pieces: list[Piece]


def read_file(data: bytes, filename: str) -> Incoming:
    """The run in a file: the JSON document or the zip, told apart by the content.

    Raises DocumentError.
    """
    where = "".join(c if c.isprintable() else "?" for c in filename[-80:]) or "The file"
    if not data:
        raise DocumentError(f"{where} is empty.", remedy="Choose a file that an export wrote.")
    if len(data) > MAX_BYTES:
        raise DocumentError(
            f"{where} has {len(data) // 1_000_000} MB.",
            remedy=f"At most {MAX_BYTES // 1_000_000} MB can be imported.",
        )
    if not data.startswith(b"PK"):
        return _checked(data, where, None)
    bundle = Bundle(data, where)
    return _checked(bundle.read(DOCUMENT, MAX_DOCUMENT), f"{where}: {DOCUMENT}", bundle)


def _checked(data: bytes, where: str, bundle: Bundle | None) -> Incoming:
    if len(data) > MAX_DOCUMENT:
        raise DocumentError(
            f"{where} has {len(data) // 1_000_000} MB.",
            remedy=f"A document of at most {MAX_DOCUMENT // 1_000_000} MB can be imported.",
        )
    raw = parse(data, where)
    _check_format(raw, where)
    document = read_as(_DOCUMENT, raw, where)
    _check_ended(document, where)
    return Incoming(
        document=document,
        spec=_spec(raw["spec"], where),
        plan=_plan(raw, where),
        log=_log(bundle, document, where) if bundle and LOG in bundle else None,
        pieces=_pieces(bundle, document, where) if bundle and INDEX in bundle else [],
    )


def _check_format(raw: object, where: str) -> None:
    found = raw.get("format") if isinstance(raw, dict) else None
    if found == FORMAT:
        return
    if isinstance(found, str) and found.startswith("throttle-lab.run/"):
        raise DocumentError(
            f"{where} has the format {found[:40]}; this lab reads {FORMAT}.",
            remedy="Update Throttle Lab, or export the run again from a lab of this version.",
        )
    raise DocumentError(
        f'{where} is not a run document: its "format" is not {FORMAT}.',
        remedy="Choose the JSON document or the zip that an export wrote.",
    )


def _check_ended(document: DocumentShape, where: str) -> None:
    run = document.run
    if run.status not in END_STATES or run.finished_at is None:
        raise DocumentError(
            f"{where}: the run had not ended when it was exported (it was {run.status}).",
            remedy="Export it again when it has ended.",
        )


def _spec(raw: dict[str, Any], where: str) -> dict[str, Any]:
    try:
        parse_spec(raw)
    except LabError as error:
        raise _not_runnable(f"{where}: spec:", error) from error
    return raw


def _plan(raw: dict[str, Any], where: str) -> dict[str, Any]:
    """The plan as a run stores it, put together again from the arms."""
    arms = [
        {
            "index": index,
            "name": arm["name"],
            "label": arm["label"],
            "scale": arm["scale"],
            "arm": {**arm["settings"], "name": arm["name"]},
            "expected_us": arm["expected_us"],
            "notes": arm["notes"],
        }
        for index, arm in enumerate(raw["arms"])
    ]
    plan = {"experiment": raw["run"]["experiment"], **raw["plan"], "arms": arms}
    try:
        Plan.from_dict(plan)
    except LabError as error:
        raise _not_runnable(f"{where}:", error) from error
    except ValidationError as error:
        raise _bad_settings(plan, where) from error
    return plan


def _bad_settings(plan: dict[str, Any], where: str) -> DocumentError:
    """Which setting of which arm is wrong, in the words that a spec's author reads."""
    try:
        parse_spec({"name": "imported", "arms": [arm["arm"] for arm in plan["arms"]]})
    except LabError as error:
        return _not_runnable(f"{where}: settings of", error)
    return DocumentError(
        f"{where}: the settings of an arm are not accepted.", remedy="Export the run again."
    )


def _not_runnable(where: str, error: LabError) -> DocumentError:
    return DocumentError(f"{where} {error.message[:1000]}", remedy=error.remedy)


def _log(bundle: Bundle, document: DocumentShape, where: str) -> list[LogLine]:
    orders = {repeat.order for _, repeat in document.repeats}
    texts = bundle.read(LOG, MAX_LIST).splitlines()
    if len(texts) > MAX_LINES:
        raise DocumentError(f"{where}: {LOG} has more than {MAX_LINES} lines.")
    lines: list[LogLine] = []
    for number, text in enumerate(texts, start=1):
        place = f"{LOG} line {number}"
        line = read_as(_LINE, parse(text, place), place)
        if line.kind != "run" and line.repeat is not None and line.repeat not in orders:
            raise DocumentError(f"{place}: the run has no repeat {line.repeat}.")
        lines.append(line)
    return lines


def _pieces(bundle: Bundle, document: DocumentShape, where: str) -> list[Piece]:
    index = read_as(_INDEX, parse(bundle.read(INDEX, MAX_LIST), f"{where}: {INDEX}"), INDEX)
    groups = {(repeat.order, g.name) for _, repeat in document.repeats for g in repeat.groups}
    used: set[str] = set()
    ends: dict[tuple[int, str], int] = {}
    found: list[Piece] = []
    for block in sorted(index.blocks, key=lambda block: (block.repeat, block.group, block.t0_us)):
        key = block.repeat, block.group
        if key not in groups:
            raise _bad_block(block, f"the run has no group {block.group} in that repeat")
        if block.file in used:
            raise _bad_block(block, "the same file is named twice")
        if block.t0_us <= ends.get(key, -1):
            raise _bad_block(block, "it overlaps the block before")
        used.add(block.file)
        ends[key] = block.t1_us
        found.append(_piece(block, bundle.read(block.file, MAX_PIECE)))
    return found


def _piece(block: BlockShape, data: bytes) -> Piece:
    """The block's samples, packed anew: what is stored is in order and in range."""
    if _ENDLESS.search(data):
        raise _bad_block(block, "these bytes are not packed samples")
    try:
        samples = packing.unpack(data)
        packed = packing.pack(samples)
    except packing.PackingError as error:
        raise _bad_block(block, error.message) from error
    times = [sample.mono_us for sample in samples]
    if len(times) != block.count or (times[0], times[-1]) != (block.t0_us, block.t1_us):
        raise _bad_block(block, "count or times are not those of the index")
    if any(after <= before for before, after in pairwise(times)):
        raise _bad_block(block, "the samples are not in order of time")
    return Piece(block.repeat, block.group, times[0], times[-1], len(times), packed)


def _bad_block(block: BlockShape, what: str) -> DocumentError:
    return DocumentError(
        f"{INDEX}: {block.file[:60]!r} (repeat {block.repeat}, {block.group}): {what}.",
        remedy="Export the run again.",
    )
