"""Samples packed into bytes: a few bytes a sample instead of a row a sample.

Form: varint count, then five columns (mono_us, usage_us, nr_periods, nr_throttled,
throttled_us), each of `count` varints: 0 for a value that was not measured, otherwise
1 + zigzag(value - the column's previous measured value), the first against 0. Varints are
little-endian base 128. Values must stay below 2^53, so that a browser reads them exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from experiments_app.core.errors import LabError
from experiments_app.core.records import Sample

LARGEST = 2**53 - 1
BLOCK_US = 10_000_000


class Packed(Protocol):
    """A packed piece with the instants of its first and last sample."""

    @property
    def t0_us(self) -> int: ...

    @property
    def t1_us(self) -> int: ...

    @property
    def data(self) -> bytes | memoryview: ...


P = TypeVar("P", bound=Packed)


class PackingError(LabError):
    code = "bad-samples"


def pack(samples: Sequence[Sample]) -> bytes:
    """Bytes for these samples, in their order."""
    out = bytearray()
    _put(out, len(samples))
    for column in _columns(samples):
        before = 0
        for value in column:
            if value is None:
                _put(out, 0)
                continue
            if not 0 <= value <= LARGEST:
                raise PackingError(f"A counter of {value} cannot be packed (0 to 2^53 - 1).")
            difference = value - before
            _put(out, 1 + (difference * 2 if difference >= 0 else -difference * 2 - 1))
            before = value
    return bytes(out)


def unpack(data: bytes) -> tuple[Sample, ...]:
    """The samples again; raises PackingError where the bytes are not such a packing."""
    numbers = _numbers(data)
    count = next(numbers, None)
    if count is None or count > len(data):
        raise PackingError("These bytes are not packed samples.")
    columns: list[list[int | None]] = []
    for _ in range(5):
        column: list[int | None] = []
        before = 0
        for _ in range(count):
            coded = next(numbers, None)
            if coded is None:
                raise PackingError("Packed samples end too early.")
            if coded == 0:
                column.append(None)
                continue
            zigzag = coded - 1
            before += zigzag // 2 if zigzag % 2 == 0 else -(zigzag // 2) - 1
            column.append(before)
        columns.append(column)
    if next(numbers, None) is not None:
        raise PackingError("Bytes are left over after the packed samples.")
    return tuple(_sample(*row) for row in zip(*columns, strict=True))


def in_blocks(pieces: Iterable[P], key: Callable[[P], object]) -> Iterator[list[P]]:
    """Consecutive pieces of one key, as many as fit into BLOCK_US."""
    held: list[P] = []
    for piece in pieces:
        if held and (key(piece) != key(held[0]) or piece.t1_us - held[0].t0_us > BLOCK_US):
            yield held
            held = []
        held.append(piece)
    if held:
        yield held


def join(pieces: Sequence[Packed]) -> tuple[bytes, int]:
    """One packing of several, and how many samples it has."""
    samples = [sample for piece in pieces for sample in unpack(bytes(piece.data))]
    return pack(samples), len(samples)


def _columns(samples: Sequence[Sample]) -> Iterable[list[int | None]]:
    yield [sample.mono_us for sample in samples]
    yield [sample.usage_us for sample in samples]
    yield [sample.nr_periods for sample in samples]
    yield [sample.nr_throttled for sample in samples]
    yield [sample.throttled_us for sample in samples]


def _sample(
    mono_us: int | None,
    usage_us: int | None,
    nr_periods: int | None,
    nr_throttled: int | None,
    throttled_us: int | None,
) -> Sample:
    if mono_us is None:
        raise PackingError("A packed sample has no time.")
    return Sample(mono_us, usage_us, nr_periods, nr_throttled, throttled_us)


def _put(out: bytearray, number: int) -> None:
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _numbers(data: bytes) -> Iterator[int]:
    number = shift = 0
    open_number = False
    for byte in data:
        number |= (byte & 0x7F) << shift
        open_number = True
        if byte < 0x80:
            yield number
            number = shift = 0
            open_number = False
        else:
            shift += 7
    if open_number:
        raise PackingError("Packed samples end in the middle of a number.")
