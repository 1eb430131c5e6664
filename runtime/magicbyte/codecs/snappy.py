"""snappy: codec 2, in two framings.

Java writes xerial's stream: chunks of 32 KiB, each preceded by its length. librdkafka writes one
raw block. A section shorter than 16 bytes or without xerial's magic is a raw block.

Stricter than snappy-java in one point: it silently drops bytes that begin neither a chunk nor a
header; here they are an error.
"""

from collections.abc import Iterator
from io import BytesIO
from struct import Struct

import cramjam

from magicbyte.errors import CodecError, LimitError

NAME = "snappy"

XERIAL = b"\x82SNAPPY\0"
LEN_HEADER = 16
CHUNK_LENGTH = Struct(">i")
NEXT_HEADER = int.from_bytes(XERIAL[:4], "big", signed=True)
MIN_VERSION = 1
HEADER = XERIAL + MIN_VERSION.to_bytes(4, "big") * 2
LEN_BLOCK = 32 << 10
"""Bytes of a chunk, not compressed, as Kafka's producer writes them."""
MAX_CHUNK_BYTES = 512 << 20
"""Limit of SnappyInputStream since CVE-2023-43642."""

MAX_RATIO = 22
"""Most decompressed bytes per byte of a block: a copy of 64 bytes takes three."""

MAX_UVARINT_BYTES = 5


def compress(raw_bytes: memoryview | bytes) -> bytes:
    """Return *raw_bytes* as a stream of xerial's chunks. Snappy has no levels."""
    view = memoryview(raw_bytes)
    parts = [HEADER]
    for start in range(0, len(view), LEN_BLOCK):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + LEN_BLOCK]))
        parts += [CHUNK_LENGTH.pack(len(block)), block]
    return b"".join(parts)


def decompress(section: memoryview | bytes, *, max_bytes: int) -> bytes:
    """Return the decompressed bytes of *section*.

    Raises CodecError if it is not snappy, LimitError if the result would exceed *max_bytes*; both
    with the position in *section*.
    """
    view = memoryview(section)
    total = 0
    for start, _, claimed in _blocks(view):
        total += claimed
        if total > max_bytes:
            raise LimitError.of("max_batch_bytes", total, limit=max_bytes, position=start)
    output = BytesIO(bytes(total))
    with output.getbuffer() as buffer:  # getvalue copies if a view is still in use
        position = 0
        for start, end, claimed in _blocks(view):
            try:
                cramjam.snappy.decompress_raw_into(
                    view[start:end], buffer[position : position + claimed]
                )
            except cramjam.DecompressionError as error:
                raise CodecError.of(NAME, str(error), position=start) from error
            position += claimed
    return output.getvalue()


def _blocks(view: memoryview) -> Iterator[tuple[int, int, int]]:
    """Yield the start and end of each block, and the decompressed size that it claims.

    Called twice: the sum of the sizes is needed before the first block is decompressed.
    """
    if len(view) < LEN_HEADER or view[: len(XERIAL)] != XERIAL:
        yield 0, len(view), _read_claim(view, 0, len(view))
        return
    position = LEN_HEADER  # the versions are ignored: Redpanda wrote them little-endian
    while position < len(view):
        if position + 4 > len(view):
            raise CodecError.of(
                NAME, f"{len(view) - position} bytes after the last chunk", position=position
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
    """Return the end of the header at *start*, which begins another stream."""
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
    """Return the decompressed size that the block claims. Raises CodecError if it is impossible."""
    claimed, body = read_uvarint(view, start, end)
    if claimed > (end - body) * MAX_RATIO:
        raise CodecError.of(
            NAME,
            f"claims {claimed} bytes, which {end - body} compressed bytes cannot contain",
            position=start,
        )
    return claimed


def read_uvarint(data: memoryview, position: int, end: int) -> tuple[int, int]:
    """Return the unsigned 32-bit integer at *position*, and the position after it.

    Forms longer than necessary are accepted, as by Google's snappy. Raises CodecError if the
    integer does not end before *end* or does not fit.
    """
    value = shift = 0
    for index in range(position, min(position + MAX_UVARINT_BYTES, end)):
        byte = data[index]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 32:
                break
            return value, index + 1
        shift += 7
    if end - position < MAX_UVARINT_BYTES:
        raise CodecError.of(NAME, "the bytes end inside the length", position=position)
    raise CodecError.of(NAME, "the length does not fit 32 bits", position=position)
