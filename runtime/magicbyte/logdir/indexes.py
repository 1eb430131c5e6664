"""Offset and time indexes, as far as they can be believed."""

import numpy as np

from magicbyte.errors import MissingError
from magicbyte.findings import Finding
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.log_file import LogFile
from magicbyte.logdir.row_files import RowFormat, StructuredRows, bytes_left, dtype_of
from magicbyte_formats.wire import OffsetIndexEntry, TimeIndexEntry

MAX_INDEX_BYTES = 1 << 30
"""`segment.index.bytes` is 10 MiB, and no broker maps an index of 2 GiB."""

SEGMENT_SPAN = 1 << 31
"""Offsets that a segment can span: its indexes hold them in 32 bits."""

WARM_ENTRIES = 8192 // OffsetIndexEntry.SIZE
"""Entries at the end of an offset index in which Kafka searches first."""


def read_times(log: PartitionLog, segment: LogFile) -> StructuredRows:
    """Return the time index of *segment*: `timestamp`, and `relative_offset` behind the segment's base.

    Nothing where it is absent, or where what is in it does not go up as it must.
    """
    return _read(log, segment, "timeindex", TimeIndexEntry)


def read_positions(log: PartitionLog, segment: LogFile) -> StructuredRows:
    """Return the offset index of *segment*: `relative_offset` behind the segment's base, and `ofs_batch`.

    Nothing where it is absent, or where what is in it does not go up as it must.
    """
    return _within(_read(log, segment, "index", OffsetIndexEntry), segment)


def positions_of(index: LogFile, segment: LogFile) -> StructuredRows:
    """Return the offset index *index* of *segment*, as `read_positions` does."""
    return _within(_table(index, OffsetIndexEntry), segment)


def _within(found: StructuredRows, segment: LogFile) -> StructuredRows:
    is_inside = not len(found) or int(found["ofs_batch"][-1]) < segment.size_bytes
    return found if is_inside else found[:0]


def _read(log: PartitionLog, segment: LogFile, kind: str, row: type[RowFormat]) -> StructuredRows:
    for file in log.files:
        if file.live and file.kind == kind and file.base_offset == segment.base_offset:
            return _table(file, row)
    return whole_rows(b"", row)


def _table(file: LogFile, row: type[RowFormat]) -> StructuredRows:
    try:
        data = file.read_small(MAX_INDEX_BYTES)
    except MissingError:  # a live broker removed it meanwhile
        return whole_rows(b"", row)
    told = without_zeros(whole_rows(data, row))
    return told if first_decrease(told) is None else told[:0]


def without_zeros(table: StructuredRows) -> StructuredRows:
    """Return *table* up to its last entry that is not all zeros: files of live ones are preallocated."""
    told = np.flatnonzero(table.view(np.uint8).reshape(-1, table.itemsize).any(axis=1))
    return table[: int(told[-1]) + 1 if len(told) else 0]


def first_decrease(table: StructuredRows) -> tuple[int, str, int] | None:
    """Return the first entry of an index that goes back: its number, the field, what is the least there.

    No field may be below 0, or below that of the entry before. None where all go up.
    """
    found = []
    for name in table.dtype.names or ():
        numbers = table[name].astype(np.int64)
        is_back = numbers < np.concatenate([[0], numbers[:-1]])
        if is_back.any():
            number = int(np.argmax(is_back))
            found.append((number, name, int(numbers[number - 1]) if number else 0))
    return min(found, default=None, key=lambda back: back[0])


def position_of(table: StructuredRows, relative: int) -> int:
    """Return the position that Kafka looks up for an offset in an offset index (OffsetIndex.lookup).

    *relative* is the offset less the segment's base. 0: all of *table* lies above. The search is
    Kafka's, which is the same in an index that goes up, and finds what Kafka's finds in others.
    """
    slot = _lower_bound(table["relative_offset"], relative) if len(table) else None
    return 0 if slot is None else int(table["ofs_batch"][slot])


def _lower_bound(relative: "np.ndarray[tuple[int], np.dtype[np.int32]]", target: int) -> int | None:
    """Return the entry that Kafka's search finds, in an index in whatever order; None: none."""

    def search(low: int, high: int) -> int:
        while low < high:
            middle = (low + high + 1) // 2
            found = int(relative[middle])
            if found == target:
                return middle
            if found > target:
                high = middle - 1
            else:
                low = middle
        return low

    warm = max(0, len(relative) - 1 - WARM_ENTRIES)
    if int(relative[warm]) < target:
        return search(warm, len(relative) - 1)
    if int(relative[0]) > target:
        return None
    return search(0, warm)


def whole_rows(data: bytes, row: type[RowFormat]) -> StructuredRows:
    """Return the rows that lie whole in *data*, from its beginning."""
    return np.frombuffer(data[: len(data) // row.SIZE * row.SIZE], dtype_of(row))


def check_index(
    data: bytes, row: type[RowFormat], code: str
) -> tuple[StructuredRows, Finding | None]:
    """Return the whole entries of the index *data*, and the finding of *code* if it is invalid.

    An index is invalid where bytes follow its last whole entry, or where an entry goes back
    before the zeros that preallocated files end in.
    """
    table = whole_rows(data, row)
    back = first_decrease(without_zeros(table))
    if back is None:
        return table, bytes_left(data, row.SIZE, code) if len(data) % row.SIZE else None
    number, name, least = back
    found = int(table[name][number])
    return table, Finding(
        code=code,
        message=f"{name} {found}, expected {least} or more",
        position=number * row.SIZE,
        field=name,
        found=str(found),
        expected=f"{least} or more",
    )
