"""gzip, lz4, snappy and zstd for many entries at once.

All but snappy are decompressed by the functions that the libraries themselves export.

Only what is plain and usual is taken here: one frame, as producers write it, and nothing in it
that `magicbyte.codecs` judges. That has the last word on everything else.
"""

from typing import Any

from magicbyte.codecs import gzip
from magicbyte.engines.columnar.snappy_kernel import unsnap
from magicbyte.engines.columnar.stops import NO_ROOM, NOT_TAKEN, TAKEN
from magicbyte_formats.wire import Codec
from magicbyte_kernels.checksums import crc32
from magicbyte_kernels.primitives import (
    call5,
    called,
    copy,
    put4,
    put8,
    s8le,
    u1,
    u4le,
    wrap,
)

GZIP, SNAPPY, LZ4, ZSTD = map(int, (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD))
"""Plain numbers, which kernels take as constants."""

GZIP_MAGIC = int.from_bytes(gzip.WHOLE, "little")
LEN_GZIP_HEADER, LEN_GZIP_TRAILER = gzip.LEN_FIXED_HEADER, gzip.LEN_TRAILER
NEXT_OUT, AVAIL_OUT, NEXT_IN, AVAIL_IN = 0, 8, 16, 32
"""Where the state of ISA-L, `struct inflate_state`, begins to say where it writes and reads."""
OUT_OVERFLOW = 2
"""ISAL_OUT_OVERFLOW, as the library's function returns it."""

LZ4_MAGIC, ZSTD_MAGIC = 0x184D2204, 0xFD2FB528
FLG_PLAIN, FLG_CONTENT_SIZE = 0x60, 0x08
"""Version 1 and independent blocks, and nothing else but what follows."""
FLG_CONTENT_CHECKSUM = 0x04
BD_IDS = 0x70
STORED = 1 << 31
MAX_RATIO = 255
PRIME1, PRIME2, PRIME3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME4, PRIME5 = 0x27D4EB2F, 0x165667B1
BITS_31, BITS_32 = 0x7FFFFFFF, 0xFFFFFFFF

MOST_WINDOW_LOG = 23
"""Beyond it, whether there is memory for the window is to be judged."""
TOO_SMALL = -70
"""ZSTD_error_dstSize_tooSmall, as the library's functions return it."""


def inflate(
    desc: Any,
    first: int,
    last: int,
    at: Any,
    to: int,
    room: int,
    slack: int,
    max_bytes: int,
    functions: Any,
) -> tuple[int, int, int]:
    """Decompress entries from *first* to before *last* to address *to*, one behind the other.

    *at* are the places of codec, magic, start and end in a descriptor; start and end become those
    of the plain bytes. *functions* are what `libraries` says.
    Returns the entry that was not done, why, and the bytes that were written.
    """
    used = 0
    for n in range(first, last):
        p, end = int(desc[n, at[2]]), int(desc[n, at[3]])
        left = min(room - used - slack, max_bytes)
        if left < 0:  # to a library it would be much
            return n, NO_ROOM, used
        size = NOT_TAKEN
        if desc[n, at[0]] == LZ4 and functions[0] != 0:
            size = _lz4(p, end, to + used, left, desc[n, at[1]] >= 1, int(functions[0]))
        elif desc[n, at[0]] == SNAPPY:
            size = unsnap(p, end, to + used, left)
        elif desc[n, at[0]] == GZIP and functions[5] != 0:
            size = _gzip(p, end, to + used, left, int(functions[5]), int(functions[6]))
        elif desc[n, at[0]] == ZSTD and desc[n, at[1]] >= 2 and functions[1] != 0:
            size = _zstd(p, end, to + used, left, functions)
        if size == NO_ROOM and left == max_bytes:
            size = NOT_TAKEN
        if size < 0:
            return n, size, used
        desc[n, at[2]] = to + used
        desc[n, at[3]] = to + used + size
        used += size
    return last, TAKEN, used


