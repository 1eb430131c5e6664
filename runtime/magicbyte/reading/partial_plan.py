"""Surveys of only some segments of a log, to find its readable range, the offset of a time, or the
outcomes of the transactions in an offset range.

The last segment and the snapshot at its base tell how far a log may be read. A segment whose time
index ends before a time is not read for it. An offset range needs the segments that hold it and
those after it in which its transactions end.
"""

from dataclasses import dataclass, field
from functools import partial

from magicbyte.logdir.indexes import read_times
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import NO_RANGE, OffsetRange
from magicbyte.reading.segment_range import each_segment, from_offset, up_to
from magicbyte.reading.survey import Survey

BoundedRange = tuple[int, int]
"""Offsets, half-open."""

FileSizes = tuple[tuple[str, int], ...]
"""The live files of a log, by path, with their sizes."""


def readable_range(survey: Survey, isolation_level: str) -> BoundedRange:
    """Return the offsets that a consumer of *isolation_level* can read."""
    first = survey.log_start_offset or 0
    return first, max(first, _readable_end(survey, isolation_level))


def _readable_end(survey: Survey, isolation_level: str) -> int:
    if isolation_level == "read_committed" and survey.last_stable_offset is not None:
        return survey.last_stable_offset
    return survey.log_end_offset or 0


@dataclass(slots=True)
class ReadableRanges:
    """The offsets of logs that a consumer can read, cached while the files keep their sizes."""

    _cached: dict[str, tuple[FileSizes, BoundedRange]] = field(default_factory=dict)

    def of(self, planner: Planner, log: PartitionLog) -> BoundedRange:
        """Return the offsets of *log* that a consumer can read now."""
        sizes = tuple((file.path, file.size_bytes) for file in log.files if file.live)
        cached = self._cached.get(log.folder)
        if cached is not None and cached[0] == sizes:
            return cached[1]
        bases = [file.base_offset for file in log.logs]
        last = bases[-1] if bases else None
        survey = planner.survey_once(log if last is None else from_offset(log, last))
        isolation_level = planner.options.isolation_level
        end = _readable_end(survey, isolation_level)
        if isolation_level == "read_committed":
            # A transaction that is open in the last segment may have begun before it.
            opened = (one.first_offset for one in survey.transactions if one.outcome == "open")
            end = min([end, *opened])
        first = log.log_start_offset or 0
        readable = first, max(first, end)
        self._cached[log.folder] = sizes, readable
        return readable


def offset_at(planner: Planner, log: PartitionLog, time: int) -> int | None:
    """Return the first offset whose record has the timestamp *time* or a later one.

    *time* is in milliseconds since the Unix epoch. None: there is no such record.
    """
    for part in each_segment(log):
        if part.logs and part.logs[-1] is not log.logs[-1] and not log.is_filled:
            # A broker writes the largest timestamp of a segment to its index when it rolls it.
            times = read_times(log, part.logs[-1], planner.index_findings)
            if len(times) and int(times["timestamp"][-1]) < time:
                continue
        offset = planner.offset_at(planner.survey_once(part), time)
        if offset is not None:
            return offset
    return None


def wanted_offsets(planner: Planner, log: PartitionLog) -> OffsetRange:
    """Return the offsets that the options want of *log*; times are looked up in few segments."""
    return planner.options.wanted_offsets(partial(offset_at, planner, log))


def survey_of_range(
    planner: Planner, log: PartitionLog, offsets: OffsetRange, split_bytes: int | None = None
) -> Survey:
    """Return a survey of the segments of *log* that hold *offsets* and the ends of transactions."""
    first, end = offsets
    rest = log if first is None else from_offset(log, first)
    num_more = 1  # one segment more, whose base offset bounds the last one
    while True:
        part = rest if end is None else up_to(rest, end, more=num_more)
        survey = planner.survey_once(part, split_bytes)
        if part is rest or end is None or not _has_open(survey, end):
            return survey
        num_more *= 2


def _has_open(survey: Survey, end: int) -> bool:
    """Return whether a transaction that begins before *end* is open or undecided in *survey*."""
    return any(
        one.outcome not in ("committed", "aborted") and one.first_offset < end
        for one in survey.transactions
    )


def survey_of_wanted(planner: Planner, log: PartitionLog) -> tuple[Survey, OffsetRange]:
    """Return a survey of the segments that the wanted offsets need, and these offsets.

    Other segments are not read, unless damage in them ends the log (`on_damage="stop"`).
    """
    if planner.options.on_damage != "stop":
        offsets = wanted_offsets(planner, log)
        if offsets != NO_RANGE:
            return survey_of_range(planner, log, offsets), offsets
    survey = planner.survey(log)
    return survey, planner.wanted_offsets(survey)
