"""Headers of v2 batches, read from a file without the bytes between them."""

import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, overload

import numpy as np

from magicbyte.engines.entry import BATCH_NAMES, LEAST_SIZES, OVERHEAD, Entry, read_entry
from magicbyte.engines.entry_columns import Entries, Numbers
from magicbyte.storage import File
from magicbyte.tables.arrays import Indices, distinct, dtype_of
from magicbyte_formats.wire import RecordBatchHeader

MAX_HEADERS = 4096
"""Most headers that one call reads."""

HEADER = dtype_of(RecordBatchHeader)

ATTRIBUTE_FIELDS = (
    "codec",
    "timestamp_type",
    "is_transactional",
    "is_control",
    "has_delete_horizon",
    "reserved",
)

_LEN_AND_MAGIC = struct.Struct(
    ">{}xi{}xb{}x".format(
        RecordBatchHeader.POSITIONS["len_batch"],
        RecordBatchHeader.POSITIONS["magic"] - RecordBatchHeader.POSITIONS["len_batch"] - 4,
        RecordBatchHeader.SIZE - RecordBatchHeader.POSITIONS["magic"] - 1,
    )
)


@dataclass(eq=False)
class BatchHeaders(Entries):
    """Batches by their headers alone: a NumPy record array of type HEADER, and the positions."""

    _fields: "np.ndarray[Any, Any]"
    _positions: Numbers
    are_messages = False

    @classmethod
    def back_to_back(cls, headers: bytes | bytearray, begin: int) -> Self:
        """Return the batches with these *headers*, which are back to back from position *begin*."""
        fields = np.frombuffer(headers, HEADER)
        sizes = fields["len_batch"].astype(np.int64) + OVERHEAD
        return cls(fields, begin + np.cumsum(sizes) - sizes)

    def __len__(self) -> int:
        return len(self._fields)

    @overload
    def __getitem__(self, entry_index: int) -> Entry: ...
    @overload
    def __getitem__(self, entry_index: slice) -> "BatchHeaders": ...
    def __getitem__(self, entry_index: int | slice) -> "Entry | BatchHeaders":
        if isinstance(entry_index, slice):
            return BatchHeaders(self._fields[entry_index], self._positions[entry_index])
        return read_entry(
            self._fields[entry_index].tobytes(), 0, origin=int(self._positions[entry_index])
        )

    def __iter__(self) -> Iterator[Entry]:
        headers = self._fields.tobytes()
        for at, position in enumerate(self._positions.tolist()):
            begin = at * RecordBatchHeader.SIZE
            yield read_entry(headers, begin, origin=position - begin)

    def picked(self, numbers: Indices) -> "BatchHeaders":
        return BatchHeaders(self._fields[numbers], self._positions[numbers])

    def moved(self, positions: Numbers) -> "BatchHeaders":
        return BatchHeaders(self._fields, positions)

    def between(self, begin: int, end: int) -> "BatchHeaders":
        """Return the batches in [begin, end), which are back to back; none if no batch begins at *begin*."""
        first = int(np.searchsorted(self._positions, begin))
        last = int(np.searchsorted(self._positions + self.column("size_bytes"), end, "right"))
        has_begin = first < len(self) and self._positions[first] == begin
        return self[first : max(first, last)] if has_begin else self[:0]

    def column(self, name: str) -> Numbers:
        match name:
            case "position":
                return self._positions
            case "size_bytes":
                return self._field("len_batch") + OVERHEAD
            case "last_offset":
                return self._field("base_offset") + self._field("last_offset_delta")
            case _ if name in ATTRIBUTE_FIELDS:
                return self._attribute(name)
        return self._field(BATCH_NAMES.get(name, name))

    def _field(self, name: str) -> Numbers:
        return self._fields[name].astype(np.int64)

    def _attribute(self, name: str) -> Numbers:
        """Return the attributes' bit field *name* of each batch; each distinct value is decoded once."""
        numbers, indices = distinct(self._fields["attributes"])
        zeros: Any = RecordBatchHeader.unpack_from(bytes(RecordBatchHeader.SIZE))
        values = [getattr(zeros._replace(attributes=number), name) for number in numbers]
        return np.array(values, np.int64)[indices]


def read_batch_headers(file: File, position: int, end: int) -> BatchHeaders:
    """Implement `Engine.read_headers` in Python."""
    # A terabyte has millions of batches: keep this loop minimal.
    read_at, unpack = file.reader(RecordBatchHeader.SIZE), _LEN_AND_MAGIC.unpack_from
    headers = bytearray()
    begin, last = position, end - RecordBatchHeader.SIZE
    min_length = LEAST_SIZES[2]
    with suppress(OSError, struct.error):  # the file has been truncated
        for _ in range(MAX_HEADERS):
            if position > last:
                break
            header = read_at(position)
            size, magic = unpack(header)
            if magic != 2 or size < min_length:
                break
            headers += header
            position += OVERHEAD + size
    rest = len(headers) % RecordBatchHeader.SIZE
    if headers and (rest or position > end):
        del headers[-(rest or RecordBatchHeader.SIZE) :]
    return BatchHeaders.back_to_back(headers, begin)
