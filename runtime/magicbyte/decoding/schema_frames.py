"""Frames: the bytes before a key or value, or the headers, that name the schema it was written with.

A frame is evidence and no proof: every positive int64 below 2^56 begins like the frame of Confluent's magic 0.
`magicbyte.decoding.evidence` decides for the keys or the values of a topic.
"""

import re
import string
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.tables.arrays import null_mask, value_offsets

UInt8Array = np.ndarray[Any, np.dtype[np.uint8]]
Int32Array = np.ndarray[Any, np.dtype[np.int32]]
Int64Array = np.ndarray[Any, np.dtype[np.int64]]

NO_ID = -1


class FrameKind(IntEnum):
    """Kinds of frames, by the serializer that writes them."""

    NONE = 0
    CONFLUENT = 1
    CONFLUENT_GUID = 2
    CONFLUENT_HEADER = 3
    CONFLUENT_HEADER_GUID = 4
    APICURIO_8_BYTES = 5
    APICURIO_HEADER = 6
    GLUE = 7
    GLUE_ZLIB = 8
    AZURE_HEADER = 9
    AZURE_PREFIX = 10
    SINGLE_OBJECT = 11


SENTENCES = {
    FrameKind.NONE: "no frame",
    FrameKind.CONFLUENT: "the frame of Confluent's and Apicurio's serializers: a zero byte and a 4-byte id",
    FrameKind.CONFLUENT_GUID: "the frame of Confluent's serializers: 01 and a GUID",
    FrameKind.CONFLUENT_HEADER: "a schema id in a header of Confluent's serializers",
    FrameKind.CONFLUENT_HEADER_GUID: "a schema GUID in a header of Confluent's serializers",
    FrameKind.APICURIO_8_BYTES: "the frame of older Apicurio serializers: a zero byte and an 8-byte id",
    FrameKind.APICURIO_HEADER: "a schema id in a header of Apicurio's serializers",
    FrameKind.GLUE: "the frame of AWS Glue: 03, 00 and a UUID; its schemas are never in the log",
    FrameKind.GLUE_ZLIB: "the frame of AWS Glue, compressed: 03, 05 and a UUID; its schemas are never in the log",
    FrameKind.AZURE_HEADER: "a schema id in the header content-type of Azure's serializers",
    FrameKind.AZURE_PREFIX: "the frame of Azure's older serializers: four zero bytes and an id of 32 characters",
    FrameKind.SINGLE_OBJECT: "Avro's single-object encoding: C3 01 and a fingerprint",
}

IN_HEADERS = (
    FrameKind.CONFLUENT_HEADER,
    FrameKind.CONFLUENT_HEADER_GUID,
    FrameKind.APICURIO_HEADER,
    FrameKind.AZURE_HEADER,
)
"""Kinds that a serializer alone writes: the name of the header is certain."""

WEAK = (FrameKind.CONFLUENT, FrameKind.APICURIO_8_BYTES)
"""Kinds that ordinary numbers look like."""

PREFIX_SIZES = {
    FrameKind.NONE: 0,
    FrameKind.CONFLUENT: 5,
    FrameKind.CONFLUENT_GUID: 17,
    FrameKind.APICURIO_8_BYTES: 9,
    FrameKind.GLUE: 18,
    FrameKind.GLUE_ZLIB: 18,
    FrameKind.AZURE_PREFIX: 36,
    FrameKind.SINGLE_OBJECT: 10,
}

GLUE_COMPRESSIONS = {0: FrameKind.GLUE, 5: FrameKind.GLUE_ZLIB}
IS_OF_AZURE_ID = np.zeros(256, np.bool_)
"""Bytes of an id of Azure's registry: 32 letters and digits."""
IS_OF_AZURE_ID[list((string.ascii_letters + string.digits).encode())] = True
AZURE_TYPE = re.compile(r"avro/binary\+([0-9a-fA-F]{32})")


