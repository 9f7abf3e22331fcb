"""HDR histograms read: quickly, since a run holds thousands, and strictly, since they are imported.

The library's own iterator visits every bucket that a histogram could have (tens of
milliseconds each) and inflates whatever it is given; the tests hold this reading equal to it.
The form is HdrHistogram's V2: base64 of a cookie,
a length and a zlib stream of a header and of counts, each a ZigZag LEB128 number, where -n is a
run of n empty buckets (hdrhistogram.org, "HdrHistogram V2 encoding").
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Iterator
from functools import lru_cache

MAX_TEXT = 200_000
HIGHEST_US = 3_600_000_000
_DIGITS = 3
# Buckets of three digits: 2048 single values, then 1024 for each doubling of the width.
_HALF_BITS = 10
_HALF = 1 << _HALF_BITS
_BUCKETS = 23_552
_COMPRESSED, _PLAIN = 0x1C849314, 0x1C849313
_OUTER = struct.Struct(">ii")
_HEADER = struct.Struct(">iiiiqqd")
# A count takes nine bytes at most.
_MOST = _HEADER.size + 9 * _BUCKETS

Pairs = tuple[tuple[int, int], ...]


class BadHistogram(ValueError):
    """A text that is no HDR histogram of ours; the text says why."""


@lru_cache(maxsize=16_384)
def decode(text: str) -> Pairs:
    """(value in us, count), ascending.

    A value is the largest of its bucket. Raises BadHistogram for anything but a whole
    histogram of 1 us to an hour with three digits.
    """
    return tuple((_largest(index), count) for index, count in _counts_of(_payload(text)))


def smallest_like(value_us: int) -> int:
    """The smallest value in the bucket whose largest is `value_us` (us)."""
    width = max(0, value_us.bit_length() - (_HALF_BITS + 1))
    return value_us >> width << width


def _payload(text: str) -> bytes:
    """The bytes of the counts."""
    if len(text) > MAX_TEXT:
        raise BadHistogram("it is longer than a histogram can be")
    try:
        raw = base64.b64decode(text, validate=True)
        cookie, length = _OUTER.unpack_from(raw)
        packed = raw[_OUTER.size :]
        inflate = zlib.decompressobj()
        body = inflate.decompress(packed, _MOST)
        header = _HEADER.unpack_from(body)
    except (binascii.Error, ValueError, struct.error, zlib.error) as error:
        raise BadHistogram(f"it cannot be decoded ({type(error).__name__})") from error
    if cookie != _COMPRESSED or header[0] != _PLAIN or header[2] != 0:
        raise BadHistogram("it is of another kind or version")
    if header[3:6] != (_DIGITS, 1, HIGHEST_US):
        raise BadHistogram("it is not of 1 us to an hour with three digits")
    counts = body[_HEADER.size :]
    if not inflate.eof or inflate.unused_data or length != len(packed) or header[1] != len(counts):
        raise BadHistogram("it is cut short or too long")
    return counts


def _counts_of(data: bytes) -> Iterator[tuple[int, int]]:
    """(index of the bucket, count) of every bucket that is not empty."""
    index = 0
    for number in _numbers(data):
        if number < 0:
            index -= number
            continue
        if index >= _BUCKETS:
            raise BadHistogram("it has more buckets than a histogram can have")
        if number:
            yield index, number
        index += 1


def _numbers(data: bytes) -> Iterator[int]:
    """ZigZag LEB128; the ninth byte of a number holds eight bits."""
    value = shift = 0
    for byte in data:
        if shift == 56:
            value |= byte << shift
        else:
            value |= (byte & 0x7F) << shift
            if byte & 0x80:
                shift += 7
                continue
        yield (value >> 1) ^ -(value & 1)
        value = shift = 0
    if shift:
        raise BadHistogram("it ends within a number")


def _largest(index: int) -> int:
    if index < 2 * _HALF:
        return index
    width = (index >> _HALF_BITS) - 1
    return (((index & (_HALF - 1)) + _HALF + 1) << width) - 1
