"""Consistent entries of offset and time indexes."""

from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from magicbyte.errors import ChangedError, MissingError, StoreError, UnreadableError
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.tables.arrays import RowFormat, StructuredRows, dtype_of
from magicbyte_formats.wire import OffsetIndexEntry, TimeIndexEntry

MAX_INDEX_BYTES = 1 << 30
"""`segment.index.bytes` is 10 MiB, and no broker maps an index of 2 GiB."""

AROUND_ROWS = 4096
"""Entries that are read before and after the place where an offset is expected: 32 KiB."""

MIN_INDEX_PARTS = 4
"""An index of fewer times the entries that would be read is read as a whole."""

MIN_BISECTED_ROWS = 4096
"""An index of fewer entries, 32 KiB, is read as a whole: a bisection takes a hundred reads."""

EDGE_ROWS = 2
"""Entries that must be known before and after an offset."""

SEGMENT_SPAN = 1 << 31
"""Offsets that a segment can span: its indexes hold them in 32 bits."""

WARM_ENTRIES = 8192 // OffsetIndexEntry.SIZE
"""Entries at the end of an offset index in which Kafka searches first."""


def read_times(
    log: PartitionLog, segment: LogFile, findings: list[Finding] | None = None
) -> StructuredRows:
    """Return the time index of *segment*: `timestamp`, and `relative_offset` to the segment's base offset.

    The table is empty if the file is absent, its entries do not increase, or it cannot be read, about
    which *findings* gets a finding.
    """
    return _read(log, segment, "timeindex", TimeIndexEntry, findings)


def read_positions(
    log: PartitionLog, segment: LogFile, findings: list[Finding] | None = None
) -> StructuredRows:
    """Return the offset index of *segment*: `relative_offset` to the segment's base offset, and `ofs_batch`.

    The table is empty where `read_times` returns an empty one, and if entries point past the segment.
    """
    return _within(_read(log, segment, "index", OffsetIndexEntry, findings), segment)


def _offset_index(log: PartitionLog, segment: LogFile) -> LogFile | None:
    """Return the offset index of *segment*; None if it has none."""
    for file in log.files:
        if file.live and file.kind == "index" and file.base_offset == segment.base_offset:
            return file
    return None


