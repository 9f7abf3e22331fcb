"""After a run's end its sample frames become blocks of about ten seconds."""

from __future__ import annotations

from django.db import transaction

from experiments_app.core import packing
from experiments_app.models import Run, SampleBlock, SampleFrame


def compact(number: int) -> int:
    """Replace the frames of an ended run; returns the number of blocks made. Idempotent.

    A block carries the sequence of its first and last frame, so that a reader who has seen
    a part of it is sent it once more rather than not at all.
    """
    with transaction.atomic():
        # The worker and control may come to it at once: the second finds nothing left.
        Run.objects.select_for_update().get(number=number)
        frames = SampleFrame.objects.filter(run_id=number).order_by("repeat_id", "group", "seq")
        batches = packing.in_blocks(
            frames.iterator(chunk_size=500), key=lambda frame: (frame.repeat_id, frame.group)
        )
        blocks = [_block(number, batch) for batch in batches]
        SampleBlock.objects.bulk_create(blocks)
        SampleFrame.objects.filter(run_id=number).delete()
    return len(blocks)


def _block(number: int, frames: list[SampleFrame]) -> SampleBlock:
    first, last = frames[0], frames[-1]
    data, count = packing.join(frames)
    return SampleBlock(
        run_id=number,
        repeat_id=first.repeat_id,
        group=first.group,
        first_seq=first.seq,
        seq=last.seq,
        t0_us=first.t0_us,
        t1_us=last.t1_us,
        count=count,
        data=data,
    )
