"""Kernel that decompresses snappy: no Python package exports a function for it, or releases the GIL.

Supported are a raw block and a single xerial stream. Every other payload is left to `magicbyte.codecs`.
"""

from typing import Any

import numpy as np

from magicbyte.codecs import snappy
from magicbyte.engines.columnar._signatures import OUTPUT_FULL, UNSUPPORTED_PAYLOAD
from magicbyte_kernels.primitives import (
    called,
    copy,
    copy16,
    inlined,
    put8,
    s4be,
    s8le,
    u1,
    u4le,
)

MAX_RATIO, MAX_CHUNK_BYTES = snappy.MAX_RATIO, snappy.MAX_CHUNK_BYTES
XERIAL, LEN_HEADER = int.from_bytes(snappy.XERIAL, "little"), snappy.LEN_HEADER
MAX_LENGTH_BYTES = snappy.MAX_UVARINT_BYTES

LITERAL = 0
LONGEST_SHORT_LITERAL = 60
"""Longer literals state their length in bytes after the tag."""

LENGTH, HIGH_OFFSET, NUM_BYTES_SHIFT = 0x7F, 0x700, 12
"""Bits of an item of COPIES: length, high bits of the offset, number of offset bytes after the tag."""


def _copies() -> Any:
    """Return the length, offset bits and number of offset bytes of each tag's copy; 0 for a literal's tag."""
    copies = np.zeros(256, np.int64)
    for tag in range(256):
        kind, number = tag & 3, tag >> 2
        if kind == 1:
            copies[tag] = 4 + (number & 7) | number >> 3 << 8 | 1 << NUM_BYTES_SHIFT
        elif kind > 1:
            copies[tag] = 1 + number | (2 if kind == 2 else 4) << NUM_BYTES_SHIFT
    return copies


COPIES = _copies()


@called
def decompress_snappy(p: int, end: int, to: int, capacity: int) -> int:
    """Decompress the payload [p, end) to address *to*; return the number of decompressed bytes.

    Some bytes after the end of both must be accessible, as `copy` needs it.
    """
    if end - p < LEN_HEADER or s8le(p) != XERIAL:
        return _block(p, end, to, capacity)
    p += LEN_HEADER
    used = 0
    while p < end:
        size = s4be(p) if end - p >= 4 else -1
        p += 4
        if size < 0 or size > MAX_CHUNK_BYTES or size > end - p:
            return UNSUPPORTED_PAYLOAD
        size_written = _block(p, p + size, to + used, capacity - used)
        if size_written < 0:
            return size_written
        used += size_written
        p += size
    return used


@called
def _block(p: int, end: int, to: int, capacity: int) -> int:
    """Decompress the block [p, end) to address *to*; return the number of decompressed bytes."""
    claimed, shift = 0, 0
    while True:
        if p == end or shift == 7 * MAX_LENGTH_BYTES:
            return UNSUPPORTED_PAYLOAD
        byte = u1(p)
        p += 1
        claimed |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if claimed > (end - p) * MAX_RATIO:
        return UNSUPPORTED_PAYLOAD
    if claimed > capacity:
        return OUTPUT_FULL
    at, last = to, to + claimed
    while p < end:
        tag = u1(p)
        p += 1
        if tag & 3 == LITERAL:
            length = (tag >> 2) + 1
            if length > LONGEST_SHORT_LITERAL:
                num_bytes = length - LONGEST_SHORT_LITERAL
                length = (u4le(p) & ((1 << 8 * num_bytes) - 1)) + 1
                p += num_bytes
            if length > end - p or length > last - at:
                return UNSUPPORTED_PAYLOAD
            if length <= 32:
                copy16(at, p)
                copy16(at + 16, p + 16)
            else:
                copy(at, p, length)
            p += length
        else:
            copied = int(COPIES[tag])
            num_bytes, length = copied >> NUM_BYTES_SHIFT, copied & LENGTH
            offset = (copied & HIGH_OFFSET) | (u4le(p) & ((1 << 8 * num_bytes) - 1))
            p += num_bytes
            if p > end or offset == 0 or offset > at - to or length > last - at:
                return UNSUPPORTED_PAYLOAD
            _repeat(at, offset, length)
        at += length
    return claimed if at == last else UNSUPPORTED_PAYLOAD


@inlined
def _repeat(at: int, offset: int, length: int) -> None:
    """Copy *length* bytes, 64 at most, from *offset* bytes before *at*; write up to 63 bytes more."""
    begin, end = at - offset, at + length
    if offset >= 16:
        copy16(at, begin)
        if length > 16:
            copy16(at + 16, begin + 16)
            if length > 32:
                copy16(at + 32, begin + 32)
                copy16(at + 48, begin + 48)
        return
    while offset < 8 and at < end:  # each copy doubles the period
        put8(at, s8le(begin))
        at += offset
        offset *= 2
    while at < end:
        put8(at, s8le(begin))
        at += 8
        begin += 8
