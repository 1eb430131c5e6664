"""Compressors as Kafka's producer sets them by default."""

import gzip
from collections.abc import Callable

import lz4.frame
import snappy
import zstandard

LEN_SNAPPY_BLOCK = 32 << 10
XERIAL = b"\x82SNAPPY\0" + b"\0\0\0\1" * 2


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, 6, mtime=0)


def _snappy(data: bytes) -> bytes:
    """Return *data* in xerial's framing: blocks of 32 KiB, each after its length."""
    framed = bytearray(XERIAL)
    for begin in range(0, len(data), LEN_SNAPPY_BLOCK):
        block = snappy.compress(data[begin : begin + LEN_SNAPPY_BLOCK])
        framed += len(block).to_bytes(4, "big") + block
    return bytes(framed)


def _lz4(data: bytes) -> bytes:
    # Level 9 is the producer's default, and the one at which Lz4BlockOutputStream takes the fast
    # compressor instead of the one that has levels.
    compressed: bytes = lz4.frame.compress(
        data,
        block_size=lz4.frame.BLOCKSIZE_MAX64KB,
        block_linked=False,
        compression_level=0,
        store_size=False,
    )
    return compressed


def _zstd(data: bytes) -> bytes:
    """Return *data* as a stream writes it, which does not know beforehand how long it will be."""
    stream = zstandard.ZstdCompressor(level=3).compressobj()
    return stream.compress(data) + stream.flush()


COMPRESSORS: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "gzip": (1, _gzip),
    "snappy": (2, _snappy),
    "lz4": (3, _lz4),
    "zstd": (4, _zstd),
}
"""The number of each codec, and what compresses by it."""
