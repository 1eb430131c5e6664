"""lz4: codec 3, the part of the LZ4 frame format that Kafka reads.

One frame of independent blocks; bytes after its EndMark are ignored. A block that decompresses to
nothing ends the payload as well: Kafka's KafkaLZ4BlockInputStream returns 0 bytes for it, which its
readers take for the end of the stream. In messages of magic 0 Kafka
wrote a wrong header checksum, over the frame's magic too (KAFKA-3160), so it is verified from
magic 1 on. The content checksum is never verified.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import lz4.block
import lz4.frame

from magicbyte.codecs._output import DecompressedOutput
from magicbyte.errors import CodecError

NAME = "lz4"

MAGIC = b"\x04\x22\x4d\x18"
FLG_VERSION, VERSION = 0xC0, 0x40
FLG_INDEPENDENT, FLG_BLOCK_CHECKSUM, FLG_CONTENT_SIZE, FLG_CONTENT_CHECKSUM = 32, 16, 8, 4
FLG_RESERVED = 0x03
"""The lower bit announces a dictionary in the full format; Kafka allows none."""
BD_RESERVED = 0x8F

HEADER = MAGIC + b"\x60\x40\x82"
"""Header of the frames that Kafka's producer writes: independent blocks of up to 64 KiB, no checksums."""
HEADER_OF_MAGIC_0 = HEADER[:-1] + b"\x1a"
"""The same with the checksum that Kafka wrote in messages of magic 0 (KAFKA-3160)."""
LEN_BLOCK = 1 << 16

LEVELS, FAST_LEVEL = range(1, 18), 9
"""Levels that Kafka's `compression.lz4.level` allows. At the default, 9, its Lz4BlockOutputStream takes the
fast compressor, which has no levels; at all others the one of the high-compression mode."""

MAX_BLOCK_BYTES = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}
CHECKED_HEADERS = {
    4: MAGIC + b"\x70\x40\xad",
    5: MAGIC + b"\x70\x50\x84",
    6: MAGIC + b"\x70\x60\x33",
    7: MAGIC + b"\x70\x70\x72",
}
"""Headers of frames whose blocks have checksums, by the id of the maximum block size."""

LARGE_HEADER = MAGIC + b"\x60\x70\x73"
"""Header of a frame of blocks of up to 4 MiB without checksums."""

LEN_WHOLE = 1 << 20
"""Blocks that can be larger than this, decompressed, are decompressed in parts."""

LEN_PART = 1 << 18

UNCOMPRESSED = 1 << 31
END_MARKS = (0, UNCOMPRESSED)
"""Block lengths that end the frame. Kafka clears the highest bit before it compares."""

MAX_RATIO = 255
"""Most decompressed bytes per byte of a block: each further byte of a length adds up to 255."""


@dataclass(frozen=True, slots=True)
class _Lz4Frame:
    block_size_id: int
    has_block_checksums: bool
    has_content_checksum: bool
    ofs_blocks: int

    @property
    def max_block_bytes(self) -> int:
        return MAX_BLOCK_BYTES[self.block_size_id]


def compress(raw_bytes: memoryview | bytes, *, level: int | None = None, magic: int = 2) -> bytes:
    """Return *raw_bytes* as one frame, for an entry of *magic*."""
    view = memoryview(raw_bytes)
    pieces: list[bytes | memoryview] = [HEADER if magic else HEADER_OF_MAGIC_0]
    for start in range(0, len(view), LEN_BLOCK):
        block = view[start : start + LEN_BLOCK]
        if level in (None, FAST_LEVEL):
            stored = lz4.block.compress(block, store_size=False)
        else:
            stored = lz4.block.compress(
                block, mode="high_compression", compression=level, store_size=False
            )
        if len(stored) < len(block):
            pieces += [len(stored).to_bytes(4, "little"), stored]
        else:
            pieces += [(len(block) | UNCOMPRESSED).to_bytes(4, "little"), block]
    return b"".join([*pieces, bytes(4)])


def decompress(section: memoryview | bytes, *, max_bytes: int, magic: int = 2) -> bytes:
    """Return the decompressed bytes of *section*, from an entry of *magic*.

    Raises CodecError if Kafka would not read it, LimitError if the result would exceed
    *max_bytes*; both with the position in *section*.
    """
    view = memoryview(section)
    frame = _read_header(view, magic)
    output = DecompressedOutput(max_bytes)
    position = frame.ofs_blocks
    while (length := _read_u32(view, position)) not in END_MARKS:
        start = position + 4
        end = _block_end(view, position, length, frame)
        num_before = output.num_bytes
        for content in _read_block(view, start, end, length, frame):
            output.append(content, position=position)
        if output.num_bytes == num_before:
            return output.value()
        position = end + 4 * frame.has_block_checksums
    if frame.has_content_checksum:
        _read_u32(view, position + 4)
    return output.value()


