"""The samples of a run as pieces of about ten seconds, whether it was compacted yet or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from experiments_app.core import packing
from experiments_app.models import Repeat, Run, SampleBlock, SampleFrame


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive samples of one group of one repeat (its order in the run), packed.

    `t0_us` and `t1_us` are CLOCK_MONOTONIC of the first and the last sample; `data` is in
    the form of core.packing.
    """

    repeat: int
    group: str
    t0_us: int
    t1_us: int
    count: int
    data: bytes


def pieces(run: Run) -> Iterator[Piece]:
    """Every piece in the order of repeat, group and time."""
    for order, repeat in (
        Repeat.objects.filter(run_id=run.pk).order_by("order").values_list("order", "pk")
    ):
        # Frames first: when a compaction comes in between, its samples are found in both.
        frames = SampleFrame.objects.filter(repeat_id=repeat).order_by("group", "seq")
        loose = [_piece(order, frame) for frame in frames]
        blocks = SampleBlock.objects.filter(repeat_id=repeat).order_by("group", "t0_us")
        held = [_piece(order, block) for block in blocks]
        ends: dict[str, int] = {}
        for block in held:
            ends[block.group] = max(block.t1_us, ends.get(block.group, -1))
        rest = [piece for piece in loose if piece.t0_us > ends.get(piece.group, -1)]
        yield from sorted([*held, *_merged(rest)], key=lambda piece: (piece.group, piece.t0_us))


def _piece(order: int, row: SampleFrame | SampleBlock) -> Piece:
    return Piece(order, row.group, row.t0_us, row.t1_us, row.count, bytes(row.data))


def _merged(frames: Iterable[Piece]) -> Iterator[Piece]:
    for batch in packing.in_blocks(frames, key=lambda frame: frame.group):
        first, last = batch[0], batch[-1]
        data, count = packing.join(batch)
        yield Piece(first.repeat, first.group, first.t0_us, last.t1_us, count, data)