def positions_around(
    log: PartitionLog, segment: LogFile, low: int, high: int, span: int
) -> StructuredRows | None:
    """Return the entries of the offset index of *segment* around the relative offsets *low* to *high*.

    They are looked for where they are if the *span* of offsets of the segment is evenly distributed. The
    first two are at or below *low*, or the index's first ones, and the last two are at or above *high*, or its last
    ones. None: they are elsewhere, or the index is small or invalid there.
    """
    file = _offset_index(log, segment)
    if file is None:
        return None
    size = OffsetIndexEntry.SIZE
    num_rows = file.size_bytes // size
    first = max(num_rows * low // span - AROUND_ROWS, 0)
    end = min(num_rows * (high + 1) // span + AROUND_ROWS, num_rows)
    if span <= 0 or (end - first) * MIN_INDEX_PARTS > num_rows:
        return None
    try:
        with file.open_strictly() as opened:
            opened.will_read(first * size, end * size)
            data = opened.read_at(first * size, (end - first) * size)
    except (StoreError, UnreadableError, MissingError):
        return None
    index_rows = whole_rows(data, OffsetIndexEntry)
    if first_decrease(index_rows) is not None or not len(_within(index_rows, segment)):
        return None
    offsets = index_rows["relative_offset"].astype(np.int64)
    is_first_known = first == 0 or int(np.searchsorted(offsets, low, "right")) >= EDGE_ROWS
    num_above = len(offsets) - int(np.searchsorted(offsets, high))
    is_end_known = end == num_rows or num_above >= EDGE_ROWS
    return index_rows if is_first_known and is_end_known else None


def positions_between(
    log: PartitionLog, segment: LogFile, low: int, high: int | None = None
) -> StructuredRows | None:
    """Return the entries of the offset index of *segment* between the relative offsets *low* and *high*.

    The first EDGE_ROWS are at or below *low*, or are the index's first ones; the last EDGE_ROWS are above *high*, or are
    its last ones. They are found by bisection, since a broker allocates the index of its newest segment with 10 MiB,
    and nothing tells where its entries end. *high* None: up to the last one. None: the index is small, in a store, or
    invalid there.
    """
    file = _offset_index(log, segment)
    if file is None:
        return None
    size = OffsetIndexEntry.SIZE
    num_rows = file.size_bytes // size
    if file.store is not None or num_rows < MIN_BISECTED_ROWS:
        return None
    try:
        with file.open_strictly() as opened:

            def rows(first: int, end: int) -> StructuredRows:
                return whole_rows(
                    opened.read_at(first * size, (end - first) * size), OffsetIndexEntry
                )

            def num_below(end: int, is_above: Callable[[StructuredRows], bool]) -> int:
                return bisect_left(range(end), True, key=lambda row: is_above(rows(row, row + 1)))

            end = num_below(num_rows, lambda row: not len(without_zeros(row)))
            first = num_below(end, lambda row: row["relative_offset"][0] > low)
            if high is not None:
                above = num_below(end, lambda row: row["relative_offset"][0] > high)
                end = min(above + EDGE_ROWS, end)
            index_rows = rows(max(first - EDGE_ROWS, 0), end)
    except (ChangedError, MissingError, UnreadableError):
        return None  # the whole index is read instead, which reports the fault
    return _within(index_rows, segment) if first_decrease(index_rows) is None else None


def positions_of(index: LogFile, segment: LogFile) -> StructuredRows:
    """Return the entries of the file *index*, the offset index of *segment*, as `read_positions` does."""
    try:
        return _within(_table(index, OffsetIndexEntry), segment)
    except UnreadableError:
        return whole_rows(b"", OffsetIndexEntry)


def _within(index_rows: StructuredRows, segment: LogFile) -> StructuredRows:
    is_inside = not len(index_rows) or int(index_rows["ofs_batch"][-1]) < segment.size_bytes
    return index_rows if is_inside else index_rows[:0]


def _read(
    log: PartitionLog,
    segment: LogFile,
    kind: str,
    row: type[RowFormat],
    findings: list[Finding] | None,
) -> StructuredRows:
    for file in log.files:
        if file.live and file.kind == kind and file.base_offset == segment.base_offset:
            try:
                return _table(file, row)
            except UnreadableError as error:
                finding = error.finding.at(log.topic, log.partition, file.name)
                if findings is not None and finding not in findings:
                    findings.append(finding)
    return whole_rows(b"", row)


def _table(file: LogFile, row: type[RowFormat]) -> StructuredRows:
    try:
        data = file.read_small(MAX_INDEX_BYTES)
    except MissingError:  # a live broker removed it meanwhile
        return whole_rows(b"", row)
    table = without_zeros(whole_rows(data, row))
    return table if first_decrease(table) is None else table[:0]


def without_zeros(index_rows: StructuredRows) -> StructuredRows:
    """Return *index_rows* up to its last entry that is not all zeros: index files of live segments are preallocated."""
    used = np.flatnonzero(index_rows.view(np.uint8).reshape(-1, index_rows.itemsize).any(axis=1))
    return index_rows[: int(used[-1]) + 1 if len(used) else 0]


def first_decrease(index_rows: StructuredRows) -> tuple[int, str, int] | None:
    """Return the first entry of an index that decreases: its number, the field and the least valid value.

    No field may be below 0, or below the same field of the entry before. None if all increase.
    """
    decreases = []
    for name in index_rows.dtype.names or ():
        numbers = index_rows[name].astype(np.int64)
        is_lower = numbers < np.concatenate([[0], numbers[:-1]])
        if is_lower.any():
            number = int(np.argmax(is_lower))
            decreases.append((number, name, int(numbers[number - 1]) if number else 0))
    return min(decreases, default=None, key=lambda decrease: decrease[0])


def position_of(index_rows: StructuredRows, relative: int) -> int:
    """Return the position that Kafka looks up for an offset in an offset index (OffsetIndex.lookup).

    *relative* is the offset minus the segment's base offset. The result is 0 if all entries of
    *index_rows* are above it. In an index that does not increase, the result is Kafka's, too.
    """
    slot = _lower_bound(index_rows["relative_offset"], relative) if len(index_rows) else None
    return 0 if slot is None else int(index_rows["ofs_batch"][slot])


def _lower_bound(relative: "np.ndarray[tuple[int], np.dtype[np.int32]]", target: int) -> int | None:
    """Return the number of the entry that Kafka's search finds, in any order of entries; None if none."""

    def search(low: int, high: int) -> int:
        while low < high:
            middle = (low + high + 1) // 2
            offset = int(relative[middle])
            if offset == target:
                return middle
            if offset > target:
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
    """Return the complete rows at the beginning of *data*."""
    return np.frombuffer(data[: len(data) // row.SIZE * row.SIZE], dtype_of(row))


def check_index(
    data: bytes, row: type[RowFormat], code: str
) -> tuple[StructuredRows, Finding | None]:
    """Return the complete entries of the index *data*, and the finding of *code* if it is invalid.

    An index is invalid where bytes follow its last complete entry, or where an entry decreases
    before the zeros that preallocated files end in.
    """
    table = whole_rows(data, row)
    decrease = first_decrease(without_zeros(table))
    if decrease is None:
        return table, bytes_left(data, row.SIZE, code) if len(data) % row.SIZE else None
    number, name, least = decrease
    value = int(table[name][number])
    return table, Finding(
        code=code,
        message=f"{name} {value}, expected {least} or more",
        position=number * row.SIZE,
        field=name,
        found=str(value),
        expected=f"{least} or more",
    )


def bytes_left(data: bytes, row_size: int, code: str) -> Finding:
    """Return a finding of *code*: the file *data* ends with part of a row of *row_size* bytes."""
    left = len(data) % row_size
    return Finding(
        code=code,
        message=f"{left} bytes follow the last whole entry",
        position=len(data) - left,
        found=str(len(data)),
        expected=f"a multiple of {row_size}",
    )
