"""From a time to an offset, as Kafka's offsetsForTimes answers (LogSegment, FileRecords)."""

from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from magicbyte.engines.protocol import Engine, Entries
from magicbyte.errors import InputError
from magicbyte.limits import Limits
from magicbyte.logdir.indexes import read_positions, read_times
from magicbyte.reading.header_walk import HeaderWalk
from magicbyte.reading.offset_order import Bounds
from magicbyte.reading.survey import Opener, SegmentSurvey, Survey
from magicbyte.reading.walk import SoundEntries
from magicbyte.storage import File

NO_TIMESTAMP = -1
"""What a message has in v0, and any that its producer gave none."""

Time = datetime | int
"""A moment, or its milliseconds since the Unix epoch."""


def milliseconds(time: Time) -> int:
    """Return *time* as milliseconds since the Unix epoch; a naive datetime is taken for UTC."""
    if isinstance(time, int):
        return time
    if not isinstance(time, datetime):
        raise InputError(f"the time {time!r}", "a datetime, or milliseconds since the Unix epoch")
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    since = aware - datetime(1970, 1, 1, tzinfo=UTC)
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000


def offset_at(
    found: Survey, time: int, *, engine: Engine, limits: Limits, open_log: Opener
) -> int | None:
    """Return the first offset whose record is of *time* or later; None where there is none.

    Entries are asked in order by their largest time, and the first record counts that is at or
    above the log start. Damaged entries answer nothing. Of what indexes say is too early, not
    even headers are read.
    """
    asked = _Asked(time, found.log_start_offset or 0, engine, limits)
    for segment in found.segments:
        start = _start(found, segment, time)
        if start is None:
            continue
        with open_log(segment.file) as log:
            offset = _first_of(asked, log, segment, start)
        if offset is not None:
            return offset
    return None


@dataclass(frozen=True, slots=True)
class _Asked:
    time: int
    log_start_offset: int
    engine: Engine
    limits: Limits


def _start(found: Survey, segment: SegmentSurvey, time: int) -> int | None:
    """Return from which byte of *segment* on records may be of *time*; None: there is none.

    When a broker ends a segment, it writes the largest time of it to the index. So the last
    segment's tells nothing of what comes behind its last entry.
    """
    if segment.unsound_ranges or not found.is_in_order:
        return 0  # what is wrong with the log may be so with its indexes
    times = read_times(found.log, segment.file)
    if not len(times):
        return 0
    if not segment.is_last and int(times["timestamp"][-1]) < time:
        return None
    before = int(np.searchsorted(times["timestamp"].astype(np.int64), time, "right")) - 1
    if before < 0:
        return 0
    # No record up to this one is later than its time, which is that of *time* or earlier.
    least = int(times["relative_offset"][before])
    places = read_positions(found.log, segment.file)
    at = int(np.searchsorted(places["relative_offset"].astype(np.int64), least, "right")) - 1
    return int(places["ofs_batch"][at]) if at >= 0 else 0


def _first_of(asked: _Asked, log: File, segment: SegmentSurvey, start: int) -> int | None:
    """Return the first offset that *asked* is for, from byte *start* of a segment on."""
    end = segment.file.size_bytes if segment.stop_at is None else segment.stop_at
    for unsound in [*segment.unsound_ranges, None]:
        stop = end if unsound is None else min(end, unsound.start)
        if start < stop:
            walk = HeaderWalk(
                log,
                engine=asked.engine,
                limits=asked.limits,
                bounds=Bounds(floor=None, ceiling=segment.bounds.ceiling),
                start=start,
                end=stop,
                is_last=False,
            )
            for piece in walk:
                if isinstance(piece, SoundEntries):
                    offset = _first_in(asked, log, piece.entries)
                    if offset is not None:
                        return offset
        if unsound is not None:
            start = unsound.end
    return None


def _first_in(asked: _Asked, log: File, entries: Entries) -> int | None:
    times = np.maximum(entries.column("max_timestamp"), NO_TIMESTAMP)
    is_late = (times >= asked.time) & (entries.column("last_offset") >= asked.log_start_offset)
    for entry in entries.picked(np.flatnonzero(is_late)):
        if entry.size_bytes > asked.limits.max_entry_bytes:
            continue
        data = memoryview(log.read_at(entry.position, entry.size_bytes))
        scan = asked.engine.scan(
            data, origin=entry.position, verify=True, limits=asked.limits, stop=1
        )
        for one in scan.entries:
            rows = asked.engine.decode(
                data, [one], ("offset", "timestamp"), origin=entry.position, limits=asked.limits
            ).rows
            for offset, time in zip(
                rows.column("offset").to_pylist(),
                rows.column("timestamp").cast(pa.int64()).to_pylist(),
                strict=True,
            ):
                if offset >= asked.log_start_offset and time is not None and time >= asked.time:
                    return int(offset)
    return None
