"""Decompress one section in a new process, and print memory and time as JSON.

Run as ``python spend_on_section.py NAME MAX_BYTES`` with the name of a section; needs Linux's /proc.
"""

import json
import sys
import zlib
from collections.abc import Callable

import cramjam
import lz4.frame
import zstandard

from magicbyte import codecs
from magicbyte.errors import LimitError
from memory_growth import measured

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BOMB_BYTES = 10 * GIB


def gzip_member(plain: bytes) -> bytes:
    return zlib.compress(plain, wbits=31)


def gzip_one_member(size: int) -> bytes:
    deflater = zlib.compressobj(wbits=31)
    head = deflater.compress(bytes(MIB)) + deflater.flush(zlib.Z_FULL_FLUSH)
    body = deflater.compress(bytes(MIB)) + deflater.flush(zlib.Z_FULL_FLUSH)
    return head + body * (size // MIB - 1) + b"\x03\0" + bytes(8)


def snappy_block(size: int) -> bytes:
    return bytes(cramjam.snappy.compress_raw(bytes(size)))


def xerial(size: int, count: int = 1) -> bytes:
    """Return snappy-java's (xerial's) header and *count* chunks of *size* zeros."""
    block = snappy_block(size)
    chunk = len(block).to_bytes(4, "big") + block
    return b"\x82SNAPPY\0" + b"\0\0\0\1" * 2 + chunk * count


def lz4_frame(size: int, *, checksums: bool = False, block: int = 4 * MIB) -> bytes:
    frame: bytes = lz4.frame.compress(
        bytes(block),
        block_size=lz4.frame.BLOCKSIZE_MAX4MB,
        block_linked=False,
        block_checksum=checksums,
        store_size=False,
    )
    return frame[:7] + frame[7:-4] * (size // block) + frame[-4:]


def zstd_frame(size: int, *, sized: bool, window_log: int = 21) -> bytes:
    parameters = zstandard.ZstdCompressionParameters(
        compression_level=3, window_log=window_log, write_content_size=sized
    )
    compressor = zstandard.ZstdCompressor(compression_params=parameters)
    if sized:
        return compressor.compress(bytes(size))
    stream = compressor.compressobj()
    return stream.compress(bytes(size)) + stream.flush()


def zstd_rle_blocks(size: int) -> bytes:
    block = (128 * KIB << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    return b"\x28\xb5\x2f\xfd\0\x58" + block * (size // (128 * KIB)) + b"\1\0\0"


Sections = dict[str, tuple[int, Callable[[], bytes]]]
"""The codec number of each section, and a function that builds the section."""

BOMBS: Sections = {
    "gzip members": (1, lambda: gzip_member(bytes(MIB)) * (BOMB_BYTES // MIB)),
    "gzip one member": (1, lambda: gzip_one_member(BOMB_BYTES)),
    # A byte of snappy decompresses to 22 at most: 10 GiB would take half a GiB of input.
    "snappy chunks": (2, lambda: xerial(32 * KIB, 20_000)),
    "snappy one chunk": (2, lambda: xerial(512 * MIB)),
    "snappy one block": (2, lambda: snappy_block(512 * MIB)),
    "lz4 blocks": (3, lambda: lz4_frame(BOMB_BYTES)),
    "lz4 blocks with checksums": (3, lambda: lz4_frame(BOMB_BYTES, checksums=True)),
    "zstd frames": (4, lambda: zstd_frame(MIB, sized=False) * (BOMB_BYTES // MIB)),
    "zstd frames with a size": (4, lambda: zstd_frame(MIB, sized=True) * (BOMB_BYTES // MIB)),
    "zstd one frame": (4, lambda: zstd_rle_blocks(BOMB_BYTES)),
    "zstd large window": (4, lambda: zstd_frame(32 * MIB, sized=False, window_log=27)),
}
AT_THE_LIMIT: Sections = {
    "gzip at the limit": (1, lambda: gzip_member(bytes(16 * MIB))),
    "snappy one block at the limit": (2, lambda: snappy_block(16 * MIB)),
    "snappy chunks at the limit": (2, lambda: xerial(32 * KIB, 512)),
    "lz4 at the limit": (3, lambda: lz4_frame(16 * MIB)),
    "zstd at the limit": (4, lambda: zstd_frame(16 * MIB, sized=False)),
    "zstd with a size at the limit": (4, lambda: zstd_frame(16 * MIB, sized=True)),
    "zstd frames at the limit": (4, lambda: zstd_frame(8 * MIB, sized=True) * 2),
}
OF_NOTHING: Sections = {
    "gzip members of nothing": (1, lambda: gzip_member(b"") * 50_000),
    "snappy chunks of nothing": (2, lambda: xerial(0, 200_000)),
    "lz4 blocks of one byte": (3, lambda: lz4_frame(200_000, block=1)),
    "zstd frames of nothing": (4, lambda: zstd_frame(0, sized=True) * 100_000),
}
SMALL = {
    1: gzip_member(b"x"),
    2: xerial(1),
    3: lz4_frame(1, block=1),
    4: zstd_frame(1, sized=False),
}


def main(name: str, max_bytes: int) -> None:
    codec, make = (BOMBS | AT_THE_LIMIT | OF_NOTHING)[name]
    section = make()

    def outcome() -> int | str:
        try:
            return len(codecs.decompress(codec, section, magic=2, max_bytes=max_bytes))
        except LimitError as error:
            return str(error)

    codecs.decompress(codec, SMALL[codec], magic=2, max_bytes=max_bytes)  # loads everything
    result, cost = measured(outcome)
    print(json.dumps({"outcome": result, "input_bytes": len(section), **cost}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
