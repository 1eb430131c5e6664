"""Kernel that decompresses gzip, lz4, snappy and zstd payloads of many entries in one call.

It calls the functions that the libraries export; snappy is our own kernel.

Supported is a single frame as producers write it. Every other payload is left to `magicbyte.codecs`,
which tells damage from an unusual form.
"""

from typing import Any

from magicbyte.codecs import gzip
from magicbyte.engines.columnar._signatures import ALL_DONE, OUTPUT_FULL, UNSUPPORTED_PAYLOAD
from magicbyte.engines.columnar._snappy_kernel import decompress_snappy
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
"""Codecs as int: Numba compiles no enumeration."""

GZIP_MAGIC = int.from_bytes(gzip.WHOLE, "little")
LEN_GZIP_HEADER, LEN_GZIP_TRAILER = gzip.LEN_FIXED_HEADER, gzip.LEN_TRAILER
NEXT_OUT, AVAIL_OUT, NEXT_IN, AVAIL_IN = 0, 8, 16, 32
"""Offsets of ISA-L's `struct inflate_state`: next_out, avail_out, next_in, avail_in."""
OUT_OVERFLOW = 2
"""ISA-L's return value ISAL_OUT_OVERFLOW: the output buffer is too small."""

LZ4_MAGIC, ZSTD_MAGIC = 0x184D2204, 0xFD2FB528
FLG_SUPPORTED, FLG_CONTENT_SIZE = 0x60, 0x08
"""Bits of a frame descriptor's FLG byte: version 1 with independent blocks; a content size follows."""
FLG_CONTENT_CHECKSUM = 0x04
BD_IDS = 0x70
STORED = 1 << 31
MAX_RATIO = 255
PRIME1, PRIME2, PRIME3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME4, PRIME5 = 0x27D4EB2F, 0x165667B1
BITS_31, BITS_32 = 0x7FFFFFFF, 0xFFFFFFFF

MAX_WINDOW_LOG = 23
"""Larger windows are left to `magicbyte.codecs`, which checks their memory against the limits."""
TOO_SMALL = -70
"""Zstandard's error ZSTD_error_dstSize_tooSmall, negated as its functions return it."""


def decompress(
    desc: Any,
    first: int,
    last: int,
    fields: Any,
    to: int,
    capacity: int,
    slack: int,
    max_bytes: int,
    functions: Any,
) -> tuple[int, int, int]:
    """Decompress the payloads of the entries [first, last) to address *to*, back to back.

    *fields* are the indices of codec, magic, start and end in a descriptor; start and end become the
    addresses of the decompressed bytes. *functions* are the addresses that `libraries.functions` returns.
    Returns the first entry that was not decompressed, the reason, and the number of bytes written.
    """
    used = 0
    for n in range(first, last):
        p, end = int(desc[n, fields[2]]), int(desc[n, fields[3]])
        left = min(capacity - used - slack, max_bytes)
        if left < 0:  # a library would read it as a huge unsigned number
            return n, OUTPUT_FULL, used
        size = UNSUPPORTED_PAYLOAD
        if desc[n, fields[0]] == LZ4 and functions[0] != 0:
            size = _lz4(p, end, to + used, left, desc[n, fields[1]] >= 1, int(functions[0]))
        elif desc[n, fields[0]] == SNAPPY:
            size = decompress_snappy(p, end, to + used, left)
        elif desc[n, fields[0]] == GZIP and functions[5] != 0:
            size = _gzip(p, end, to + used, left, int(functions[5]), int(functions[6]))
        elif desc[n, fields[0]] == ZSTD and desc[n, fields[1]] >= 2 and functions[1] != 0:
            size = _zstd(p, end, to + used, left, functions)
        if size == OUTPUT_FULL and left == max_bytes:
            size = UNSUPPORTED_PAYLOAD
        if size < 0:
            return n, size, used
        desc[n, fields[2]] = to + used
        desc[n, fields[3]] = to + used + size
        used += size
    return last, ALL_DONE, used