@dataclass(slots=True)
class Frames:
    """The frame of each key or value of an Arrow array."""

    kinds: UInt8Array
    ids: Int64Array
    """Ids of schemas; NO_ID where the frame has none, or a token."""
    body_starts: Int32Array
    """Bytes of the frame before the body."""
    tokens: dict[int, str] = field(default_factory=dict)
    """GUIDs, UUIDs and fingerprints, by row."""
    index_bytes: dict[int, bytes] = field(default_factory=dict)
    """Message indexes of Protobuf that are in a header, by row."""


def find_frames(values: pa.Array, headers: pa.Array | None, side: str) -> Frames:
    """Return the frames of *values*, a binary array.

    Args:
        headers: Headers of the same records; None: not looked at.
        side: `key` or `value`: the names of headers contain it.
    """
    num_rows = len(values)
    frames = Frames(
        np.zeros(num_rows, np.uint8),
        np.full(num_rows, NO_ID, np.int64),
        np.zeros(num_rows, np.int32),
    )
    if not num_rows:
        return frames
    prefixes = Prefixes(values)
    _find_prefixes(prefixes, frames)
    if headers is not None:
        for row_number, name, content in _named_headers(headers, side):
            if prefixes.sizes[row_number] >= 0:
                _HEADER_READERS[name.replace(side, "*", 1)](frames, row_number, content)
    return frames


class Prefixes:
    """The first bytes of each value, as columns."""

    def __init__(self, values: pa.Array) -> None:
        offsets = value_offsets(values).astype(np.int64)
        self._begins = offsets[:-1]
        self.sizes = np.where(null_mask(values), -1, offsets[1:] - offsets[:-1])
        """Bytes of each value; -1 for null."""
        buffer = values.buffers()[2]
        self._data = (
            np.frombuffer(buffer, np.uint8) if buffer is not None else np.zeros(1, np.uint8)
        )
        if not len(self._data):
            self._data = np.zeros(1, np.uint8)

    def byte(self, number: int, rows: Any = slice(None)) -> UInt8Array:
        """Return byte *number* of each of *rows*; any number where the value is shorter."""
        positions = np.minimum(self._begins[rows] + number, len(self._data) - 1)
        taken: UInt8Array = self._data[positions]
        return taken

    def number(self, start: int, size: int, rows: Any = slice(None)) -> Int64Array:
        """Return the big-endian number of *size* bytes from byte *start* on."""
        total = self.byte(start, rows).astype(np.uint64)
        for position in range(start + 1, start + size):
            total = (total << np.uint64(8)) | self.byte(position, rows)
        return total.astype(np.int64)

    def content(self, row_number: int, start: int, end: int) -> bytes:
        begin = int(self._begins[row_number])
        return self._data[begin + start : begin + end].tobytes()


