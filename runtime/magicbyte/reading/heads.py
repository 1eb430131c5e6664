"""Headers of v2 batches, read one after another: nothing of what lies between them."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from magicbyte.engines.entries import Entries, Numbers
from magicbyte.engines.entry import BATCH_NAMES, LEAST_SIZES, OVERHEAD, Entry, read_entry
from magicbyte.storage import File
from magicbyte.tables.arrays import kinds
from magicbyte_formats.wire import RecordBatchHeader

MOST_HEADS = 4096
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

_LENGTH = slice(
    RecordBatchHeader.LENGTH.field_position, RecordBatchHeader.LENGTH.field_position + 4
)
_MAGIC = RecordBatchHeader.POSITIONS["magic"]


class Heads(Entries):
    """Batches by their headers alone."""

    def __init__(self, heads: Sequence[bytes], positions: Sequence[int]) -> None:
        self._heads, self._positions = heads, positions
        self._fields = np.frombuffer(b"".join(heads), HEADER)

    def __len__(self) -> int:
        return len(self._heads)

    @overload
    def __getitem__(self, at: int) -> Entry: ...
    @overload
    def __getitem__(self, at: slice) -> "Heads": ...
    def __getitem__(self, at: int | slice) -> "Entry | Heads":
        if isinstance(at, slice):
            return Heads(self._heads[at], self._positions[at])
        return read_entry(self._heads[at], 0, origin=self._positions[at])

    def __iter__(self) -> Iterator[Entry]:
        for head, position in zip(self._heads, self._positions, strict=True):
            yield read_entry(head, 0, origin=position)

    def column(self, name: str) -> Numbers:
        match name:
            case "position":
                return np.array(self._positions, np.int64)
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
        numbers, which = kinds(self._fields["attributes"])
        nothing: Any = RecordBatchHeader.unpack_from(bytes(RecordBatchHeader.SIZE))
        meanings = [getattr(nothing._replace(attributes=number), name) for number in numbers]
        return np.array(meanings, np.int64)[which]


def read_heads(file: File, position: int, end: int) -> Heads:
    """Return the headers of the batches that lie back to back from *position* to at most *end*.

    Ends before the first that is none, is of another format or does not end there; such a one is
    for who can say why.
    """
    heads: list[bytes] = []
    positions: list[int] = []
    last = end - RecordBatchHeader.SIZE
    while position <= last and len(heads) < MOST_HEADS:
        head = file.read_at(position, RecordBatchHeader.SIZE)
        size = int.from_bytes(head[_LENGTH], "big", signed=True)
        if head[_MAGIC] != 2 or size < LEAST_SIZES[2] or position + OVERHEAD + size > end:
            break
        heads.append(head)
        positions.append(position)
        position += OVERHEAD + size
    return Heads(heads, positions)
