"""Findings about a requested range of offsets or times that a partition's log does not have."""

from datetime import UTC, datetime, timedelta

from magicbyte.findings import Finding
from magicbyte.reading.read_options import BEYOND_ALL_OFFSETS, OffsetRange
from magicbyte.reading.survey import Survey


def range_findings(survey: Survey, offsets: OffsetRange, time: int | None) -> list[Finding]:
    """Return a finding if the log of *survey* has none of the requested *offsets*, else none.

    *time* is the requested beginning in milliseconds since the Unix epoch, if there is one.
    """
    low, high = offsets
    start, end = survey.log_start_offset, survey.log_end_offset
    if time is not None and low == BEYOND_ALL_OFFSETS:
        message = f"no record has the timestamp {_text(time)} or a later one"
    elif low is not None and end is not None and low >= end:
        message = f"the log ends at offset {end}: there is no record from offset {low} on"
    elif high is not None and start is not None and high <= start:
        message = f"the log begins at offset {start}: there is no record before offset {high}"
    else:
        return []
    return [survey.log.finding("range-outside-log", message)]


def _text(time: int) -> str:
    """Return *time* in ISO 8601; outside of the years 1 to 9999 its number."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time)
    except OverflowError:
        return f"{time} ms"
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
