"""Frames: the bytes before a key or value, or the headers, that name the schema it was written with.

A frame is evidence and no proof: every positive int64 below 2^56 begins like the frame of Confluent's magic 0.
`magicbyte.decoding.frame_search` finds frames, `magicbyte.decoding.evidence` decides for the keys or the values of a topic.
"""

import uuid
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from magicbyte.tables.arrays import Mask, null_mask, value_offsets

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
    APICURIO_GLOBAL_ID = 6
    GLUE = 7
    GLUE_ZLIB = 8
    AZURE_HEADER = 9
    AZURE_PREFIX = 10
    SINGLE_OBJECT = 11
    APICURIO_CONTENT_ID = 12
    APICURIO_ARTIFACT = 13
    SCHEMA_HEADER = 14


SENTENCES = {
    FrameKind.NONE: "no frame",
    FrameKind.CONFLUENT: "the frame of Confluent's and Apicurio's serializers: a zero byte and a 4-byte id",
    FrameKind.CONFLUENT_GUID: "the frame of Confluent's serializers: 01 and a GUID",
    FrameKind.CONFLUENT_HEADER: "a schema id in a header of Confluent's serializers",
    FrameKind.CONFLUENT_HEADER_GUID: "a schema GUID in a header of Confluent's serializers",
    FrameKind.APICURIO_8_BYTES: "the frame of older Apicurio serializers: a zero byte and an 8-byte id",
    FrameKind.APICURIO_GLOBAL_ID: "a global id in a header of Apicurio's serializers",
    FrameKind.APICURIO_CONTENT_ID: "a content id in a header of Apicurio's serializers",
    FrameKind.APICURIO_ARTIFACT: "a content hash, or group, artifact and version, in headers of Apicurio's serializers",
    FrameKind.SCHEMA_HEADER: "the schema itself in a header of Apicurio's serializers",
    FrameKind.GLUE: "the frame of AWS Glue: 03, 00 and a UUID; its schemas are never in the log",
    FrameKind.GLUE_ZLIB: "the frame of AWS Glue, compressed: 03, 05 and a UUID; its schemas are never in the log",
    FrameKind.AZURE_HEADER: "a schema id in the header content-type of Azure's serializers",
    FrameKind.AZURE_PREFIX: "the frame of Azure's older serializers: four zero bytes and an id of 32 characters",
    FrameKind.SINGLE_OBJECT: "Avro's single-object encoding: C3 01 and a fingerprint",
}

IN_HEADERS = (
    FrameKind.CONFLUENT_HEADER,
    FrameKind.CONFLUENT_HEADER_GUID,
    FrameKind.APICURIO_GLOBAL_ID,
    FrameKind.APICURIO_CONTENT_ID,
    FrameKind.APICURIO_ARTIFACT,
    FrameKind.SCHEMA_HEADER,
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

T = TypeVar("T")


@dataclass(slots=True)
class ValuesByRow(Generic[T]):
    """Values that many rows have in common, by row."""

    value_numbers: Int32Array
    """Number in `values` of the value of each row; -1 for none."""
    values: list[T] = field(default_factory=list)

    @classmethod
    def none(cls, num_rows: int) -> "ValuesByRow[T]":
        """Return an object for *num_rows* rows without values."""
        return cls(np.full(num_rows, -1, np.int32))

    def set(self, rows: Any, value_numbers: Any, new_values: list[T]) -> None:
        """Give each of *rows* the value of *new_values* with its number in *value_numbers*."""
        self.value_numbers[rows] = np.asarray(value_numbers, np.int32) + len(self.values)
        self.values += new_values

    def clear(self, rows: Any) -> None:
        self.value_numbers[rows] = -1

    def get(self, row_number: int) -> T | None:
        number = int(self.value_numbers[row_number])
        return None if number < 0 else self.values[number]


@dataclass(slots=True)
class Frames:
    """The frame of each key or value of an Arrow array."""

    kinds: UInt8Array
    ids: Int64Array
    """Ids of schemas; NO_ID where the frame has none, or a token."""
    body_starts: Int32Array
    """Bytes of the frame before the body."""
    tokens: ValuesByRow[str]
    """GUIDs, UUIDs, fingerprints and other texts that name a schema."""
    index_bytes: ValuesByRow[bytes]
    """Message indexes of Protobuf that are in a header."""
    message_names: ValuesByRow[str]
    """Names of Protobuf messages that are in a header."""
    are_json: Mask
    """True where a header says that Avro's JSON encoding was used."""


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

    def bytes_at(self, numbers: Int64Array) -> UInt8Array:
        """Return the byte of each value that *numbers* has."""
        positions = np.minimum(self._begins + numbers, len(self._data) - 1)
        taken: UInt8Array = self._data[positions]
        return taken

    def number(self, start: int, size: int, rows: Any = slice(None)) -> Int64Array:
        """Return the big-endian number of *size* bytes from byte *start* on."""
        total = self.byte(start, rows).astype(np.uint64)
        for position in range(start + 1, start + size):
            total = (total << np.uint64(8)) | self.byte(position, rows)
        return total.astype(np.int64)

    def contents(self, rows: Int64Array, start: int, end: int) -> pa.Array:
        """Return the bytes from *start* to *end* of each of *rows*, whose values are long enough."""
        positions = self._begins[rows][:, None] + np.arange(start, end)
        buffer = pa.py_buffer(np.ascontiguousarray(self._data[positions]))
        data_type = pa.binary(end - start)
        return pa.Array.from_buffers(data_type, len(rows), [None, buffer])

    def content(self, row_number: int, start: int, end: int) -> bytes:
        begin = int(self._begins[row_number])
        return self._data[begin + start : begin + end].tobytes()


def uuid_text(token: bytes) -> str:
    """Return 16 bytes as the text of a UUID."""
    return str(uuid.UUID(bytes=token))


FIRST_BYTES = (0, 1, 3, 0xC3)
"""First bytes of the values that begin with a frame, of any kind."""


def has_first_bytes(values: pa.Array) -> bool:
    """Return whether more than half of *values*, a binary array, have the first byte of a frame; nulls do not count."""
    prefixes = Prefixes(values)
    is_framed = (prefixes.sizes > 0) & np.isin(prefixes.byte(0), FIRST_BYTES)
    num_framed, num_values = int(is_framed.sum()), len(values) - int(values.null_count)
    return 2 * num_framed > num_values
