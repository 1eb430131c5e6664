"""From a time to an offset, as Kafka's offsetsForTimes answers (LogSegment, FileRecords)."""

from datetime import UTC, datetime

import pyarrow as pa

from magicbyte.engines import Engine
from magicbyte.errors import InputError
from magicbyte.limits import Limits
from magicbyte.reading.survey import Opener, Survey
from magicbyte.reading.walk import Stretch, Walk

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
    above the log start. Damaged entries answer nothing.
    """
    start = found.log_start_offset or 0
    for segment in found.segments:
        with open_log(segment.file) as log:
            walk = Walk(
                log,
                engine=engine,
                limits=limits,
                bounds=segment.bounds,
                end=segment.stop_at,
                is_last=segment.is_last,
            )
            for piece in walk:
                if isinstance(piece, Stretch):
                    continue
                for entry in piece.entries:
                    if (entry.max_timestamp or -1) < time or entry.last_offset < start:
                        continue
                    rows = engine.decode(
                        piece.buffer,
                        [entry],
                        ("offset", "timestamp"),
                        origin=piece.origin,
                        limits=limits,
                    ).rows
                    for row in zip(
                        rows.column("offset").to_pylist(),
                        rows.column("timestamp").cast(pa.int64()).to_pylist(),
                        strict=True,
                    ):
                        if row[0] >= start and row[1] is not None and row[1] >= time:
                            return int(row[0])
    return None