def _read_header(view: memoryview, magic: int) -> _Lz4Frame:
    if len(view) < 7:
        raise CodecError.of(NAME, f"{len(view)} bytes; a frame's header has 7 or more")
    if view[:4] != MAGIC:
        raise CodecError.of(NAME, f"frame magic {view[:4].hex()}; expected {MAGIC.hex()}")
    flg, bd = view[4], view[5]
    if flg & FLG_VERSION != VERSION:
        raise CodecError.of(NAME, f"version {flg >> 6}; expected 1", position=4)
    if not flg & FLG_INDEPENDENT:
        raise CodecError.of(NAME, "dependent blocks; expected independent ones", position=4)
    if flg & FLG_RESERVED:
        raise CodecError.of(NAME, f"FLG {flg:#04x}; expected its reserved bits to be 0", position=4)
    if bd & BD_RESERVED:
        raise CodecError.of(NAME, f"BD {bd:#04x}; expected its reserved bits to be 0", position=5)
    if bd >> 4 not in MAX_BLOCK_BYTES:
        raise CodecError.of(NAME, f"block size id {bd >> 4}; expected 4 to 7", position=5)
    ofs_checksum = 6 + (8 if flg & FLG_CONTENT_SIZE else 0)
    if ofs_checksum >= len(view):
        raise CodecError.of(NAME, "the section ends inside the frame's header", position=6)
    if magic >= 1:
        try:
            lz4.frame.get_frame_info(bytes(view[: ofs_checksum + 1]))
        except RuntimeError as error:
            raise CodecError.of(
                NAME, f"wrong header checksum {view[ofs_checksum]:#04x}", position=ofs_checksum
            ) from error
    return _Lz4Frame(
        block_size_id=bd >> 4,
        has_block_checksums=bool(flg & FLG_BLOCK_CHECKSUM),
        has_content_checksum=bool(flg & FLG_CONTENT_CHECKSUM),
        ofs_blocks=ofs_checksum + 1,
    )


def _read_u32(view: memoryview, position: int) -> int:
    if position + 4 > len(view):
        raise CodecError.of(NAME, "the section ends inside the frame", position=position)
    return int.from_bytes(view[position : position + 4], "little")


def _block_end(view: memoryview, position: int, length: int, frame: _Lz4Frame) -> int:
    """Return the end of the block whose *length* is at *position*."""
    len_block = length & ~UNCOMPRESSED
    if len_block > frame.max_block_bytes:
        raise CodecError.of(
            NAME,
            f"block of {len_block} bytes; the frame allows {frame.max_block_bytes}",
            position=position,
        )
    end = position + 4 + len_block
    if end + 4 * frame.has_block_checksums > len(view):
        raise CodecError.of(NAME, "the section ends inside a block", position=position)
    return end


def _read_block(
    view: memoryview, start: int, end: int, length: int, frame: _Lz4Frame
) -> Iterator[bytes | memoryview]:
    """Yield the decompressed bytes of a block."""
    block = view[start:end]
    if frame.has_block_checksums:
        _verify_block(view, start, end, frame)
    if length & UNCOMPRESSED:
        yield block
        return
    most = min(frame.max_block_bytes, len(block) * MAX_RATIO)
    try:
        if most > LEN_WHOLE:
            yield from _decompress_in_parts(block)
        else:
            yield lz4.block.decompress(block, uncompressed_size=most)
    except (RuntimeError, lz4.block.LZ4BlockError) as error:
        raise CodecError.of(NAME, str(error), position=start) from error


def _decompress_in_parts(block: memoryview) -> Iterator[bytes]:
    """Yield the decompressed bytes of a large block in parts, to avoid a second copy in memory."""
    data = b"".join((LARGE_HEADER, len(block).to_bytes(4, "little"), block, bytes(4)))
    stream = lz4.frame.LZ4FrameDecompressor()
    while not stream.eof:
        yield stream.decompress(data, max_length=LEN_PART)
        data = b""


def _verify_block(view: memoryview, start: int, end: int, frame: _Lz4Frame) -> None:
    """Verify the checksum of a block with the lz4 library.

    The library verifies blocks only within a frame. The checksum covers the stored bytes, so they
    are put into a frame as an uncompressed block, which avoids decompressing them twice.
    """
    stored = (end - start) | UNCOMPRESSED
    checked_frame = b"".join(
        (
            CHECKED_HEADERS[frame.block_size_id],
            stored.to_bytes(4, "little"),
            view[start : end + 4],
            bytes(4),
        )
    )
    try:
        lz4.frame.decompress(checked_frame)
    except RuntimeError as error:
        raise CodecError.of(NAME, "wrong block checksum", position=end) from error
