"""The quick reading of histograms says what the library says, and refuses what is none."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments_app.core.histogram import BadHistogram, decode, smallest_like
from tests.archive.service import encoded


def library(text: str) -> tuple[tuple[int, int], ...]:
    """The same pairs as the library's iterator gives them."""
    return tuple(
        (item.value_iterated_to, item.count_added_in_this_iter_step)
        for item in HdrHistogram.decode(text).get_recorded_iterator()
    )


# The library takes tens of milliseconds for each.
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 3_600_000_000), max_size=40))
def test_as_the_library_reads_it(values: list[int]) -> None:
    text = encoded(values)
    assert decode(text) == library(text)
    for value, _ in decode(text):
        assert smallest_like(value) <= value < smallest_like(value) * 1.001 + 1


def test_nothing_counted() -> None:
    assert decode(encoded([])) == ()


@pytest.mark.parametrize("value", [1, 2047, 2048, 2049, 4095, 4096, 3_600_000_000])
def test_at_the_edges_of_buckets(value: int) -> None:
    text = encoded([value])
    ((largest, count),) = decode(text)
    assert (((largest, count),), count) == (library(text), 1)
    assert smallest_like(largest) <= value <= largest


def test_a_count_of_any_size() -> None:
    for count in (1, 63, 64, 8_191, 8_192, 2**31, 2**55, 2**56 - 1):
        body = _leb(count << 1)
        assert decode(_packed(_header(len(body)) + body)) == ((0, count),)


@settings(deadline=None)
@given(
    st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: base64.b64encode(raw).decode())
)
def test_whatever_text_comes(text: str) -> None:
    with pytest.raises(BadHistogram):
        decode(text)


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_whatever_counts_come(counts: bytes) -> None:
    """A histogram or a refusal, never another error; what is read is in order."""
    try:
        found = decode(_packed(_header(len(counts)) + counts))
    except BadHistogram:
        return
    values = [value for value, _ in found]
    assert values == sorted(set(values))
    assert all(count > 0 for _, count in found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A" * 300_000, "longer than a histogram"),
        ("", "cannot be decoded"),
        ("HISTFAAAA", "cannot be decoded"),
    ],
)
def test_damaged_text(text: str, words: str) -> None:
    with pytest.raises(BadHistogram, match=words):
        decode(text)


def test_other_bounds_versions_and_lengths_are_refused() -> None:
    one = _leb(2)
    assert decode(_packed(_header(1) + one)) == ((0, 1),)
    for wrong in (
        _packed(_header(1, digits=2) + one),
        _packed(_header(1, highest=2**60) + one),
        _packed(_header(1, cookie=0x1C849303) + one),
        _packed(_header(2) + one),
        _packed(_header(1) + one, cookie=0x1C849304),
        _packed(_header(1) + one, longer=1),
        _packed(_header(10**6) + bytes(10**6)),
        _packed(_header(8) + _leb(2 * 2**40 - 1) + one),
    ):
        with pytest.raises(BadHistogram):
            decode(wrong)


def _leb(value: int) -> bytes:
    out = bytearray()
    for _ in range(8):
        if value < 0x80:
            out.append(value)
            return bytes(out)
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _header(
    length: int, *, digits: int = 3, highest: int = 3_600_000_000, cookie: int = 0x1C849313
) -> bytes:
    return struct.pack(">iiiiqqd", cookie, length, 0, digits, 1, highest, 1.0)


def _packed(body: bytes, *, cookie: int = 0x1C849314, longer: int = 0) -> str:
    packed = zlib.compress(body)
    return base64.b64encode(struct.pack(">ii", cookie, len(packed) + longer) + packed).decode()
