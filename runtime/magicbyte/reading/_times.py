"""Look up the offset for a time, as Kafka's offsetsForTimes does (LogSegment, FileRecords)."""

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from magicbyte.engines.protocol import Chunk, Engine, Entries
from magicbyte.errors import InputError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.indexes import read_positions, read_times
from magicbyte.reading._walk import HeaderWalk, SoundEntries
from magicbyte.reading.offset_bounds import Bounds
from magicbyte.reading.survey import Opener, SegmentSurvey, Survey
from magicbyte.storage import File

NO_TIMESTAMP = -1
"""Timestamp of v0 messages, and of records whose producer set none."""

Time = datetime | int
"""A datetime, or milliseconds since the Unix epoch."""


def milliseconds(time: Time) -> int:
    """Return *time* as milliseconds since the Unix epoch; a naive datetime is in UTC."""
    if isinstance(time, int):
        return time
    if not isinstance(time, datetime):
        raise InputError(f"the time {time!r}", "a datetime, or milliseconds since the Unix epoch")
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000


def offset_at(
    survey: Survey,
    time: int,
    *,
    engine: Engine,
    limits: Limits,
    open_log: Opener,
    findings: list[Finding],
) -> int | None:
    """Return the first offset whose record has the timestamp *time* or a later one; None if none.

    Entries are checked in order by their largest timestamp. Records below the log start and
    damaged entries do not count. Bytes that the indexes show to be too early are not read.
    *findings* gets findings about indexes that cannot be read.
    """
    query = TimeQuery(time, survey.log_start_offset or 0, engine, limits)
    for segment in survey.segments:
        start = _start(survey, segment, time, findings)
        if start is None:
            continue
        with open_log(segment.file) as log:
            offset = _first_of(query, log, segment, start)
        if offset is not None:
            return offset
    return None


@dataclass(frozen=True, slots=True)
class TimeQuery:
    time: int
    log_start_offset: int
    engine: Engine
    limits: Limits


def _start(
    survey: Survey, segment: SegmentSurvey, time: int, findings: list[Finding]
) -> int | None:
    """Return the position in *segment* from which records may have *time*; None if none may.

    A broker writes the largest timestamp of a segment to its time index when it rolls the segment.
    So the index of the last segment does not bound the records after its last entry.
    """
    if segment.unsound_ranges or not survey.is_in_order or survey.log.is_filled:
        return segment.file.start  # its indexes may be damaged, too, or another replica's
    times = read_times(survey.log, segment.file, findings)
    if not len(times):
        return 0
    if not segment.is_last and int(times["timestamp"][-1]) < time:
        return None
    before = int(np.searchsorted(times["timestamp"].astype(np.int64), time, "right")) - 1
    if before < 0:
        return 0
    # No record up to this offset has a later timestamp than *time*.
    least = int(times["relative_offset"][before])
    positions = read_positions(survey.log, segment.file, findings)
    at = int(np.searchsorted(positions["relative_offset"].astype(np.int64), least, "right")) - 1
    return int(positions["ofs_batch"][at]) if at >= 0 else 0


def _first_of(query: TimeQuery, log: File, segment: SegmentSurvey, start: int) -> int | None:
    """Return the first offset that matches *query*, from the position *start* of a segment."""
    end = segment.file.size_bytes if segment.stop_at is None else segment.stop_at
    for unsound in [*segment.unsound_ranges, None]:
        stop = end if unsound is None else min(end, unsound.start)
        if start < stop:
            walk = HeaderWalk(
                log,
                engine=query.engine,
                limits=query.limits,
                bounds=Bounds(floor=None, ceiling=segment.bounds.ceiling),
                start=start,
                end=stop,
                is_last=False,
            )
            for piece in walk:
                if isinstance(piece, SoundEntries):
                    offset = first_in(query, log, piece.entries)
                    if offset is not None:
                        return offset
        if unsound is not None:
            start = unsound.end
    return None


def first_in(query: TimeQuery, log: File, entries: Entries) -> int | None:
    times = np.maximum(entries.column("max_timestamp"), NO_TIMESTAMP)
    is_late = (times >= query.time) & (entries.column("last_offset") >= query.log_start_offset)
    for entry in entries.picked(np.flatnonzero(is_late)):
        if entry.size_bytes > query.limits.max_entry_bytes:
            continue
        data = memoryview(log.read_at(entry.position, entry.size_bytes))
        rows = query.engine.decode(
            Chunk(data, entry.position), ("offset", "timestamp"), limits=query.limits, max_entries=1
        ).rows
        for offset, time in zip(
            rows.column("offset").to_pylist(),
            rows.column("timestamp").cast(pa.int64()).to_pylist(),
            strict=True,
        ):
            if offset >= query.log_start_offset and time is not None and time >= query.time:
                return int(offset)
    return None
