"""Packed samples: every value comes back, and damaged bytes are refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments_app.core.packing import LARGEST, PackingError, in_blocks, join, pack, unpack
from experiments_app.core.records import Sample

VALUES = st.none() | st.integers(0, LARGEST)
SAMPLES = st.lists(st.builds(Sample, st.integers(0, LARGEST), VALUES, VALUES, VALUES, VALUES))


@given(SAMPLES)
def test_round_trip(samples: list[Sample]) -> None:
    assert unpack(pack(samples)) == tuple(samples)


@given(st.binary(max_size=60))
def test_any_bytes_are_samples_or_refused(data: bytes) -> None:
    try:
        samples = unpack(data)
    except PackingError:
        return
    assert all(isinstance(sample, Sample) for sample in samples)


@given(SAMPLES.filter(len), st.data())
def test_a_cut_is_noticed(samples: list[Sample], data: st.DataObject) -> None:
    packed = pack(samples)
    with pytest.raises(PackingError):
        unpack(packed[: data.draw(st.integers(0, len(packed) - 1))])


def test_the_form_by_hand() -> None:
    one = Sample(300, 5, None, 0, 2)
    # 1 sample; 300 -> zigzag 600 + 1 = 601 = 0xD9 0x04; 5 -> 11; none -> 0; 0 -> 1; 2 -> 5
    assert pack([one]) == bytes([1, 0xD9, 0x04, 11, 0, 1, 5])


def test_a_falling_counter_is_kept_as_it_was_read() -> None:
    samples = (Sample(1, 100, 7, 7, 7), Sample(2, 3, 0, None, 0), Sample(3, 4, 1, 1, 1))
    assert unpack(pack(samples)) == samples


@pytest.mark.parametrize("value", [-1, LARGEST + 1])
def test_what_a_browser_could_not_read_exactly_is_refused(value: int) -> None:
    with pytest.raises(PackingError, match="cannot be packed"):
        pack([Sample(1, value, 0, 0, 0)])


class Piece:
    def __init__(self, group: str, first: int, last: int) -> None:
        self.group = group
        self.t0_us = first
        self.t1_us = last
        self.data = pack([Sample(first, 0, 0, 0, 0), Sample(last, 1, 1, 1, 1)])


def test_pieces_are_joined_within_ten_seconds_and_one_group() -> None:
    seconds = [(0, 4), (4, 10), (10, 11), (11, 12)]
    pieces = [Piece("a", a * 1_000_000, b * 1_000_000) for a, b in seconds]
    pieces.append(Piece("b", 12_000_000, 13_000_000))
    batches = list(in_blocks(pieces, key=lambda piece: piece.group))
    assert [[p.t0_us // 1_000_000 for p in batch] for batch in batches] == [[0, 4], [10, 11], [12]]
    data, count = join(batches[0])
    assert count == 4
    assert [sample.mono_us for sample in unpack(data)] == [0, 4_000_000, 4_000_000, 10_000_000]
