"""Compresses payloads in kernels by the functions that the libraries export: lz4 and zstd."""

from magicbyte.codecs import lz4
from magicbyte.engines.columnar._signatures import OUTPUT_FULL
from magicbyte_kernels.primitives import call5, called, copy, put4, put8

LZ4_HEADER, LEN_LZ4_HEADER = int.from_bytes(lz4.HEADER, "little"), len(lz4.HEADER)
LEN_BLOCK, STORED = lz4.LEN_BLOCK, lz4.UNCOMPRESSED
BITS_32 = 0xFFFFFFFF


@called
def compress_lz4(p: int, end: int, to: int, stop: int, function: int, level: int) -> int:
    """Write the bytes [p, end) as an lz4 frame to address *to*; return its size, or OUTPUT_FULL.

    *function* is LZ4_compress_fast, whose *level* is its acceleration, or LZ4_compress_HC. Blocks are
    independent and have up to 64 KiB, as Kafka's producer writes them.
    """
    at = to + LEN_LZ4_HEADER
    if at + 4 > stop:
        return OUTPUT_FULL
    put8(to, LZ4_HEADER)
    while p < end:
        size = min(end - p, LEN_BLOCK)
        if at + size + 8 > stop:
            return OUTPUT_FULL
        written = 0
        if size > 1:
            written = call5(function, p, at + 4, size, size - 1, level) & BITS_32
        if written == 0:  # the library has found no shorter form
            put4(at, size | STORED)
            copy(at + 4, p, size)
            written = size
        else:
            put4(at, written)
        at += 4 + written
        p += size
    put4(at, 0)
    return at + 4 - to


@called
def compress_zstd(p: int, end: int, to: int, stop: int, function: int, context: int) -> int:
    """Write the bytes [p, end) as a zstd frame to address *to*; return its size, or OUTPUT_FULL.

    *function* is ZSTD_compress2, *context* a compression context that has the level.
    """
    size = call5(function, context, to, stop - to, p, end - p)
    return OUTPUT_FULL if size < 0 else size