@called
def _lz4(p: int, end: int, to: int, room: int, is_checked: bool, decompress: int) -> int:
    """Return the bytes that the frame from *p* to *end* comes to."""
    if end - p < 11 or u4le(p) != LZ4_MAGIC:
        return NOT_TAKEN
    flags, sizes = u1(p + 4), u1(p + 5)
    if flags & ~(FLG_CONTENT_SIZE | FLG_CONTENT_CHECKSUM) != FLG_PLAIN:
        return NOT_TAKEN
    if sizes & ~BD_IDS != 0 or sizes >> 4 < 4:
        return NOT_TAKEN
    most = 1 << (8 + 2 * (sizes >> 4))
    len_descriptor = 10 if flags & FLG_CONTENT_SIZE else 2
    behind = p + 4 + len_descriptor
    if behind >= end:
        return NOT_TAKEN
    if is_checked and _header_checksum(p + 4, len_descriptor) != u1(behind):
        return NOT_TAKEN
    p = behind + 1
    used = 0
    while True:
        if end - p < 4:
            return NOT_TAKEN
        length = u4le(p)
        size = length & (STORED - 1)
        p += 4
        if size == 0:
            break
        if size > most or size > end - p:
            return NOT_TAKEN
        if length & STORED:
            if size > room - used:
                return NO_ROOM
            copy(to + used, p, size)
            made = size
        else:
            expected = min(most, size * MAX_RATIO)
            if expected > room - used:
                return NO_ROOM
            made = call5(decompress, p, to + used, size, expected, 0) & BITS_32
            if made > expected:  # a negative int
                return NOT_TAKEN
        used += made
        p += size
    if flags & FLG_CONTENT_CHECKSUM and end - p < 4:
        return NOT_TAKEN
    return used


@called
def _header_checksum(p: int, size: int) -> int:
    """Return the second byte of the XXH32 of fewer than 16 bytes."""
    crc = (PRIME5 + size) & BITS_32
    end = p + size
    while end - p >= 4:
        crc = (crc + _times(u4le(p), PRIME3)) & BITS_32
        crc = _times((crc << 17 | crc >> 15) & BITS_32, PRIME4)
        p += 4
    while p < end:
        crc = (crc + _times(u1(p), PRIME5)) & BITS_32
        crc = _times((crc << 11 | crc >> 21) & BITS_32, PRIME1)
        p += 1
    crc = _times(crc ^ crc >> 15, PRIME2)
    crc = _times(crc ^ crc >> 13, PRIME3)
    return (crc ^ crc >> 16) >> 8 & 0xFF


@called
def _times(number: int, prime: int) -> int:
    return wrap(number * prime) & BITS_32


@called
def _gzip(p: int, end: int, to: int, room: int, decompress: int, state: int) -> int:
    """Return the bytes that the one member from *p* to *end* comes to."""
    if end - p < LEN_GZIP_HEADER + LEN_GZIP_TRAILER or u4le(p) != GZIP_MAGIC:
        return NOT_TAKEN
    put8(state + NEXT_OUT, to)
    put4(state + AVAIL_OUT, min(room, BITS_31))
    put8(state + NEXT_IN, p + LEN_GZIP_HEADER)
    put4(state + AVAIL_IN, end - p - LEN_GZIP_HEADER)
    why = call5(decompress, state, 0, 0, 0, 0) & BITS_32
    if why:
        return NO_ROOM if why == OUT_OVERFLOW else NOT_TAKEN
    used = s8le(state + NEXT_OUT) - to
    behind = end - LEN_GZIP_TRAILER
    if u4le(state + AVAIL_IN) != LEN_GZIP_TRAILER or u4le(behind + 4) != used:
        return NOT_TAKEN
    return used if u4le(behind) == crc32(to, to + used) else NOT_TAKEN


@called
def _zstd(p: int, end: int, to: int, room: int, functions: Any) -> int:
    """Return the bytes that the one frame from *p* to *end* comes to.

    It is read block by block, as a stream is: in one go the library lets larger blocks pass.
    """
    if end - p < 9 or u4le(p) != ZSTD_MAGIC:
        return NOT_TAKEN
    flags, is_single = u1(p + 4), u1(p + 4) & 0x20
    if flags & 0x1B:  # reserved bits, or a dictionary
        return NOT_TAKEN
    if not is_single and 10 + (u1(p + 5) >> 3) >= MOST_WINDOW_LOG:
        return NOT_TAKEN
    if is_single and flags >> 6 >= 2 and not 0 <= u4le(p + 5) < 1 << MOST_WINDOW_LOG:
        return NOT_TAKEN
    if flags >> 6 == 3:
        return NOT_TAKEN
    begin, next_size, go_on, context = functions[1], functions[2], functions[3], functions[4]
    if call5(begin, context, 0, 0, 0, 0) != 0:
        return NOT_TAKEN
    used = 0
    while True:
        size = call5(next_size, context, 0, 0, 0, 0)
        if size == 0:
            break
        if size < 0 or size > end - p:
            return NOT_TAKEN
        made = call5(go_on, context, to + used, room - used, p, size)
        if made < 0:
            return NO_ROOM if made == TOO_SMALL else NOT_TAKEN
        used += made
        p += size
    return used if p == end and used else NOT_TAKEN
