"""Findings about a requested range of offsets or times that a partition's log does not have."""

from datetime import UTC, datetime, timedelta

from magicbyte.findings import Finding
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.read_options import (
    BEYOND_ALL_OFFSETS,
    NO_RANGE,
    OffsetRange,
    ReadOptions,
)
from magicbyte.reading.survey import Survey


def range_findings(
    survey: Survey, log: PartitionLog, offsets: OffsetRange, options: ReadOptions
) -> list[Finding]:
    """Return a finding if *log* has none of the requested *offsets*, else none.

    Args:
        survey: Survey of *log*, or of the segments of it that hold the offsets.
        log: The whole log.
        offsets: The range of *options*, with times looked up.
        options: Options that request offsets or times.
    """
    low, high = offsets
    begin, stop = options.times
    is_empty = options.offsets == NO_RANGE and low is not None and low == high
    start, end = log.log_start_offset, _log_end(survey, log)
    if begin is not None and low == BEYOND_ALL_OFFSETS:
        message = f"no record has the timestamp {_text(begin)} or a later one"
    elif begin is not None and stop is not None and is_empty:
        message = (
            f"offset {low} is the first with the timestamp {_text(begin)} or a later one, and also the first with "
            f"{_text(stop)} or a later one: no record is between; a condition on timestamp finds records by "
            "their own times, in any order"
        )
    elif low is not None and end is not None and low >= end:
        message = f"the log ends at offset {end}: there is no record from offset {low} on"
    elif high is not None and start is not None and high <= start:
        message = f"the log begins at offset {start}: there is no record before offset {high}"
    else:
        return []
    return [survey.log.finding("range-outside-log", message)]


def _log_end(survey: Survey, log: PartitionLog) -> int | None:
    """Return the offset at which *log* ends; None if *survey* is only of segments before the last one."""
    last_files = survey.log.logs[-1:], log.logs[-1:]
    is_last = [file.path for file in last_files[0]] == [file.path for file in last_files[1]]
    return survey.log_end_offset if is_last else None


def _text(time: int) -> str:
    """Return *time* in ISO 8601; outside of the years 1 to 9999 its number."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time)
    except OverflowError:
        return f"{time} ms"
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
