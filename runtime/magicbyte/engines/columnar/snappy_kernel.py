"""snappy among the kernels: no library that has it exports a function, or lets other threads run.

Only what is plain and usual is taken here: a raw block, or one stream of blocks. What
`magicbyte.codecs` judges beyond that is left to it.
"""

from typing import Any

import numpy as np

from magicbyte.codecs import snappy, uvarint
from magicbyte.engines.columnar.stops import NO_ROOM, NOT_TAKEN
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
MAX_LENGTH_BYTES = uvarint.MAX_BYTES

LITERAL = 0
LONGEST_SHORT_LITERAL = 60
"""The length of a longer one has bytes of its own."""

LENGTH, HIGH_OFFSET, NUM_BYTES_SHIFT = 0x7F, 0x700, 12
"""Where what a tag says of a copy lies in a number: see `_copies`."""


def _copies() -> Any:
    """Return by tag, for copies: length, the highest bits of the offset, and how many bytes follow."""
    made = np.zeros(256, np.int64)
    for tag in range(256):
        kind, number = tag & 3, tag >> 2
        if kind == 1:
            made[tag] = 4 + (number & 7) | number >> 3 << 8 | 1 << NUM_BYTES_SHIFT
        elif kind > 1:
            made[tag] = 1 + number | (2 if kind == 2 else 4) << NUM_BYTES_SHIFT
    return made


COPIES = _copies()


@called
def unsnap(p: int, end: int, to: int, room: int) -> int:
    """Write what the section from *p* to *end* comes to, and return how many bytes that are.

    Both places have some bytes behind them, as `copy` wants it.
    """
    if end - p < LEN_HEADER or s8le(p) != XERIAL:
        return _block(p, end, to, room)
    p += LEN_HEADER
    used = 0
    while p < end:
        size = s4be(p) if end - p >= 4 else -1
        p += 4
        if size < 0 or size > MAX_CHUNK_BYTES or size > end - p:
            return NOT_TAKEN
        made = _block(p, p + size, to + used, room - used)
        if made < 0:
            return made
        used += made
        p += size
    return used


@called
def _block(p: int, end: int, to: int, room: int) -> int:
    """Write what the block from *p* to *end* comes to, and return how many bytes that are."""
    claimed, shift = 0, 0
    while True:
        if p == end or shift == 7 * MAX_LENGTH_BYTES:
            return NOT_TAKEN
        byte = u1(p)
        p += 1
        claimed |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    if claimed > (end - p) * MAX_RATIO:
        return NOT_TAKEN
    if claimed > room:
        return NO_ROOM
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
                return NOT_TAKEN
            if length <= 32:
                copy16(at, p)
                copy16(at + 16, p + 16)
            else:
                copy(at, p, length)
            p += length
        else:
            said = int(COPIES[tag])
            num_bytes, length = said >> NUM_BYTES_SHIFT, said & LENGTH
            offset = (said & HIGH_OFFSET) | (u4le(p) & ((1 << 8 * num_bytes) - 1))
            p += num_bytes
            if p > end or offset == 0 or offset > at - to or length > last - at:
                return NOT_TAKEN
            _repeat(at, offset, length)
        at += length
    return claimed if at == last else NOT_TAKEN


@inlined
def _repeat(at: int, offset: int, length: int) -> None:
    """Write *length* bytes, 64 at most, that are those *offset* before them; and some more."""
    begin, end = at - offset, at + length
    if offset >= 16:
        copy16(at, begin)
        if length > 16:
            copy16(at + 16, begin + 16)
            if length > 32:
                copy16(at + 32, begin + 32)
                copy16(at + 48, begin + 48)
        return
    while offset < 8 and at < end:  # what is there twice can be copied two at a time
        put8(at, s8le(begin))
        at += offset
        offset *= 2
    while at < end:
        put8(at, s8le(begin))
        at += 8
        begin += 8
