"""zstd: codec 4, the frames of RFC 8878, read as zstd-jni's ZstdInputStream reads them.

Consecutive frames are one stream, and skippable frames are skipped. Kafka's producers write frames
without a content size. Stricter than zstd-jni in one point: a truncated second frame is always an
error; its first part is not returned.
"""

import threading
from dataclasses import dataclass

import zstandard

from magicbyte.codecs._output import DecompressedOutput
from magicbyte.errors import CodecError, LimitError

NAME = "zstd"

MAX_WINDOW_BYTES = (1 << 27) + 1
"""Default limit of zstd, which no part of Kafka raises."""

SMALL_WINDOW_BYTES = 8 << 20
"""Window that every decoder should support, by RFC 8878; allowed even if the limit is smaller."""

LEN_LONGEST_HEADER = 18
LEN_BLOCK_HEADER = 3
RAW, RLE, COMPRESSED, RESERVED = range(4)
MAX_BLOCK_BYTES = 1 << 17
LEN_STEP = 1 << 20

SKIPPABLE = 0x184D2A50
"""First of the sixteen magics of skippable frames; they differ in the lowest four bits."""
LEN_SKIPPABLE_HEADER = 8


LEVELS, DEFAULT_LEVEL = range(-(1 << 17), 23), 3
"""Levels that Kafka's `compression.zstd.level` allows, and its default."""

_of_thread = threading.local()


@dataclass(frozen=True, slots=True)
class _ZstdFrame:
    end: int
    content_bytes: int | None
    """Claimed size of the content; None if the header has none."""
    max_content_bytes: int
    """Most bytes that its blocks can contain, decompressed."""
    window_bytes: int


def compress(raw_bytes: memoryview | bytes, *, level: int | None = None) -> bytes:
    """Return *raw_bytes* as one frame, which states its decompressed size."""
    if level is None:
        level = DEFAULT_LEVEL
    compressors: dict[int, zstandard.ZstdCompressor]
    compressors = _of_thread.__dict__.setdefault("compressors", {})
    if level not in compressors:  # a new compressor takes longer than a batch of 16 KiB
        compressors[level] = zstandard.ZstdCompressor(level=level)
    return compressors[level].compress(raw_bytes)


def decompress(section: memoryview | bytes, *, max_bytes: int) -> bytes:
    """Return the decompressed bytes of *section*.

    Raises CodecError if it is not zstd, LimitError if the result or the window would exceed
    *max_bytes*; both with the position in *section*.
    """
    view = memoryview(section)
    decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES)
    output = DecompressedOutput(max_bytes)
    position = 0
    while position < len(view):
        if _is_skippable(view, position):
            position = _skip(view, position)
            continue
        frame = _measure(view, position, output)
        # The library does not verify the checksum of a frame that claims 0 bytes.
        if frame.content_bytes and (position, frame.end) == (0, len(view)):
            return _decompress_sized(decompressor, view)
        _decompress_frame(decompressor, view, position, frame, output)
        position = frame.end
    return output.value()


def _is_skippable(view: memoryview, position: int) -> bool:
    return int.from_bytes(view[position : position + 4], "little") & ~0xF == SKIPPABLE


def _skip(view: memoryview, position: int) -> int:
    length = int.from_bytes(view[position + 4 : position + LEN_SKIPPABLE_HEADER], "little")
    end = position + LEN_SKIPPABLE_HEADER + length
    if end > len(view):
        raise CodecError.of(NAME, "the section ends inside a skippable frame", position=position)
    return end


def _measure(view: memoryview, start: int, output: DecompressedOutput) -> _ZstdFrame:
    """Return the sizes of the frame at *start*, without decompressing it."""
    header = view[start : start + LEN_LONGEST_HEADER]
    try:
        parameters = zstandard.get_frame_parameters(header)
        position = start + zstandard.frame_header_size(header)
    except zstandard.ZstdError as error:
        raise CodecError.of(NAME, str(error), position=start) from error
    claimed = None
    if parameters.content_size != zstandard.CONTENTSIZE_UNKNOWN:
        claimed = parameters.content_size
        output.claim(claimed, position=start)
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
        output.claim(least, position=start)
    end = position + 4 * parameters.has_checksum
    if end > len(view):
        raise CodecError.of(NAME, "the section ends inside a frame", position=start)
    if claimed is not None and not least <= claimed <= most:
        raise CodecError.of(
            NAME, f"claims {claimed} bytes, its blocks contain {least} to {most}", position=start
        )
    return _ZstdFrame(end, claimed, most, parameters.window_size)


def _decompress_sized(decompressor: zstandard.ZstdDecompressor, frame: memoryview) -> bytes:
    """Decompress a section's only frame, whose decompressed size is known and within the limit."""
    try:
        return decompressor.decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise CodecError.of(NAME, str(error)) from error


def _decompress_frame(
    decompressor: zstandard.ZstdDecompressor,
    view: memoryview,
    start: int,
    frame: _ZstdFrame,
    output: DecompressedOutput,
) -> None:
    """Append the decompressed content of *frame*, which begins at *start*, to *output*."""
    # The library allocates a window in addition to the output, as the window fills.
    most = frame.max_content_bytes if frame.content_bytes is None else frame.content_bytes
    window_bytes = min(frame.window_bytes, most)
    if window_bytes > max(output.max_bytes // 2, SMALL_WINDOW_BYTES):
        raise LimitError.of(
            "max_batch_bytes", 2 * window_bytes, limit=output.max_bytes, position=start
        )
    step = min(LEN_STEP, most + 1)
    try:
        with decompressor.stream_reader(view[start : frame.end]) as reader:
            while content := reader.read(step):
                output.append(content, position=start)
    except zstandard.ZstdError as error:
        raise CodecError.of(NAME, str(error), position=start) from error
