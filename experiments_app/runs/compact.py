"""After a run's end its sample frames become blocks of about ten seconds."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import transaction

from experiments_app.core import packing
from experiments_app.core.records import Sample
from experiments_app.models import SampleBlock, SampleFrame

BLOCK_US = 10_000_000


def compact(number: int) -> int:
    """Replace the frames of an ended run; returns the number of blocks made. Idempotent.

    A block carries the sequence of its first and last frame, so that a reader who has seen
    a part of it is sent it once more rather than not at all.
    """
    with transaction.atomic():
        frames = SampleFrame.objects.filter(run_id=number).order_by("repeat_id", "group", "seq")
        blocks = list(_blocks(number, frames.iterator(chunk_size=500)))
        SampleBlock.objects.bulk_create(blocks)
        SampleFrame.objects.filter(run_id=number).delete()
    return len(blocks)


def _blocks(number: int, frames: Iterable[SampleFrame]) -> Iterable[SampleBlock]:
    held: list[SampleFrame] = []
    for frame in frames:
        first = held[0] if held else None
        if first is not None and (
            (first.repeat_id, first.group) != (frame.repeat_id, frame.group)
            or frame.t1_us - first.t0_us > BLOCK_US
        ):
            yield _block(number, held)
            held = []
        held.append(frame)
    if held:
        yield _block(number, held)


def _block(number: int, frames: list[SampleFrame]) -> SampleBlock:
    samples: list[Sample] = []
    for frame in frames:
        samples.extend(packing.unpack(bytes(frame.data)))
    return SampleBlock(
        run_id=number,
        repeat_id=frames[0].repeat_id,
        group=frames[0].group,
        first_seq=frames[0].seq,
        seq=frames[-1].seq,
        t0_us=frames[0].t0_us,
        t1_us=frames[-1].t1_us,
        count=len(samples),
        data=packing.pack(samples),
    )
