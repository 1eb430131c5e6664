"""Times that have not come yet: by them, retention keeps a segment for longer than it should."""

import time
from dataclasses import dataclass

import numpy as np

from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading.survey import SegmentSurvey

AHEAD_MS = 3_600_000
"""`message.timestamp.after.max.ms`, by which brokers since 3.6 refuse what is further ahead."""


@dataclass(slots=True)
class _Ahead:
    """The entries of a segment that are ahead of now."""

    position: int
    """Of the first one."""
    offset: int
    highest: int
    count: int = 0


class TimeCheck:
    """The times in a partition, while its entries are read."""

    def __init__(self, log: PartitionLog, *, now_ms: int | None = None) -> None:
        """*now_ms* is the time to compare with; None: this machine's."""
        self._log = log
        self._now = int(time.time() * 1000) if now_ms is None else now_ms
        self._ahead: dict[str, _Ahead] = {}

    def take(self, segment: LogFile, entries: Entries) -> None:
        """Look at the highest times that sound *entries* of *segment* state."""
        times = entries.column("max_timestamp")
        ahead = np.flatnonzero(times > self._now + AHEAD_MS)
        if not len(ahead):
            return
        first, highest = ahead[0], int(times[ahead].max())
        if segment.name not in self._ahead:
            position = int(entries.column("position")[first])
            offset = int(entries.column("first_offset")[first])
            self._ahead[segment.name] = _Ahead(position, offset, highest)
        found = self._ahead[segment.name]
        found.highest = max(found.highest, highest)
        found.count += len(ahead)

    def finish(self, segments: list[SegmentSurvey]) -> list[Finding]:
        """Return the segments that have such times."""
        return [self._finding(name, found) for name, found in self._ahead.items()]

    def _finding(self, name: str, found: _Ahead) -> Finding:
        entries = "1 entry is" if found.count == 1 else f"{found.count} entries are"
        return Finding(
            code="timestamp-ahead",
            message=f"{entries} up to {_span(found.highest - self._now)} ahead of now: retention "
            "by time keeps the segment until then",
            topic=self._log.topic,
            partition=self._log.partition,
            file=name,
            position=found.position,
            base_offset=found.offset,
            field="max_timestamp",
            found=str(found.highest),
            expected=f"{self._now + AHEAD_MS} or less",
        )


def _span(milliseconds: int) -> str:
    """Return a time span in words: in the largest unit of which it has two, or in hours."""
    hours = milliseconds // 3_600_000
    for unit, size in (("years", 365 * 24), ("days", 24)):
        if hours >= 2 * size:
            return f"{hours // size:,} {unit}"
    return f"{hours} hours" if hours > 1 else "an hour"
