"""lz4 and zstd for many entries at once, by the functions that the libraries themselves export.

Only what is plain and usual is taken here: one frame, as producers write it, and nothing in it
that `magicbyte.codecs` judges. That has the last word on everything else.
"""

from typing import Any

from magicbyte_formats.columnar.primitives import call5, copy, kernel, s8le, u1, u4le, wrap

NOT_TAKEN, NO_ROOM = -1, -2

LZ4, ZSTD = 3, 4
"""Their numbers in the attributes of an entry."""

LZ4_MAGIC, ZSTD_MAGIC = 0x184D2204, 0xFD2FB528
FLG_PLAIN, FLG_CONTENT_SIZE = 0x60, 0x08
"""Version 1 and independent blocks, and nothing else but what follows."""
FLG_CONTENT_CHECKSUM = 0x04
BD_IDS = 0x70
STORED = 1 << 31
MAX_RATIO = 255
PRIME1, PRIME2, PRIME3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME4, PRIME5 = 0x27D4EB2F, 0x165667B1
BITS_32 = 0xFFFFFFFF

LEAST_WINDOW_LOG, MOST_WINDOW_LOG = 17, 23
"""Blocks are of 128 KiB then, and nobody asks for memory beyond what every decoder spends."""
RLE, COMPRESSED = 1, 2
MAX_BLOCK_BYTES = 1 << 17
TOO_SMALL = -70
"""ZSTD_error_dstSize_tooSmall, as the library's functions return it."""


@kernel
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
    of the plain bytes. *functions* are LZ4_decompress_safe, ZSTD_decompressDCtx and its context.
    Returns the entry that was not done, why, and the bytes that were written.
    """
    used = 0
    for n in range(first, last):
        p, end = int(desc[n, at[2]]), int(desc[n, at[3]])
        left = room - used - slack
        size = NOT_TAKEN
        if desc[n, at[0]] == LZ4 and functions[0] != 0:
            size = _lz4(p, end, to + used, left, desc[n, at[1]] >= 1, int(functions[0]))
        elif desc[n, at[0]] == ZSTD and desc[n, at[1]] >= 2 and functions[1] != 0:
            size = _zstd(p, end, to + used, left, int(functions[1]), int(functions[2]))
        if size > max_bytes:
            size = NOT_TAKEN
        if size < 0:
            return n, size, used
        desc[n, at[2]] = to + used
        desc[n, at[3]] = to + used + size
        used += size
    return last, 0, used


@kernel
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


@kernel
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


@kernel
def _times(number: int, prime: int) -> int:
    return wrap(number * prime) & BITS_32


@kernel
def _zstd(p: int, end: int, to: int, room: int, decompress: int, context: int) -> int:
    """Return the bytes that the one frame from *p* to *end* comes to."""
    if end - p < 9 or u4le(p) != ZSTD_MAGIC:
        return NOT_TAKEN
    flags = u1(p + 4)
    is_single, has_checksum, has_dictionary = flags & 0x20, flags & 4, flags & 3
    len_content = (1 if is_single else 0, 2, 4, 8)[flags >> 6]
    if flags & 0x18 or has_dictionary:
        return NOT_TAKEN
    at = p + 5
    claimed = 0
    if is_single:
        if len_content == 1:
            claimed = u1(at)
        elif len_content == 2:
            claimed = u1(at) + (u1(at + 1) << 8) + 256
        elif len_content == 4:
            claimed = u4le(at)
        else:
            claimed = s8le(at)
        if claimed <= 0 or claimed > 1 << MOST_WINDOW_LOG:
            return NOT_TAKEN
    else:
        if not LEAST_WINDOW_LOG <= 10 + (u1(at) >> 3) < MOST_WINDOW_LOG:
            return NOT_TAKEN
        at += 1
    at += len_content
    while True:
        if end - at < 3:
            return NOT_TAKEN
        word = u1(at) | u1(at + 1) << 8 | u1(at + 2) << 16
        kind, size = word >> 1 & 3, word >> 3
        if kind > COMPRESSED or size > MAX_BLOCK_BYTES:
            return NOT_TAKEN
        at += 4 if kind == RLE else 3 + size
        if word & 1:
            break
    if at + (4 if has_checksum else 0) != end:
        return NOT_TAKEN
    if claimed > room:
        return NO_ROOM
    made = call5(decompress, context, to, room, p, end - p)
    if made == TOO_SMALL:
        return NO_ROOM
    return made if made > 0 else NOT_TAKEN
