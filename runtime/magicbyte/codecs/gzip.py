"""gzip: codec 1, the members of RFC 1952, read as java.util.zip.GZIPInputStream reads them.

Consecutive members are one stream. Bytes after a complete member that do not begin another one
are ignored.
"""

import zlib
from struct import unpack_from

from magicbyte.checksum import crc32
from magicbyte.codecs._output import DecompressedOutput
from magicbyte.errors import CodecError

try:
    from isal import isal_zlib as deflate
except ImportError:  # no wheel for this machine
    import zlib as deflate  # type: ignore[no-redef]

# The type stubs of isal declare `error` as an instance; it is a class.
DeflateError: type[Exception] = deflate.error  # type: ignore[assignment]

NAME = "gzip"

MAGIC = b"\x1f\x8b"
DEFLATE = 8
FHCRC, FEXTRA, FNAME, FCOMMENT = 2, 4, 8, 16
LEN_FIXED_HEADER = 10
LEN_TRAILER = 8

WHOLE = MAGIC + bytes([DEFLATE, 0])
"""First bytes of a member without optional header fields. All Kafka clients write such members."""

LEN_SMALLEST_MEMBER = 19
"""Java looks for another member only if at least this many bytes follow (a whole one has 20)."""

# The library copies the input that it did not consume. Pieces therefore start small, so that a
# section of a million empty members is not copied a million times.
LEN_FIRST_PIECE, LEN_LAST_PIECE = 1 << 14, 1 << 18
LEN_STEP = 1 << 20


LEVELS, DEFAULT_LEVEL = range(1, 10), 6
"""Levels that Kafka's `compression.gzip.level` allows, and the one that its default, -1, stands for."""


def compress(raw_bytes: memoryview | bytes, *, level: int | None = None) -> bytes:
    """Return *raw_bytes* as one member, with the ratio that Java's Deflater has at the same *level*."""
    compressor = zlib.compressobj(
        DEFAULT_LEVEL if level is None else level, zlib.DEFLATED, wbits=31
    )
    return compressor.compress(raw_bytes) + compressor.flush()


def decompress(section: memoryview | bytes, *, max_bytes: int) -> bytes:
    """Return the decompressed bytes of *section*.

    Raises CodecError if it is not gzip, LimitError if the result would exceed *max_bytes*; both
    with the position in *section*.
    """
    view = memoryview(section)
    content = _one_small_member(view, max_bytes)
    if content is not None:
        return content
    output = DecompressedOutput(max_bytes)
    position = _read_header(view, 0)
    while True:
        position = _read_member(view, position, output)
        if len(view) - position < LEN_SMALLEST_MEMBER:
            return output.value()
        try:
            position = _read_header(view, position)
        except CodecError:  # not a member: Java's end of the stream
            return output.value()


def _one_small_member(view: memoryview, max_bytes: int) -> bytes | None:
    """Decompress a small section that is a single sound member with one call of the library.

    Return None for any other section: it is decompressed in steps. For a batch of 16 KiB one call
    is a fifth faster, because each call costs a thirtieth of the time to decompress the batch.
    """
    if len(view) > LEN_LAST_PIECE or view[: len(WHOLE)] != WHOLE:
        return None
    (size,) = unpack_from("<I", view, len(view) - 4)
    if size > min(max_bytes, LEN_STEP):
        return None
    member = deflate.decompressobj(wbits=31)
    try:
        content: bytes = member.decompress(view, size + 1)
    except DeflateError:
        return None  # reading in steps finds the fault
    return content if member.eof and len(content) == size and not member.unused_data else None


def _read_header(view: memoryview, start: int) -> int:
    """Check the header of the member at *start*; return the position of the deflated bytes."""

    def check(end: int) -> int:
        if end > len(view):
            raise CodecError.of(NAME, "the section ends inside a member's header", position=start)
        return end

    position = check(start + LEN_FIXED_HEADER)
    magic, method, flags = view[start : start + 2], view[start + 2], view[start + 3]
    if magic != MAGIC:
        raise CodecError.of(
            NAME, f"magic {magic.hex()}; expected {MAGIC.hex()} (RFC 1952)", position=start
        )
    if method != DEFLATE:
        raise CodecError.of(NAME, f"method {method}; expected {DEFLATE} (deflate)", position=start)
    if flags & FEXTRA:
        position = check(position + 2 + int.from_bytes(view[position : position + 2], "little"))
    for flag in (FNAME, FCOMMENT):
        if flags & flag:
            position = check(_find_zero(view, position) + 1)
    if flags & FHCRC:
        check(position + 2)
        stored = int.from_bytes(view[position : position + 2], "little")
        computed = crc32(view[start:position]) & 0xFFFF
        if stored != computed:
            raise CodecError.of(
                NAME,
                f"header: stored CRC-16 {stored:#06x}, computed {computed:#06x}",
                position=position,
            )
        position += 2
    return position


def _find_zero(view: memoryview, position: int) -> int:
    """Return the position of the next zero byte, or the end."""
    while position < len(view):
        at = bytes(view[position : position + LEN_FIRST_PIECE]).find(0)
        if at >= 0:
            return position + at
        position += LEN_FIRST_PIECE
    return len(view)


def _read_member(view: memoryview, start: int, output: DecompressedOutput) -> int:
    """Append the content of the deflated bytes at *start*; return the end of the member."""
    end, crc, size = _inflate(view, start, output)
    if end + LEN_TRAILER > len(view):
        raise CodecError.of(NAME, "the section ends inside a member's trailer", position=end)
    stored_crc, stored_size = unpack_from("<II", view, end)
    if stored_crc != crc:
        raise CodecError.of(
            NAME, f"stored CRC-32 {stored_crc:#010x}, computed {crc:#010x}", position=end
        )
    if stored_size != size & 0xFFFFFFFF:
        raise CodecError.of(
            NAME,
            f"stored size {stored_size}, decompressed to {size & 0xFFFFFFFF}",
            position=end + 4,
        )
    return end + LEN_TRAILER


def _inflate(view: memoryview, start: int, output: DecompressedOutput) -> tuple[int, int, int]:
    """Append the deflate stream at *start*; return its end, and the CRC-32 and size of its content."""
    inflater = deflate.decompressobj(wbits=-15)
    input_end, len_piece, crc, size = start, LEN_FIRST_PIECE, 0, 0
    while not inflater.eof:
        piece: memoryview | bytes = inflater.unconsumed_tail
        if not piece:
            piece = view[input_end : input_end + len_piece]
            input_end += len(piece)
            len_piece = min(4 * len_piece, LEN_LAST_PIECE)
        try:
            content = inflater.decompress(piece, min(output.num_left + 1, LEN_STEP))
        except DeflateError as error:
            raise CodecError.of(NAME, str(error), position=start) from error
        output.append(content, position=start)
        if not (piece or content or inflater.eof):
            raise CodecError.of(NAME, "the section ends inside a member", position=start)
        crc = crc32(content, crc)
        size += len(content)
    return input_end - len(inflater.unused_data), crc, size
