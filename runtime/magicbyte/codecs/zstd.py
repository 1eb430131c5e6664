"""zstd: codec 4, the frames of RFC 8878, read as zstd-jni's ZstdInputStream reads them.

Frames one after another are one stream, and skippable frames are skipped. Kafka's producers
write frames without a content size. Stricter than zstd-jni in one thing: a second frame that
is cut is an error wherever the cut is, and never gives its first part.
"""

from dataclasses import dataclass

import zstandard

from magicbyte.codecs.output import Output
from magicbyte.errors import CodecError, LimitError

ID = 4
NAME = "zstd"

MAX_WINDOW_BYTES = (1 << 27) + 1
"""What zstd allows where nobody sets a larger one, as nobody does in Kafka."""

SMALL_WINDOW_BYTES = 8 << 20
"""What every decoder should spend, by RFC 8878; taken whatever the caller's limit."""

LEN_LONGEST_HEADER = 18
LEN_BLOCK_HEADER = 3
RAW, RLE, COMPRESSED, RESERVED = range(4)
MAX_BLOCK_BYTES = 1 << 17
LEN_STEP = 1 << 20

SKIPPABLE = 0x184D2A50
"""The first of sixteen magics, by their lowest four bits."""
LEN_SKIPPABLE_HEADER = 8


@dataclass(frozen=True, slots=True)
class _Frame:
    end: int
    content_bytes: int | None
    """What it claims to come to; None where it claims nothing."""
    max_content_bytes: int
    """What its blocks can come to."""
    window_bytes: int


def decompress(section: memoryview | bytes, *, max_bytes: int) -> bytes:
    """Return *section* decompressed.

    Raises CodecError where it is not zstd, LimitError where it would pass *max_bytes*, in
    bytes or in the window they need; both with the byte in *section*.
    """
    view = memoryview(section)
    decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)
    out = Output(max_bytes)
    position = 0
    while position < len(view):
        if _is_skippable(view, position):
            position = _skip(view, position)
            continue
        frame = _measure(view, position, out)
        # The library would not look at the checksum of a frame that claims no bytes.
        if frame.content_bytes and (position, frame.end) == (0, len(view)):
            return _decompress_sized(decompressor, view)
        _decompress_frame(decompressor, view, position, frame, out)
        position = frame.end
    return out.value()


def _is_skippable(view: memoryview, position: int) -> bool:
    return int.from_bytes(view[position : position + 4], "little") & ~0xF == SKIPPABLE


def _skip(view: memoryview, position: int) -> int:
    length = int.from_bytes(view[position + 4 : position + LEN_SKIPPABLE_HEADER], "little")
    end = position + LEN_SKIPPABLE_HEADER + length
    if end > len(view):
        raise CodecError.of(NAME, "the section ends inside a skippable frame", position=position)
    return end


def _measure(view: memoryview, start: int, out: Output) -> _Frame:
    """Return what the frame at *start* says of itself, without decompressing it."""
    header = view[start : start + LEN_LONGEST_HEADER]
    try:
        parameters = zstandard.get_frame_parameters(header)
        position = start + zstandard.frame_header_size(header)
    except zstandard.ZstdError as error:
        raise CodecError.of(NAME, str(error), position=start) from error
    claimed = None
    if parameters.content_size != zstandard.CONTENTSIZE_UNKNOWN:
        claimed = parameters.content_size
        out.claim(claimed, position=start)
    if parameters.window_size > MAX_WINDOW_BYTES:
        raise CodecError.of(
            NAME,
            f"window of {parameters.window_size} bytes; expected {MAX_WINDOW_BYTES} or fewer",
            position=start,
        )
    least, most, is_last = 0, 0, False
    while not is_last:
        if position + LEN_BLOCK_HEADER > len(view):
            raise CodecError.of(NAME, "the section ends inside a frame", position=start)
        word = view[position] | view[position + 1] << 8 | view[position + 2] << 16
        is_last, kind, size = bool(word & 1), word >> 1 & 3, word >> 3
        position += LEN_BLOCK_HEADER + (1 if kind == RLE else size)
        if kind == RESERVED or size > MAX_BLOCK_BYTES:
            raise CodecError.of(NAME, f"block of kind {kind}, {size} bytes", position=start)
        least += 0 if kind == COMPRESSED else size
        most += MAX_BLOCK_BYTES if kind == COMPRESSED else size
        out.claim(least, position=start)
    end = position + 4 * parameters.has_checksum
    if end > len(view):
        raise CodecError.of(NAME, "the section ends inside a frame", position=start)
    if claimed is not None and not least <= claimed <= most:
        raise CodecError.of(
            NAME, f"claims {claimed} bytes, its blocks hold {least} to {most}", position=start
        )
    return _Frame(end, claimed, most, parameters.window_size)


def _decompress_sized(decompressor: zstandard.ZstdDecompressor, frame: memoryview) -> bytes:
    """Return what the only frame, of a known and allowed size, holds."""
    try:
        return decompressor.decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise CodecError.of(NAME, str(error)) from error


def _decompress_frame(
    decompressor: zstandard.ZstdDecompressor,
    view: memoryview,
    start: int,
    frame: _Frame,
    out: Output,
) -> None:
    """Append what the frame holds."""
    # The library keeps a window of its own beside the output. Its memory is spent as it fills.
    most = frame.max_content_bytes if frame.content_bytes is None else frame.content_bytes
    window_bytes = min(frame.window_bytes, most)
    if window_bytes > max(out.max_bytes // 2, SMALL_WINDOW_BYTES):
        raise LimitError.of(
            "max_batch_bytes", 2 * window_bytes, limit=out.max_bytes, position=start
        )
    step = min(LEN_STEP, most + 1)
    try:
        with decompressor.stream_reader(view[start : frame.end]) as reader:
            while plain := reader.read(step):
                out.append(plain, position=start)
    except zstandard.ZstdError as error:
        raise CodecError.of(NAME, str(error), position=start) from error
