"""snappy: codec 2, in two framings that only the bytes tell apart.

Java writes xerial's stream, blocks of 32 KiB each behind its length; librdkafka writes one
raw block. A section shorter than 16 bytes or without xerial's magic is a raw block.

Stricter than snappy-java in one thing: where it ends in silence on bytes that begin neither
a chunk nor a header, they would be lost, and that is an error here.
"""

from collections.abc import Iterator
from io import BytesIO
from struct import Struct

import cramjam

from magicbyte.codecs.uvarint import read_uvarint
from magicbyte.errors import CodecError, LimitError

ID = 2
NAME = "snappy"

XERIAL = b"\x82SNAPPY\0"
LEN_HEADER = 16
CHUNK_LENGTH = Struct(">i")
NEXT_HEADER = int.from_bytes(XERIAL[:4], "big", signed=True)
MIN_VERSION = 1
MAX_CHUNK_BYTES = 512 << 20
"""SnappyInputStream's, since CVE-2023-43642."""

MAX_RATIO = 22
"""What a byte of a block can come to: a copy of 64 bytes takes three."""


def decompress(section: memoryview | bytes, *, max_bytes: int) -> bytes:
    """Return *section* decompressed.

    Raises CodecError where it is not snappy, LimitError where it would pass *max_bytes*; both
    with the byte in *section*.
    """
    view = memoryview(section)
    total = 0
    for start, _, claimed in _blocks(view):
        total += claimed
        if total > max_bytes:
            raise LimitError.of("max_batch_bytes", total, limit=max_bytes, position=start)
    out = BytesIO(bytes(total))
    with out.getbuffer() as room:  # getvalue would copy if any view of it were left
        position = 0
        for start, end, claimed in _blocks(view):
            try:
                cramjam.snappy.decompress_raw_into(
                    view[start:end], room[position : position + claimed]
                )
            except cramjam.DecompressionError as error:
                raise CodecError.of(NAME, str(error), position=start) from error
            position += claimed
    return out.getvalue()


def _blocks(view: memoryview) -> Iterator[tuple[int, int, int]]:
    """Where each block begins and ends, and what it says it comes to.

    Walked twice, so that the plain bytes have their place before the first is decompressed.
    """
    if len(view) < LEN_HEADER or view[: len(XERIAL)] != XERIAL:
        yield 0, len(view), _read_claim(view, 0, len(view))
        return
    position = LEN_HEADER  # its versions are not looked at: Redpanda wrote them little-endian
    while position < len(view):
        if position + 4 > len(view):
            raise CodecError.of(
                NAME, f"{len(view) - position} bytes behind the last chunk", position=position
            )
        (length,) = CHUNK_LENGTH.unpack_from(view, position)
        if length == NEXT_HEADER:
            position = _read_next_header(view, position)
            continue
        if not 0 <= length <= MAX_CHUNK_BYTES:
            raise CodecError.of(
                NAME, f"chunk of {length} bytes; expected 0 to {MAX_CHUNK_BYTES}", position=position
            )
        start = position + 4
        if length > len(view) - start:
            raise CodecError.of(
                NAME, f"chunk of {length} bytes, {len(view) - start} are left", position=position
            )
        position = start + length
        yield start, position, _read_claim(view, start, position)


def _read_next_header(view: memoryview, start: int) -> int:
    """Return where the header of a stream that follows another ends."""
    end = start + LEN_HEADER
    if end > len(view):
        raise CodecError.of(NAME, "the section ends inside a header", position=start)
    if view[start : start + len(XERIAL)] != XERIAL:
        raise CodecError.of(NAME, "neither a chunk nor a header", position=start)
    version = int.from_bytes(view[start + 8 : start + 12], "big", signed=True)
    if version < MIN_VERSION:
        raise CodecError.of(
            NAME, f"version {version}; expected {MIN_VERSION} or later", position=start + 8
        )
    return end


def _read_claim(view: memoryview, start: int, end: int) -> int:
    """Return what the block says it comes to, if its bytes can."""
    claimed, body = read_uvarint(view, start, end, codec=NAME)
    if claimed > (end - body) * MAX_RATIO:
        raise CodecError.of(
            NAME, f"{end - body} bytes cannot come to the {claimed} claimed", position=start
        )
    return claimed