def _find_prefixes(prefixes: Prefixes, frames: Frames) -> None:
    first, second, sizes = prefixes.byte(0), prefixes.byte(1), prefixes.sizes

    def mark(rows: Any, frame_kind: FrameKind) -> None:
        frames.kinds[rows] = frame_kind
        frames.body_starts[rows] = PREFIX_SIZES[frame_kind]

    framed = np.flatnonzero((first == 0) & (sizes >= 5))
    mark(framed, FrameKind.CONFLUENT)
    # Ids are int32: a first bit that is set is part of no id.
    frames.ids[framed] = prefixes.number(1, 4, framed)
    # No registry gives the id 0: four zero bytes are the first half of an id of eight bytes.
    is_long = (frames.ids[framed] == 0) & (sizes[framed] >= 9)
    long_rows = framed[is_long]
    mark(long_rows, FrameKind.APICURIO_8_BYTES)
    frames.ids[long_rows] = prefixes.number(5, 4, long_rows)
    azure_rows = framed[(frames.ids[framed] < 256) & (sizes[framed] >= 36)]
    for position in range(
        4, 36
    ):  # every value with an id below 256 begins with four zero bytes, too
        azure_rows = azure_rows[IS_OF_AZURE_ID[prefixes.byte(position, azure_rows)]]
    for row_number in azure_rows.tolist():
        token = prefixes.content(row_number, 4, 36)
        mark(row_number, FrameKind.AZURE_PREFIX)
        frames.ids[row_number], frames.tokens[row_number] = NO_ID, token.decode("ascii").lower()
    for row_number in np.flatnonzero((first == 1) & (sizes >= 17)).tolist():
        mark(row_number, FrameKind.CONFLUENT_GUID)
        frames.tokens[row_number] = str(uuid.UUID(bytes=prefixes.content(row_number, 1, 17)))
    is_glue = (first == 3) & ((second == 0) | (second == 5)) & (sizes >= 18)
    for row_number in np.flatnonzero(is_glue).tolist():
        mark(row_number, GLUE_COMPRESSIONS[int(second[row_number])])
        frames.tokens[row_number] = str(uuid.UUID(bytes=prefixes.content(row_number, 2, 18)))
    for row_number in np.flatnonzero((first == 0xC3) & (second == 1) & (sizes >= 10)).tolist():
        mark(row_number, FrameKind.SINGLE_OBJECT)
        frames.tokens[row_number] = prefixes.content(row_number, 2, 10)[::-1].hex()


def _named_headers(headers: pa.Array, side: str) -> Iterator[tuple[int, str, bytes]]:
    """Yield row, name and content of each header that names the schema of *side*."""
    offsets = value_offsets(headers)
    if offsets[-1] == offsets[0]:
        return
    pairs = headers.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    names = pairs.field("key")
    wanted = [name.replace("*", side) for name in _HEADER_READERS]
    for position, name in enumerate(names.to_pylist()):
        if name in wanted:
            content = pairs.field("value")[position].as_py()
            row_number = int(np.searchsorted(offsets, offsets[0] + position, "right")) - 1
            if content is not None:
                yield row_number, name, content


def _read_confluent_header(frames: Frames, row_number: int, content: bytes) -> None:
    if len(content) >= 17 and content[0] == 1:
        frames.kinds[row_number], frames.body_starts[row_number] = (
            FrameKind.CONFLUENT_HEADER_GUID,
            0,
        )
        frames.ids[row_number], frames.tokens[row_number] = (
            NO_ID,
            str(uuid.UUID(bytes=content[1:17])),
        )
        rest = content[17:]
    elif len(content) >= 5 and content[0] == 0:
        frames.kinds[row_number], frames.body_starts[row_number] = FrameKind.CONFLUENT_HEADER, 0
        frames.ids[row_number] = int.from_bytes(content[1:5])
        frames.tokens.pop(row_number, None)
        rest = content[5:]
    else:
        return
    if rest:
        frames.index_bytes[row_number] = rest


def _read_apicurio_header(frames: Frames, row_number: int, content: bytes) -> None:
    if len(content) in (4, 8):
        frames.kinds[row_number], frames.body_starts[row_number] = FrameKind.APICURIO_HEADER, 0
        frames.ids[row_number] = int.from_bytes(content, signed=True)
        frames.tokens.pop(row_number, None)


def _read_content_type(frames: Frames, row_number: int, content: bytes) -> None:
    match = AZURE_TYPE.search(content.decode("utf-8", "replace"))
    if match:
        frames.kinds[row_number], frames.body_starts[row_number] = FrameKind.AZURE_HEADER, 0
        frames.ids[row_number], frames.tokens[row_number] = NO_ID, match[1].lower()


_HEADER_READERS: dict[str, Callable[[Frames, int, bytes], None]] = {
    "content-type": _read_content_type,
    "apicurio.*.globalId": _read_apicurio_header,
    "apicurio.*.contentId": _read_apicurio_header,
    "__*_schema_id": _read_confluent_header,
}
"""Readers of headers by name, with `*` for key or value; a later one of a record wins."""
