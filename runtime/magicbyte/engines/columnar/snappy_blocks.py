"""Where the blocks of snappy lie, for many entries at once: a library decompresses each.

Only what is plain and usual is taken here: a raw block, or one stream of blocks. What
`magicbyte.codecs` judges beyond that is left to it.
"""

from typing import Any

from magicbyte.codecs import snappy, uvarint
from magicbyte.engines.columnar.stops import (
    END,
    ENTRY,
    NO_ROOM,
    NOT_TAKEN,
    SIZE,
    START,
    TAKEN,
)
from magicbyte_formats.columnar.primitives import called, s4be, s8le, u1

ID, MAX_RATIO, MAX_CHUNK_BYTES = snappy.ID, snappy.MAX_RATIO, snappy.MAX_CHUNK_BYTES
XERIAL, LEN_HEADER = int.from_bytes(snappy.XERIAL, "little"), snappy.LEN_HEADER
MAX_LENGTH_BYTES = uvarint.MAX_BYTES


def snappy_blocks(
    desc: Any,
    first: int,
    last: int,
    at: Any,
    to: int,
    room: int,
    slack: int,
    max_bytes: int,
    blocks: Any,
) -> tuple[int, int, int]:
    """Find the blocks of entries from *first* to before *last*, to be decompressed to address *to*.

    *at* are the places of codec, magic, start and end in a descriptor; start and end become those
    of the plain bytes, one entry behind the other. *blocks* is filled.
    Returns the entry that was not done, why, and the number of blocks.
    """
    used, count = 0, 0
    for n in range(first, last):
        if desc[n, at[0]] != ID:
            return n, NOT_TAKEN, count
        p, end = int(desc[n, at[2]]), int(desc[n, at[3]])
        is_stream = end - p >= LEN_HEADER and s8le(p) == XERIAL
        if is_stream:
            p += LEN_HEADER
        plain, number = 0, count
        while p < end or not (is_stream or number > count):
            stop = end
            if is_stream:
                size = s4be(p) if end - p >= 4 else -1
                p += 4
                if size < 0 or size > MAX_CHUNK_BYTES or size > end - p:
                    return n, NOT_TAKEN, count
                stop = p + size
            claimed = _claim(p, stop)
            plain += claimed
            if claimed < 0 or plain > max_bytes:
                return n, NOT_TAKEN, count
            if number == len(blocks):
                return n, NO_ROOM if n > first else NOT_TAKEN, count
            if plain > room - used - slack:
                return n, NO_ROOM, count
            blocks[number, ENTRY] = n
            blocks[number, START] = p
            blocks[number, END] = stop
            blocks[number, SIZE] = claimed
            number += 1
            p = stop
        desc[n, at[2]] = to + used
        desc[n, at[3]] = to + used + plain
        used += plain
        count = number
    return last, TAKEN, count


@called
def _claim(p: int, end: int) -> int:
    """Return what the block from *p* to *end* says it comes to; -1 where its bytes cannot."""
    claimed, shift, begin = 0, 0, p
    while p < end and p < begin + MAX_LENGTH_BYTES:
        byte = u1(p)
        p += 1
        claimed |= (byte & 0x7F) << shift
        if byte < 0x80:
            return claimed if claimed <= (end - p) * MAX_RATIO else -1
        shift += 7
    return -1
