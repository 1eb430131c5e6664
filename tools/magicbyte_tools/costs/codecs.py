"""Compressors with the settings that Kafka's producer has by default."""

import gzip
from collections.abc import Callable
from functools import partial

import lz4.frame
import snappy
import zstandard

from magicbyte_tools.vectors.framers import xerial

LEN_SNAPPY_BLOCK = 32 << 10


def _snappy(data: bytes) -> bytes:
    """Compress *data* by snappy in xerial's framing: blocks of 32 KiB, each after its length."""
    begins = range(0, len(data), LEN_SNAPPY_BLOCK)
    return xerial(*(snappy.compress(data[begin : begin + LEN_SNAPPY_BLOCK]) for begin in begins))


# Level 9 is the producer's default, and the one at which Lz4BlockOutputStream takes the fast
# compressor instead of the one that has levels.
_lz4 = partial(
    lz4.frame.compress,
    block_size=lz4.frame.BLOCKSIZE_MAX64KB,
    block_linked=False,
    compression_level=0,
    store_size=False,
)


def _zstd(data: bytes) -> bytes:
    """Compress *data* by zstd as a stream, whose frame header does not contain the decompressed size."""
    stream = zstandard.ZstdCompressor(level=3).compressobj()
    return stream.compress(data) + stream.flush()


COMPRESSORS: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "gzip": (1, partial(gzip.compress, compresslevel=6, mtime=0)),
    "snappy": (2, _snappy),
    "lz4": (3, _lz4),
    "zstd": (4, _zstd),
}
"""Number of each codec in Kafka's attributes, and its compressor, by the codec's name."""
