"""The segments that it takes to say how far a log may be read, to look up a time, to read a range.

None of these takes a pass over all of it. How far it may be read, its last segment tells, with the
snapshot at its base. Of what a time index says is too early nothing is read. What a range takes is
the segments that hold it, and those behind it that hold the ends of its transactions.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.indexes import read_times
from magicbyte.reading.segment_range import each_segment, from_offset, log_start_offset, up_to
from magicbyte.reading.survey import Survey

if TYPE_CHECKING:
    from magicbyte.reading.dataset import Dataset

Range = tuple[int, int]
"""Offsets, half-open."""
OpenRange = tuple[int | None, int | None]
"""The same; None is no bound."""

Seen = tuple[tuple[str, int], ...]
"""The files of a log, by path, with their sizes."""


def available(found: Survey, isolation_level: str) -> Range:
    """Return what a consumer of *isolation_level* finds: from the log start to where it may read."""
    first = found.log_start_offset or 0
    return first, max(first, end_of(found, isolation_level))


def end_of(found: Survey, isolation_level: str) -> int:
    """Return up to where a consumer of *isolation_level* may read."""
    if isolation_level == "read_committed" and found.last_stable_offset is not None:
        return found.last_stable_offset
    return found.log_end_offset or 0


@dataclass(slots=True)
class Ends:
    """Where logs end, as long as their files stay what they are."""

    _known: dict[str, tuple[Seen, Range]] = field(default_factory=dict)

    def of(self, dataset: "Dataset", log: PartitionLog) -> Range:
        """Return the offsets of *log* that a consumer finds now, half-open."""
        seen = tuple((file.path, file.size_bytes) for file in log.files if file.live)
        known = self._known.get(log.folder)
        if known is not None and known[0] == seen:
            return known[1]
        bases = [file.base_offset for file in log.logs]
        last = bases[-1] if bases else None
        part = log if last is None else from_offset(log, last)
        (found,) = dataset.of([part]).surveys()
        first = log_start_offset(log) or 0
        end = end_of(found, dataset.options.isolation_level)
        if dataset.options.isolation_level == "read_committed":
            # What began before the last segment, and goes on in it, holds readers up before it.
            end = min(
                [end, *(one.first_offset for one in found.transactions if one.outcome == "open")]
            )
        there = (first, max(first, end))
        self._known[log.folder] = seen, there
        return there


def offset_at(dataset: "Dataset", log: PartitionLog, time: int) -> int | None:
    """Return the first offset of *log* whose record is of *time* or later, as Kafka does.

    *time* is in milliseconds since the Unix epoch. None: there is no such record.
    """
    for part in each_segment(log):
        if part.logs and part.logs[-1] is not log.logs[-1]:
            # When a broker ends a segment, it writes the largest time of it to the index.
            times = read_times(log, part.logs[-1])
            if len(times) and int(times["timestamp"][-1]) < time:
                continue
        one = dataset.of([part])
        (found,) = one.surveys()
        offset = one.offset_at(found, time)
        if offset is not None:
            return offset
    return None


def part_for(
    dataset: "Dataset", log: PartitionLog, wanted: OpenRange, split_bytes: int | None = None
) -> "Dataset":
    """Return a dataset of the segments of *log* that it takes to read the *wanted* offsets.

    Its survey, with *split_bytes* or those of the options, has been taken.
    """
    first, end = wanted
    rest = log if first is None else from_offset(log, first)
    more = 1  # behind the last one that is wanted, so that its end is judged as what it is
    while True:
        part = rest if end is None else up_to(rest, end, more=more)
        made = dataset.of([part])
        (found,) = made.surveys(split_bytes)
        if part is rest or end is None or not _has_open(found, end):
            return made
        more *= 2


def _has_open(found: Survey, end: int) -> bool:
    """Return whether a transaction that begins below *end* has not ended in what was looked at."""
    return any(
        one.outcome not in ("committed", "aborted") and one.first_offset < end
        for one in found.transactions
    )
