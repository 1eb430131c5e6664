"""Headers of v2 batches, read one after another: nothing of what lies between them."""

import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Self, overload

import numpy as np

from magicbyte.engines.entry import BATCH_NAMES, LEAST_SIZES, OVERHEAD, Entry, read_entry
from magicbyte.engines.entry_columns import Entries, Numbers
from magicbyte.storage import File
from magicbyte.tables.arrays import Indices, distinct
from magicbyte_formats.wire import RecordBatchHeader

MAX_HEADERS = 4096
"""Headers that are read before they are looked at."""

HEADER = np.dtype(
    {
        "names": list(RecordBatchHeader.POSITIONS),
        "formats": [f">{code}" for code in RecordBatchHeader.FIXED.format.lstrip(">")],
        "offsets": list(RecordBatchHeader.POSITIONS.values()),
        "itemsize": RecordBatchHeader.SIZE,
    }
)

OF_ATTRIBUTES = ("codec", "timestamp_type", "is_transactional", "is_control", "has_delete_horizon")

_LEN_AND_MAGIC = struct.Struct(
    ">{}xi{}xb".format(
        RecordBatchHeader.POSITIONS["len_batch"],
        RecordBatchHeader.POSITIONS["magic"] - RecordBatchHeader.POSITIONS["len_batch"] - 4,
    )
)


class BatchHeaders(Entries):
    """Batches by their headers alone: as they were read, and as HEADER has them."""

    def __init__(self, fields: "np.ndarray[Any, Any]", positions: Numbers) -> None:
        self._fields, self._positions = fields, positions

    @classmethod
    def back_to_back(cls, heads: bytes | bytearray, begin: int) -> Self:
        """Return those of batches that lie one after another from byte *begin* of a file."""
        fields = np.frombuffer(heads, HEADER)
        sizes = fields["len_batch"].astype(np.int64) + OVERHEAD
        return cls(fields, begin + np.cumsum(sizes) - sizes)

    def __len__(self) -> int:
        return len(self._fields)

    @overload
    def __getitem__(self, at: int) -> Entry: ...
    @overload
    def __getitem__(self, at: slice) -> "BatchHeaders": ...
    def __getitem__(self, at: int | slice) -> "Entry | BatchHeaders":
        if isinstance(at, slice):
            return BatchHeaders(self._fields[at], self._positions[at])
        return read_entry(self._fields[at].tobytes(), 0, origin=int(self._positions[at]))

    def __iter__(self) -> Iterator[Entry]:
        heads = self._fields.tobytes()
        for at, position in enumerate(self._positions.tolist()):
            begin = at * RecordBatchHeader.SIZE
            yield read_entry(heads, begin, origin=position - begin)

    def picked(self, numbers: Indices) -> "BatchHeaders":
        return BatchHeaders(self._fields[numbers], self._positions[numbers])

    def between(self, begin: int, end: int) -> "BatchHeaders":
        """Return those of batches back to back that lie in [begin, end); none where none begins there."""
        first = int(np.searchsorted(self._positions, begin))
        last = int(np.searchsorted(self._positions + self.column("size_bytes"), end, "right"))
        is_there = first < len(self) and self._positions[first] == begin
        return self[first : max(first, last)] if is_there else self[:0]

    def column(self, name: str) -> Numbers:
        match name:
            case "position":
                return self._positions
            case "size_bytes":
                return self._field("len_batch") + OVERHEAD
            case "last_offset":
                return self._field("base_offset") + self._field("last_offset_delta")
            case _ if name in OF_ATTRIBUTES:
                return self._of_attributes(name)
        return self._field(BATCH_NAMES.get(name, name))

    def _field(self, name: str) -> Numbers:
        return self._fields[name].astype(np.int64)

    def _of_attributes(self, name: str) -> Numbers:
        """Return what the attributes say: there are few of them that differ."""
        numbers, which = distinct(self._fields["attributes"])
        nothing: Any = RecordBatchHeader.unpack_from(bytes(RecordBatchHeader.SIZE))
        meanings = [getattr(nothing._replace(attributes=number), name) for number in numbers]
        return np.array(meanings, np.int64)[which]


def read_batch_headers(file: File, position: int, end: int) -> BatchHeaders:
    """Do what `Engine.heads` says, in Python."""
    # There are some millions of them to a terabyte: here is nothing that need not be done for each.
    read, parts = file.reader(RecordBatchHeader.SIZE), _LEN_AND_MAGIC.unpack_from
    heads = bytearray()
    begin, last = position, end - RecordBatchHeader.SIZE
    least, more = LEAST_SIZES[2], OVERHEAD
    with suppress(OSError, struct.error):  # it has become shorter
        for _ in range(MAX_HEADERS):
            if position > last:
                break
            head = read(position)
            size, magic = parts(head)
            if magic != 2 or size < least:
                break
            heads += head
            position += more + size
    rest = len(heads) % RecordBatchHeader.SIZE
    if heads and (rest or position > end):
        del heads[-(rest or RecordBatchHeader.SIZE) :]
    return BatchHeaders.back_to_back(heads, begin)
