"""Looks up the offset for a time by the indexes of a segment, without a survey of the segment."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from magicbyte.logdir.indexes import read_positions, read_times
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading import segment_range
from magicbyte.reading._times import TimeQuery, first_in
from magicbyte.reading._walk import HeaderWalk, SoundEntries
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.reading.planner import Planner
from magicbyte.tables.arrays import StructuredRows

FIRST_BYTES = 64 << 10
"""Bytes that are looked through first; then twice as many, and so on."""


class TimeLookup(NamedTuple):
    """Result of a lookup in one segment."""

    offset: int | None
    """The first offset with the time or a later one; None if the segment has none."""


def offset_by_index(
    planner: Planner, log: PartitionLog, segment_log: PartitionLog, time: int
) -> TimeLookup | None:
    """Return the first offset of the segment *segment_log* of *log* with the timestamp *time* or a later one.

    None: a survey must tell, since the segment is small, or its bytes are not as its indexes say.
    """
    segment = segment_log.logs[-1]
    is_large = len(segment_log.logs) == 1 and segment.size_bytes >= segment_range.MIN_SAVED_BYTES
    if not is_large or log.is_filled or log.state is not None or segment.base_offset is None:
        return None
    index_rows = read_positions(log, segment, planner.index_findings)
    position = _position(planner, log, segment, index_rows, time)
    limits = planner.options.limits
    query = TimeQuery(time, segment_log.log_start_offset or 0, planner.new_engine(), limits)
    with planner.open_log(segment) as file:
        for start, end in _windows(index_rows, position, segment.size_bytes):
            file.will_read(start, end)
            walk = HeaderWalk(
                file,
                engine=query.engine,
                limits=limits,
                bounds=Bounds(floor=None, ceiling=segment_log.next_base),
                start=start,
                end=end,
                is_last=segment_log.next_base is None,
            )
            for piece in walk:
                if not isinstance(piece, SoundEntries):
                    return None
                if piece.findings or file.unreadable is not None:
                    return None
                offset = first_in(query, file, piece.entries)
                if offset is not None:
                    return TimeLookup(offset)
    return TimeLookup(None)


def _position(
    planner: Planner, log: PartitionLog, segment: LogFile, index_rows: StructuredRows, time: int
) -> int:
    """Return the position in *segment* from which records may have *time*, as Kafka looks it up."""
    times = read_times(log, segment, planner.index_findings)
    before = bisect_right(times["timestamp"], time) - 1
    if before < 0:
        return segment.start
    # No record up to this offset has a later timestamp than *time*.
    number = bisect_right(index_rows["relative_offset"], times["relative_offset"][before]) - 1
    return segment.start if number < 0 else int(index_rows["ofs_batch"][number])


def _windows(
    index_rows: StructuredRows, position: int, size_bytes: int
) -> Iterator[tuple[int, int]]:
    """Yield ranges of a segment from *position* on, which end where a batch begins; each about twice as large."""
    num_bytes = FIRST_BYTES
    while position < size_bytes:
        number = bisect_left(index_rows["ofs_batch"], position + num_bytes)
        end = int(index_rows["ofs_batch"][number]) if number < len(index_rows) else size_bytes
        yield position, end
        position, num_bytes = end, 2 * num_bytes