@called
def _lz4(p: int, end: int, to: int, capacity: int, is_checked: bool, function: int) -> int:
    """Decompress the lz4 frame [p, end) to address *to*; return the number of decompressed bytes."""
    if end - p < 11 or u4le(p) != LZ4_MAGIC:
        return UNSUPPORTED_PAYLOAD
    flags, sizes = u1(p + 4), u1(p + 5)
    if flags & ~(FLG_CONTENT_SIZE | FLG_CONTENT_CHECKSUM) != FLG_SUPPORTED:
        return UNSUPPORTED_PAYLOAD
    if sizes & ~BD_IDS != 0 or sizes >> 4 < 4:
        return UNSUPPORTED_PAYLOAD
    max_block = 1 << (8 + 2 * (sizes >> 4))
    len_descriptor = 10 if flags & FLG_CONTENT_SIZE else 2
    checksum = p + 4 + len_descriptor
    if checksum >= end:
        return UNSUPPORTED_PAYLOAD
    if is_checked and _header_checksum(p + 4, len_descriptor) != u1(checksum):
        return UNSUPPORTED_PAYLOAD
    p = checksum + 1
    used = 0
    while True:
        if end - p < 4:
            return UNSUPPORTED_PAYLOAD
        length = u4le(p)
        size = length & (STORED - 1)
        p += 4
        if size == 0:
            break
        if size > max_block or size > end - p:
            return UNSUPPORTED_PAYLOAD
        if length & STORED:
            if size > capacity - used:
                return OUTPUT_FULL
            copy(to + used, p, size)
            size_written = size
        else:
            expected = min(max_block, size * MAX_RATIO)
            if expected > capacity - used:
                return OUTPUT_FULL
            size_written = call5(function, p, to + used, size, expected, 0) & BITS_32
            # A negative int; or an empty block, after which Kafka reads no other one.
            if size_written > expected or size_written == 0:
                return UNSUPPORTED_PAYLOAD
        used += size_written
        p += size
    if flags & FLG_CONTENT_CHECKSUM and end - p < 4:
        return UNSUPPORTED_PAYLOAD
    return used


@called
def _header_checksum(p: int, size: int) -> int:
    """Return the second byte of the XXH32 of fewer than 16 bytes."""
    crc = (PRIME5 + size) & BITS_32
    end = p + size
    while end - p >= 4:
        crc = (crc + _multiply(u4le(p), PRIME3)) & BITS_32
        crc = _multiply((crc << 17 | crc >> 15) & BITS_32, PRIME4)
        p += 4
    while p < end:
        crc = (crc + _multiply(u1(p), PRIME5)) & BITS_32
        crc = _multiply((crc << 11 | crc >> 21) & BITS_32, PRIME1)
        p += 1
    crc = _multiply(crc ^ crc >> 15, PRIME2)
    crc = _multiply(crc ^ crc >> 13, PRIME3)
    return (crc ^ crc >> 16) >> 8 & 0xFF


@called
def _multiply(number: int, prime: int) -> int:
    return wrap(number * prime) & BITS_32


@called
def _gzip(p: int, end: int, to: int, capacity: int, function: int, state: int) -> int:
    """Decompress the gzip member [p, end) to address *to*; return the number of decompressed bytes."""
    if end - p < LEN_GZIP_HEADER + LEN_GZIP_TRAILER or u4le(p) != GZIP_MAGIC:
        return UNSUPPORTED_PAYLOAD
    put8(state + NEXT_OUT, to)
    put4(state + AVAIL_OUT, min(capacity, BITS_31))
    put8(state + NEXT_IN, p + LEN_GZIP_HEADER)
    put4(state + AVAIL_IN, end - p - LEN_GZIP_HEADER)
    status = call5(function, state, 0, 0, 0, 0) & BITS_32
    if status:
        return OUTPUT_FULL if status == OUT_OVERFLOW else UNSUPPORTED_PAYLOAD
    used = s8le(state + NEXT_OUT) - to
    trailer = end - LEN_GZIP_TRAILER
    if u4le(state + AVAIL_IN) != LEN_GZIP_TRAILER or u4le(trailer + 4) != used:
        return UNSUPPORTED_PAYLOAD
    return used if u4le(trailer) == crc32(to, to + used) else UNSUPPORTED_PAYLOAD


@called
def _zstd(p: int, end: int, to: int, capacity: int, functions: Any) -> int:
    """Decompress the zstd frame [p, end) to address *to*; return the number of decompressed bytes.

    It is decompressed block by block, as a stream: ZSTD_decompressDCtx would accept blocks that are too large.
    """
    if end - p < 9 or u4le(p) != ZSTD_MAGIC:
        return UNSUPPORTED_PAYLOAD
    flags, is_single = u1(p + 4), u1(p + 4) & 0x20
    if flags & 0x1B:  # reserved bits, or a dictionary
        return UNSUPPORTED_PAYLOAD
    if not is_single and 10 + (u1(p + 5) >> 3) >= MAX_WINDOW_LOG:
        return UNSUPPORTED_PAYLOAD
    if is_single and flags >> 6 >= 2 and not 0 <= u4le(p + 5) < 1 << MAX_WINDOW_LOG:
        return UNSUPPORTED_PAYLOAD
    if flags >> 6 == 3:
        return UNSUPPORTED_PAYLOAD
    begin, next_size, go_on, context = functions[1], functions[2], functions[3], functions[4]
    if call5(begin, context, 0, 0, 0, 0) != 0:
        return UNSUPPORTED_PAYLOAD
    used = 0
    while True:
        size = call5(next_size, context, 0, 0, 0, 0)
        if size == 0:
            break
        if size < 0 or size > end - p:
            return UNSUPPORTED_PAYLOAD
        size_written = call5(go_on, context, to + used, capacity - used, p, size)
        if size_written < 0:
            return OUTPUT_FULL if size_written == TOO_SMALL else UNSUPPORTED_PAYLOAD
        used += size_written
        p += size
    return used if p == end and used else UNSUPPORTED_PAYLOAD
