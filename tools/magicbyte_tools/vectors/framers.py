"""Writes gzip, snappy, LZ4 and zstd streams without compressing: literals, stored blocks and runs.

The bytes do not depend on an installed compression library, and every decoder reads them. Truly
compressed data comes from brokers' logs, or is a constant in the module that uses it.
"""

import zlib
from collections.abc import Sequence

import magicbyte_construct as twin
from magicbyte_tools.vectors.xxh32 import xxh32

NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)

# gzip (RFC 1952)


def gzip(data: bytes, *, flags: int = 0, extra_fields: bytes = b"") -> bytes:
    """Return a gzip member with *data* stored and the *extra_fields* that *flags* announces."""
    header = b"\x1f\x8b\x08" + bytes([flags, 0, 0, 0, 0, 0, 0xFF]) + extra_fields
    return header + stored(data) + gzip_trailer(data)


def stored(data: bytes) -> bytes:
    """Return a deflate stream (RFC 1951) of one stored block that holds *data*."""
    length = len(data).to_bytes(2, "little")
    return b"\x01" + length + bytes(byte ^ 0xFF for byte in length) + data


def gzip_trailer(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little") + len(data).to_bytes(4, "little")


# snappy, one raw block, and the stream of xerial's snappy-java around blocks

XERIAL = b"\x82SNAPPY\0"


def snappy(data: bytes, *, claimed: int | None = None) -> bytes:
    """Return a raw snappy block with *data* as literals; *claimed* replaces its stated length."""
    block = bytes(twin.Uvarint.build(len(data) if claimed is None else claimed))
    for at in range(0, len(data), 60):
        piece = data[at : at + 60]
        block += bytes([len(piece) - 1 << 2]) + piece
    return block


def snappy_copy(*, offset: int, length: int) -> bytes:
    """Return a snappy element that copies *length* bytes, at most 64, from *offset* bytes back."""
    return bytes([length - 1 << 2 | 2]) + offset.to_bytes(2, "little")


def xerial(*blocks: bytes, versions: bytes = b"\0\0\0\1\0\0\0\1") -> bytes:
    """Return a stream of xerial's snappy-java: the header, then each block after its length."""
    chunks = (len(block).to_bytes(4, "big") + block for block in blocks)
    return XERIAL + versions + b"".join(chunks)


# lz4, the frame format

LZ4_MAGIC = b"\x04\x22\x4d\x18"
BLOCK_CHECKSUM, CONTENT_SIZE, CONTENT_CHECKSUM = 0x10, 0x08, 0x04
END_MARK = bytes(4)


def lz4(
    data: bytes,
    *,
    blocks: Sequence[bytes] | None = None,
    flg: int = 0x60,
    bd: int = 0x40,
    is_kafka_3160: bool = False,
    checksum: int | None = None,
    content_size: int | None = None,
    content_checksum: int | None = None,
    end_mark: bytes = END_MARK,
) -> bytes:
    """Return an LZ4 frame of *blocks*, by default one block that holds *data* uncompressed.

    With *is_kafka_3160* the header's checksum also covers the frame's magic, as in Kafka's v0.
    *checksum* replaces the header's checksum. Kafka's Java code writes *flg* 0x60 and *bd* 0x40.
    """
    descriptor = bytes([flg, bd])
    if flg & CONTENT_SIZE:
        size = len(data) if content_size is None else content_size
        descriptor += size.to_bytes(8, "little")
    covered = LZ4_MAGIC + descriptor if is_kafka_3160 else descriptor
    right = xxh32(covered) >> 8 & 0xFF
    frame = LZ4_MAGIC + descriptor + bytes([right if checksum is None else checksum])
    for block in [lz4_plain(data)] if blocks is None else blocks:
        frame += block
        if flg & BLOCK_CHECKSUM:
            frame += xxh32(block[4:]).to_bytes(4, "little")
    frame += end_mark
    if flg & CONTENT_CHECKSUM:
        frame += (xxh32(data) if content_checksum is None else content_checksum).to_bytes(
            4, "little"
        )
    return frame


def lz4_plain(data: bytes) -> bytes:
    """Return a block of an LZ4 frame that holds *data* uncompressed."""
    return (len(data) | 1 << 31).to_bytes(4, "little") + data


def lz4_packed(block: bytes) -> bytes:
    """Return a block of an LZ4 frame: the length of the compressed *block*, then *block*."""
    return len(block).to_bytes(4, "little") + block


def lz4_sequence(literals: bytes, *, offset: int | None = None, length: int = 4) -> bytes:
    """Return a sequence of LZ4's block format: *literals*, then a copy from *offset* bytes back.

    The copy has *length* bytes. Without *offset* there is none, as in the last sequence of a block.
    """
    copied = 0 if offset is None else length - 4
    token = bytes([min(len(literals), 15) << 4 | min(copied, 15)])
    out = token + _length_bytes(len(literals)) + literals
    return out if offset is None else out + offset.to_bytes(2, "little") + _length_bytes(copied)


def _length_bytes(length: int) -> bytes:
    """Return the bytes that LZ4 appends to its 4-bit field for a *length* of 15 or more."""
    if length < 15:
        return b""
    rest = length - 15
    return b"\xff" * (rest // 255) + bytes([rest % 255])


# zstd (RFC 8878)

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
RAW, RLE = 0, 1
WINDOW_128_KIB = 0x38


def zstd(*blocks: bytes, content_size: int | None = None) -> bytes:
    """Return a zstd frame of *blocks*, whose last block must carry the last-block flag."""
    if content_size is None:
        header = bytes([0, WINDOW_128_KIB])
    elif content_size < 256:
        header = bytes([0x20, content_size])
    else:
        header = b"\x60" + (content_size - 256).to_bytes(2, "little")
    return ZSTD_MAGIC + header + b"".join(blocks)


def zstd_raw(data: bytes, *, is_last: bool = True) -> bytes:
    return zstd_block(RAW, len(data), data, is_last)


def zstd_run(byte: bytes, length: int, *, is_last: bool = False) -> bytes:
    return zstd_block(RLE, length, byte, is_last)


def zstd_block(kind: int, size: int, data: bytes, is_last: bool = True) -> bytes:
    return (size << 3 | kind << 1 | is_last).to_bytes(3, "little") + data


def zstd_skippable(data: bytes) -> bytes:
    return b"\x50\x2a\x4d\x18" + len(data).to_bytes(4, "little") + data


# Each codec in its most frequent form


def compress(codec: int, data: bytes, *, magic: int = 2) -> bytes:
    """Return *data* framed for *codec*, 1 to 4, as Kafka's Java code does; unframed for 0."""
    match codec:
        case 1:
            return gzip(data)
        case 2:
            return xerial(snappy(data))
        case 3:
            return lz4(data, is_kafka_3160=magic == 0)
        case 4:
            return zstd(zstd_raw(data))
        case _:
            return data
