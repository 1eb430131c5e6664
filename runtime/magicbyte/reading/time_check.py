"""Checks for timestamps in the future, and for timestamps in another unit than milliseconds.

Retention by time keeps a segment with a timestamp in the future too long, and deletes one whose
timestamps are in seconds when it is closed.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.survey import SegmentSurvey
from magicbyte.tables.arrays import Mask

MAX_AHEAD_MS = 3_600_000
"""Default of `message.timestamp.after.max.ms`, beyond which brokers since 3.6 reject a record."""


MIN_SECONDS = 946_684_800
"""2000-01-01 in seconds: timestamps from here to now, read as milliseconds, are in January 1970."""

UNITS = (("microseconds", 1000), ("nanoseconds", 1_000_000))
"""Units that clients use by mistake, with their number per millisecond."""


@dataclass(slots=True)
class _WrongTimes:
    """The entries of a segment that have an implausible timestamp."""

    position: int
    """Position of the first one."""
    offset: int
    highest: int
    count: int = 0


class TimeCheck:
    """Follows the timestamps of a partition."""

    def __init__(self, log: PartitionLog, *, now_ms: int | None = None) -> None:
        """Compare timestamps with *now_ms*, by default the clock of this machine."""
        self._log = log
        self._now = int(time.time() * 1000) if now_ms is None else now_ms
        self._future: dict[str, _WrongTimes] = {}
        """Entries by file name."""
        self._seconds: dict[str, _WrongTimes] = {}
        """Entries whose timestamps look like seconds, by file name."""

    def add(self, segment: LogFile, entries: Entries) -> None:
        """Collect *entries*, the log's next sound entries in *segment*, that have future timestamps."""
        times = entries.column("max_timestamp")
        _collect(self._future, segment, entries, times > self._now + MAX_AHEAD_MS)
        looks_like_seconds = (times >= MIN_SECONDS) & (times <= self._now // 1000)
        _collect(self._seconds, segment, entries, looks_like_seconds)

    def finish(self, segments: Sequence[SegmentSurvey]) -> list[Finding]:
        """Return a finding for each segment with timestamps in the future, or in seconds."""
        return [
            *(self._ahead(name, wrong) for name, wrong in self._future.items()),
            *(self._in_seconds(name, wrong) for name, wrong in self._seconds.items()),
        ]

    def _ahead(self, name: str, future: _WrongTimes) -> Finding:
        subject = "1 entry has a timestamp"
        if future.count > 1:
            subject = f"{future.count} entries have timestamps up to"
        unit = self._unit(future.highest)
        return self._log.finding(
            "timestamp-ahead",
            f"{subject} {_duration(future.highest - self._now)} in the future: retention "
            "by time keeps the segment until then"
            + (f"; the timestamps look like {unit}" if unit else ""),
            file=name,
            position=future.position,
            base_offset=future.offset,
            field="max_timestamp",
            found=str(future.highest),
            expected=f"{self._now + MAX_AHEAD_MS} or less",
        )

    def _unit(self, timestamp: int) -> str | None:
        """Return the unit in which *timestamp* is between the year 2000 and now; None if there is none."""
        for unit, per_ms in UNITS:
            if 1000 * MIN_SECONDS <= timestamp // per_ms <= self._now + MAX_AHEAD_MS:
                return unit
        return None

    def _in_seconds(self, name: str, seconds: _WrongTimes) -> Finding:
        entries = "1 entry has a timestamp" if seconds.count == 1 else f"{seconds.count} entries have timestamps"  # fmt: skip
        return self._log.finding(
            "timestamp-in-seconds",
            f"{entries} in January 1970, which look like seconds: retention by time deletes the "
            "segment as soon as it is closed",
            file=name,
            position=seconds.position,
            base_offset=seconds.offset,
            field="max_timestamp",
            found=str(seconds.highest),
            expected=str(1000 * seconds.highest),
        )


def _collect(
    wrong_times: dict[str, _WrongTimes], segment: LogFile, entries: Entries, is_wrong: Mask
) -> None:
    """Add the *entries* of *segment* that *is_wrong* marks to *wrong_times*."""
    indices = np.flatnonzero(is_wrong)
    if not len(indices):
        return
    first, highest = indices[0], int(entries.column("max_timestamp")[indices].max())
    if segment.name not in wrong_times:
        position = int(entries.column("position")[first])
        offset = int(entries.column("first_offset")[first])
        wrong_times[segment.name] = _WrongTimes(position, offset, highest)
    wrong = wrong_times[segment.name]
    wrong.highest = max(wrong.highest, highest)
    wrong.count += len(indices)


def _duration(milliseconds: int) -> str:
    """Return a duration as text, in the largest of years, days and hours that gives at least two."""
    hours = milliseconds // 3_600_000
    for unit, size in (("years", 365 * 24), ("days", 24)):
        if hours >= 2 * size:
            return f"{hours // size:,} {unit}"
    return f"{hours} hours" if hours > 1 else "an hour"
