"""The recovery of one segment by a broker (LogSegment.recover)."""

from dataclasses import dataclass

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Engine, Entries
from magicbyte.errors import FormatError
from magicbyte.limits import Limits
from magicbyte.logdir.index_rules import due_entries, running_maximum
from magicbyte.logdir.indexes import SEGMENT_SPAN
from magicbyte.storage import File
from magicbyte.verification.startup._producer_state import ProducerState
from magicbyte.verification.startup._segment_entries import VerifiedRun, entry_runs


class OffsetOrderError(Exception):
    """Offsets of an index would go back: the segment is emptied (InvalidOffsetException)."""


@dataclass(slots=True)
class OffsetOverflowError(Exception):
    """The segment's index cannot hold a last offset (LogSegmentOffsetOverflowException)."""

    position: int
    base_offset: int
    """Base offset of the batch at *position*."""
    last_offset: int


@dataclass(slots=True)
class _RebuiltIndexes:
    """The ends of the offset index and the time index that recovery rebuilds."""

    interval_bytes: int
    last_position: int
    """Position of the last index entry; at first, the byte at which the segment begins."""
    last_offset: int | None = None
    max_timestamp: int = -1
    offset_of_max: int = -1
    last_time: tuple[int, int] | None = None
    """Timestamp and offset of the last time index entry."""

    def append(self, offset: int, position: int) -> None:
        """Append index entries for the batch at byte *position*.

        Raises OffsetOrderError where *offset* is not above the last entry's.
        """
        if self.last_offset is not None and offset <= self.last_offset:
            raise OffsetOrderError(
                f"byte {position}: the offset index would go back from offset {self.last_offset} "
                f"to {offset}"
            )
        self.last_offset = offset
        self.append_time()
        self.last_position = position

    def append_time(self) -> None:
        """Append the highest timestamp so far to the time index, if it is above the last entry's."""
        if self.max_timestamp < 0:
            return
        if self.last_time is not None and self.offset_of_max < self.last_time[1]:
            raise OffsetOrderError(
                f"the time index would go back from offset {self.last_time[1]} to "
                f"{self.offset_of_max}, which has the highest timestamp"
            )
        if self.last_time is None or self.max_timestamp > self.last_time[0]:
            self.last_time = self.max_timestamp, self.offset_of_max


@dataclass(slots=True)
class RecoveredSegment:
    """A segment after its recovery."""

    size_bytes: int
    next_offset: int
    """Last offset of the last batch + 1; the segment's base offset if no batch is left."""
    why_truncated: str | None = None
    """The fault at the first byte that recovery removes; None where it removes none."""


def recover_segment(
    file: File,
    base_offset: int,
    producers: ProducerState,
    *,
    begin: int,
    end: int,
    interval_bytes: int,
    engine: Engine,
    limits: Limits,
) -> RecoveredSegment:
    """Return the segment between bytes *begin* and *end* of *file* after its recovery.

    Its batches are replayed into *producers*. A segment that was split off another begins inside
    of *file*; messages name bytes of the file.

    Raises OffsetOrderError, OffsetOverflowError and StartupRefusedError where a broker's recovery
    ends with an exception.
    """
    indexes = _RebuiltIndexes(interval_bytes, begin)
    sound_end, next_offset = begin, base_offset
    why = None
    try:
        for run in entry_runs(file, begin=begin, end=end, engine=engine, limits=limits):
            _recover_run(run, base_offset, indexes, producers, limits)
            last = run.entries[-1]
            sound_end, next_offset = last.end, last.last_offset + 1
    except FormatError as error:
        why = f"byte {sound_end}: {error.message}"
    indexes.append_time()
    if why is None and sound_end < end:
        why = f"byte {sound_end}: {end - sound_end} bytes of a partial entry"
    return RecoveredSegment(sound_end - begin, next_offset, why)


def _recover_run(
    run: VerifiedRun,
    base_offset: int,
    indexes: _RebuiltIndexes,
    producers: ProducerState,
    limits: Limits,
) -> None:
    """Index and replay the entries of *run*; OffsetOverflowError if an offset does not fit."""
    offsets = run.entries.column("last_offset")
    does_fit = (offsets >= base_offset) & (offsets < base_offset + SEGMENT_SPAN)
    num_fitting = len(offsets) if does_fit.all() else int(np.argmin(does_fit))
    if num_fitting:
        _index_and_replay(
            run, run.entries[:num_fitting], offsets[:num_fitting], indexes, producers, limits
        )
    if num_fitting < len(offsets):
        entry = run.entries[num_fitting]
        raise OffsetOverflowError(entry.position, entry.first_offset, entry.last_offset)


def _index_and_replay(
    run: VerifiedRun,
    entries: Entries,
    offsets: Numbers,
    indexes: _RebuiltIndexes,
    producers: ProducerState,
    limits: Limits,
) -> None:
    positions = entries.column("position")
    highest, offsets_of_highest = running_maximum(
        entries.column("max_timestamp"), offsets, indexes.max_timestamp, indexes.offset_of_max
    )
    due = set(due_entries(positions, indexes.last_position, indexes.interval_bytes).tolist())
    relevant = producers.relevant_entries(entries)
    for number in sorted(due | relevant.keys()):
        if number in due:
            indexes.max_timestamp = int(highest[number])
            indexes.offset_of_max = int(offsets_of_highest[number])
            indexes.append(int(offsets[number]), int(positions[number]))
        if number in relevant:
            entry = relevant[number]
            producers.replay(run.data_of(entry), entry, limits)
    indexes.max_timestamp, indexes.offset_of_max = int(highest[-1]), int(offsets_of_highest[-1])
