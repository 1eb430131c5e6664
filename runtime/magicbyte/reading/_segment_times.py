"""Segments, and parts of them, whose records are too early for a condition on `timestamp`.

A time index states for an offset the largest timestamp up to it. An entry is believed if the header of the batch with
that offset has the same timestamp; after the last entry, the headers of the segment are read. So records out of order
cost bytes and never rows, and so does an index that is cut off or of another log. An index is not sound, and can cost rows, if
an entry states the timestamp of its batch although an earlier batch has a larger one.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pds

from magicbyte.engines.entry_columns import Numbers
from magicbyte.errors import MagicbyteError
from magicbyte.limits import MIB
from magicbyte.logdir.indexes import position_of, read_positions, read_times
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading import segment_range
from magicbyte.reading._row_condition import RowCondition
from magicbyte.reading._scan_ranges import LogRange, intersection, joined_ranges
from magicbyte.reading._walk import HeaderWalk, SoundEntries
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import OffsetRange
from magicbyte.reading.segment_range import known_bases
from magicbyte.tables.arrays import StructuredRows

MAX_TAIL_BYTES = MIB
"""Bytes after the last entry of a time index whose headers are read. A broker appends the last entry when it closes a
segment, and one for each 4 KiB before; of another segment nothing is known."""

PARTS_OF_ONE = 16
"""Entries of an index that one call of Arrow compares with the condition."""

MAX_LOOKUPS = 16
"""Segments in a store that are looked up at the same time."""

PER_MILLISECOND = {"ms": 1, "us": 1000, "ns": 1_000_000}
MAX_INT64 = (1 << 63) - 1

_timestamp, _offset = pds.field("timestamp"), pds.field("offset")


@dataclass(slots=True)
class LargestTimestamps:
    """Largest timestamps of segments; each is looked up once. Threads may share it."""

    planner: Planner
    _latest: dict[tuple[object, str], int | None] = field(default_factory=dict)
    """Largest timestamp by folder and file name of the segment; None where it is not certain."""

    def narrowed(self, log_ranges: Sequence[LogRange], condition: RowCondition) -> list[LogRange]:
        """Return the parts of *log_ranges* that may have records for which *condition* holds, in the same order."""
        if "timestamp" not in condition.columns:
            return list(log_ranges)
        return [part for each in log_ranges for part in self._parts(each, condition)]

    def _parts(self, log_range: LogRange, condition: RowCondition) -> list[LogRange]:
        log = log_range.log
        if not _is_usable(log):
            return [log_range]
        segments = _ranges_of_segments(log_range)
        latest = self._latest_times(log, [number for number, _ in segments])
        guarantees = [
            replace(log_range, offsets=offsets).guarantee & time_guarantee(condition, time)
            for (_, offsets), time in zip(segments, latest, strict=True)
        ]
        matches = condition.may_match(guarantees)
        kept = [
            self._later_part(log, number, replace(log_range, offsets=offsets), condition)
            for (number, offsets), is_match in zip(segments, matches, strict=True)
            if is_match
        ]
        ranges = [one for one in kept if one is not None]
        if ranges == [offsets for _, offsets in segments]:
            return [log_range]
        return [replace(log_range, offsets=offsets) for offsets in joined_ranges(ranges)]

    def _latest_times(self, log: PartitionLog, numbers: Sequence[int]) -> list[int | None]:
        unknown = [number for number in numbers if self._key(log, number) not in self._latest]
        look_up = partial(self._look_up, log)
        if len(unknown) > 1 and any(log.logs[number].store is not None for number in unknown):
            with ThreadPoolExecutor(MAX_LOOKUPS, "magicbyte-times") as pool:
                found = list(pool.map(look_up, unknown))
        else:
            found = [look_up(number) for number in unknown]
        for number, time in zip(unknown, found, strict=True):
            self._latest[self._key(log, number)] = time
        return [self._latest[self._key(log, number)] for number in numbers]

    def _key(self, log: PartitionLog, number: int) -> tuple[object, str]:
        return log.folder, log.logs[number].name

    def _look_up(self, log: PartitionLog, number: int) -> int | None:
        """Return the largest timestamp of a segment; None if it is not certain."""
        segment = log.logs[number]
        try:
            index_rows = read_times(log, segment)
            positions = read_positions(log, segment)
            last = index_rows[-1:]
            relative = int(last["relative_offset"][0]) if len(last) else -1
            start = position_of(positions, relative) if len(last) else segment.start
            if segment.size_bytes - start > MAX_TAIL_BYTES:
                return None
            tail = self._headers(log, number, start, segment.size_bytes)
        except MagicbyteError:
            return None  # the read of the records meets it, too, and reports it
        if tail is None:
            return None
        if len(last) and not tail.is_stated(int(last["timestamp"][0]), _base(segment) + relative):
            return None
        return max(*(int(row["timestamp"]) for row in last), int(tail.times.max(initial=-1)), -1)

    def _headers(self, log: PartitionLog, number: int, start: int, end: int) -> "_Headers | None":
        """Return the headers in [start, end) of a segment; None if these bytes have no sound ones."""
        segment = log.logs[number]
        bases = [*known_bases(log)[1:], None]
        with self.planner.open_log(segment) as file:
            file.will_read(start, end)
            walk = HeaderWalk(
                file,
                engine=self.planner.new_engine(),
                limits=self.planner.options.limits,
                bounds=Bounds(floor=None, ceiling=bases[number]),
                start=start,
                end=end,
                is_last=bases[number] is None,
            )
            times, lasts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
            first_offset: int | None = None
            for piece in walk:
                if not isinstance(piece, SoundEntries) or piece.findings or file.unreadable:
                    return None
                times.append(piece.entries.column("max_timestamp"))
                entry_offsets = piece.entry_offsets()
                lasts.append(entry_offsets.lasts)
                if first_offset is None and len(entry_offsets.firsts):
                    first_offset = int(entry_offsets.firsts[0])
        return _Headers(np.concatenate(times), np.concatenate(lasts), first_offset)

    def _later_part(
        self, log: PartitionLog, number: int, log_range: LogRange, condition: RowCondition
    ) -> OffsetRange | None:
        """Return the offsets of *log_range*, in one segment, without the first ones that are too early."""
        segment, offsets = log.logs[number], log_range.offsets
        if segment.size_bytes < segment_range.MIN_SAVED_BYTES:
            return offsets
        try:
            index_rows = read_times(log, segment)
            count = _num_early(index_rows, _base(segment), log_range, condition)
            if not count:
                return offsets
            row = index_rows[count - 1]
            last_early = _base(segment) + int(row["relative_offset"])
            positions = read_positions(log, segment)
            start = position_of(positions, int(row["relative_offset"]))
            after = positions["ofs_batch"][positions["ofs_batch"] > start]
            end = int(after[0]) if len(after) else segment.size_bytes
            headers = self._headers(log, number, start, end)
        except MagicbyteError:
            return offsets  # the read of the records meets it, too, and reports it
        if headers is None or not headers.is_stated(int(row["timestamp"]), last_early):
            return offsets
        return intersection(offsets, (last_early + 1, None))


@dataclass(frozen=True, slots=True)
class _Headers:
    """Largest timestamps and last offsets of consecutive batches or messages."""

    times: Numbers
    lasts: Numbers
    first_offset: int | None

    def is_stated(self, time: int, offset: int) -> bool:
        """Return whether the header of the batch with *offset* has the largest timestamp *time*."""
        if self.first_offset is None or not self.first_offset <= offset <= int(self.lasts[-1]):
            return False
        return int(self.times[int(np.argmax(self.lasts >= offset))]) == time


def time_guarantee(condition: RowCondition, latest: int | None) -> pc.Expression:
    """Return the expression that is true for records up to the time *latest* in milliseconds, and for those without one."""
    data_type = condition.type_of("timestamp")
    number = MAX_INT64 if latest is None else latest * PER_MILLISECOND[data_type.unit]
    if number >= MAX_INT64:
        return pc.scalar(True)
    return (_timestamp <= pa.scalar(number, data_type)) | _timestamp.is_null()


def _is_usable(log: PartitionLog) -> bool:
    """Return whether the segments of *log* are its records, and large enough to be worth a look at their indexes."""
    is_other_log = log.is_filled or log.state is not None or not known_bases(log)
    return not is_other_log and log.log_bytes >= segment_range.MIN_SAVED_BYTES


def _base(segment: LogFile) -> int:
    return segment.base_offset or 0


def _ranges_of_segments(log_range: LogRange) -> list[tuple[int, OffsetRange]]:
    """Return the segments that *log_range* has offsets of: their numbers, and these offsets."""
    bounds = [None, *known_bases(log_range.log)[1:], None]
    ranges = enumerate(intersection(log_range.offsets, each) for each in pairwise(bounds))
    return [(number, offsets) for number, offsets in ranges if offsets is not None]


def _num_early(
    index_rows: StructuredRows, base: int, log_range: LogRange, condition: RowCondition
) -> int:
    """Return the number of entries of a time index up to whose offsets no record of *log_range* can match."""

    def may_match(numbers: Sequence[int]) -> list[bool]:
        return condition.may_match(
            [
                log_range.guarantee
                & (_offset <= base + int(index_rows["relative_offset"][number]))
                & time_guarantee(condition, int(index_rows["timestamp"][number]))
                for number in numbers
            ]
        )

    return _first_match(may_match, len(index_rows))


def _first_match(may_match: Callable[[Sequence[int]], list[bool]], end: int) -> int:
    """Return the first number below *end* for which *may_match* is true, else *end*: all later ones match, too."""
    low, high = 0, end
    while low < high:
        step = max((high - low) // PARTS_OF_ONE, 1)
        numbers = range(low, high, step)
        matches = may_match(numbers)
        num_early = matches.index(True) if True in matches else len(matches)
        if num_early < len(numbers):
            high = numbers[num_early]
        if num_early:
            low = numbers[num_early - 1] + 1
    return low
