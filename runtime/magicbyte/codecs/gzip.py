"""gzip: codec 1, the members of RFC 1952, read as java.util.zip.GZIPInputStream reads them.

Members one after another are one stream. What follows a complete member and does not begin
another is ignored.
"""

from struct import unpack_from

from magicbyte.checksum import crc32
from magicbyte.codecs.output import Output
from magicbyte.errors import CodecError

try:
    from isal import isal_zlib as deflate
except ImportError:  # no wheel for this machine
    import zlib as deflate  # type: ignore[no-redef]

# The stubs of isal declare an instance where the class is.
DeflateError: type[Exception] = deflate.error  # type: ignore[assignment]

ID = 1
NAME = "gzip"

MAGIC = b"\x1f\x8b"
DEFLATE = 8
FHCRC, FEXTRA, FNAME, FCOMMENT = 2, 4, 8, 16
LEN_FIXED_HEADER = 10
LEN_TRAILER = 8

WHOLE = MAGIC + bytes([DEFLATE, 0])
"""How a member begins that has nothing in its header beyond what each has; all clients write such."""

LEN_SMALLEST_MEMBER = 19
"""With fewer bytes behind a member, Java does not look for another (20 is the least a whole
one can have)."""

# The library copies what it was given beyond a member's end or its output's limit, so it is
# given little at first: a million empty members must not be copied a million times.
LEN_FIRST_PIECE, LEN_LAST_PIECE = 1 << 14, 1 << 18
LEN_STEP = 1 << 20


def decompress(section: memoryview | bytes, *, max_bytes: int) -> bytes:
    """Return *section* decompressed.

    Raises CodecError where it is not gzip, LimitError where it would pass *max_bytes*; both
    with the byte in *section*.
    """
    view = memoryview(section)
    plain = _one_small_member(view, max_bytes)
    if plain is not None:
        return plain
    out = Output(max_bytes)
    position = _read_header(view, 0)
    while True:
        position = _read_member(view, position, out)
        if len(view) - position < LEN_SMALLEST_MEMBER:
            return out.value()
        try:
            position = _read_header(view, position)
        except CodecError:  # not a member: Java's end of the stream
            return out.value()


def _one_small_member(view: memoryview, max_bytes: int) -> bytes | None:
    """Return what is in a small section that is a sound member of at most a step, in one call.

    None where it is not, or something follows it: a batch of 16 KiB is decompressed in the time of
    thirty calls, so that going through it in parts takes a fifth longer.
    """
    if len(view) > LEN_LAST_PIECE or view[: len(WHOLE)] != WHOLE:
        return None
    (size,) = unpack_from("<I", view, len(view) - 4)
    if size > min(max_bytes, LEN_STEP):
        return None
    member = deflate.decompressobj(wbits=31)
    try:
        plain: bytes = member.decompress(view, size + 1)
    except DeflateError:
        return None  # what is wrong is told by the longer way
    return plain if member.eof and len(plain) == size and not member.unused_data else None


def _read_header(view: memoryview, start: int) -> int:
    """Return where the deflated bytes of the member at *start* begin."""

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
    """Return where the next zero byte is, or the end."""
    while position < len(view):
        at = bytes(view[position : position + LEN_FIRST_PIECE]).find(0)
        if at >= 0:
            return position + at
        position += LEN_FIRST_PIECE
    return len(view)


def _read_member(view: memoryview, start: int, out: Output) -> int:
    """Append what the deflated bytes at *start* hold, and return where the member ends."""
    end, crc, size = _inflate(view, start, out)
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


def _inflate(view: memoryview, start: int, out: Output) -> tuple[int, int, int]:
    """Append the deflate stream at *start*; return where it ends, its CRC-32 and its size."""
    inflater = deflate.decompressobj(wbits=-15)
    fed, len_piece, crc, size = start, LEN_FIRST_PIECE, 0, 0
    while not inflater.eof:
        piece: memoryview | bytes = inflater.unconsumed_tail
        if not piece:
            piece = view[fed : fed + len_piece]
            fed += len(piece)
            len_piece = min(4 * len_piece, LEN_LAST_PIECE)
        try:
            plain = inflater.decompress(piece, min(out.room + 1, LEN_STEP))
        except DeflateError as error:
            raise CodecError.of(NAME, str(error), position=start) from error
        out.append(plain, position=start)
        if not (piece or plain or inflater.eof):
            raise CodecError.of(NAME, "the section ends inside a member", position=start)
        crc = crc32(plain, crc)
        size += len(plain)
    return fed - len(inflater.unused_data), crc, size
