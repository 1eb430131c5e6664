"""Checks for timestamps in the future, which make retention by time keep a segment too long."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading.survey import SegmentSurvey

MAX_AHEAD_MS = 3_600_000
"""Default of `message.timestamp.after.max.ms`, beyond which brokers since 3.6 reject a record."""


@dataclass(slots=True)
class _FutureEntries:
    """The entries of a segment that have a timestamp in the future."""

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
        self._future: dict[str, _FutureEntries] = {}
        """Entries by file name."""

    def add(self, segment: LogFile, entries: Entries) -> None:
        """Collect *entries*, the log's next sound entries in *segment*, that have future timestamps."""
        times = entries.column("max_timestamp")
        indices = np.flatnonzero(times > self._now + MAX_AHEAD_MS)
        if not len(indices):
            return
        first, highest = indices[0], int(times[indices].max())
        if segment.name not in self._future:
            position = int(entries.column("position")[first])
            offset = int(entries.column("first_offset")[first])
            self._future[segment.name] = _FutureEntries(position, offset, highest)
        future = self._future[segment.name]
        future.highest = max(future.highest, highest)
        future.count += len(indices)

    def finish(self, segments: Sequence[SegmentSurvey]) -> list[Finding]:
        """Return a finding for each segment that has timestamps in the future."""
        return [self._finding(name, future) for name, future in self._future.items()]

    def _finding(self, name: str, future: _FutureEntries) -> Finding:
        subject = "1 entry has a timestamp"
        if future.count > 1:
            subject = f"{future.count} entries have timestamps up to"
        return self._log.finding(
            "timestamp-ahead",
            f"{subject} {_duration(future.highest - self._now)} in the future: retention "
            "by time keeps the segment until then",
            file=name,
            position=future.position,
            base_offset=future.offset,
            field="max_timestamp",
            found=str(future.highest),
            expected=f"{self._now + MAX_AHEAD_MS} or less",
        )


def _duration(milliseconds: int) -> str:
    """Return a duration as text, in the largest of years, days and hours that gives at least two."""
    hours = milliseconds // 3_600_000
    for unit, size in (("years", 365 * 24), ("days", 24)):
        if hours >= 2 * size:
            return f"{hours // size:,} {unit}"
    return f"{hours} hours" if hours > 1 else "an hour"
