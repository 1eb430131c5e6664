"""One segment, as a broker recovers it (LogSegment.recover)."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from magicbyte.engines.entry import Entry
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Engine
from magicbyte.errors import FormatError
from magicbyte.limits import Limits
from magicbyte.logdir.indexes import SEGMENT_SPAN
from magicbyte.storage import File
from magicbyte.verification.startup.producer_state import Producers
from magicbyte.verification.startup.segment_entries import Run, parts


class OffsetOrderError(Exception):
    """An index would go back: the segment is emptied (InvalidOffsetException)."""


@dataclass(slots=True)
class OffsetOverflowError(Exception):
    """A batch whose last offset the segment's index cannot hold (LogSegmentOffsetOverflowException)."""

    position: int
    base_offset: int
    """Of the batch."""
    last_offset: int


@dataclass(slots=True)
class _Index:
    """The offset and time index that are built along, as far as their order goes."""

    interval_bytes: int
    last_position: int
    """The byte of the file that the last entry leads to; at first, that at which the segment begins."""
    last_offset: int | None = None
    max_timestamp: int = -1
    offset_of_max: int = -1
    last_time: tuple[int, int] | None = None
    """Time and offset of the time index's last entry."""

    def take(self, entry: Entry, position: int) -> None:
        """Take in the batch at byte *position* of the file. Raises OffsetOrderError where an entry would go back."""
        timestamp = -1 if entry.magic == 0 or entry.max_timestamp is None else entry.max_timestamp
        if timestamp > self.max_timestamp:
            self.max_timestamp, self.offset_of_max = timestamp, entry.last_offset
        if position - self.last_position > self.interval_bytes:
            self.add(entry.last_offset, position)

    def due(self, positions: Sequence[int]) -> Iterator[int]:
        """Yield which of the batches at *positions* get entries."""
        last, number = self.last_position, 0
        while True:
            number = bisect_right(positions, last + self.interval_bytes, number)
            if number == len(positions):
                return
            yield number
            last, number = positions[number], number + 1

    def highest(self, timestamps: Numbers, offsets: Numbers) -> tuple[Numbers, Numbers]:
        """Return the highest time up to each of some batches that come next, and its offset."""
        highest = np.maximum.accumulate(np.append(self.max_timestamp, timestamps))
        is_higher = highest[1:] > highest[:-1]
        first = np.maximum.accumulate(np.where(is_higher, np.arange(1, len(highest)), 0))
        return highest[1:], np.append(self.offset_of_max, offsets)[first]

    def add(self, offset: int, position: int) -> None:
        """Add entries for the batch at byte *position*. Raises OffsetOrderError where one goes back."""
        if self.last_offset is not None and offset <= self.last_offset:
            raise OffsetOrderError(
                f"byte {position}: offset {offset}, behind {self.last_offset} in the index"
            )
        self.last_offset = offset
        self.add_time()
        self.last_position = position

    def add_time(self) -> None:
        """Add the highest time so far, if it is above the last one."""
        if self.max_timestamp < 0:
            return
        if self.last_time is not None and self.offset_of_max < self.last_time[1]:
            raise OffsetOrderError(
                f"offset {self.offset_of_max} of the highest time, behind {self.last_time[1]} "
                "in the time index"
            )
        if self.last_time is None or self.max_timestamp > self.last_time[0]:
            self.last_time = self.max_timestamp, self.offset_of_max


@dataclass(slots=True)
class Recovered:
    """What recovery leaves of a segment."""

    size_bytes: int
    next_offset: int
    """Behind its last batch; its base offset where none is left."""
    why: str | None = None
    """What the first byte that goes is the beginning of, with its place in the file; None where none
    goes."""


def recover(
    file: File,
    base_offset: int,
    producers: Producers,
    *,
    begin: int,
    end: int,
    interval_bytes: int,
    engine: Engine,
    limits: Limits,
) -> Recovered:
    """Return what recovery leaves of a segment, which lies between two bytes of *file*.

    *engine* finds what is sound, and *producers* take its batches in. A segment that was split off
    another begins inside of *file*; whatever is said of a byte is said of the file's.

    Raises OffsetOrderError, OffsetOverflowError and RefusedError where recovery has exceptions.
    """
    index = _Index(interval_bytes, begin)
    behind, next_offset = begin, base_offset
    why = None
    try:
        for part in parts(file, begin=begin, end=end, engine=engine, limits=limits):
            if isinstance(part, Run):
                _take_run(part, base_offset, index, producers, limits)
                last = part.entries[-1]
                behind, next_offset = last.end, last.last_offset + 1
                continue
            entry = part.entry()
            if not part.is_sound(entry):
                why = f"byte {part.position}: a wrong checksum"
                break
            if not 0 <= entry.last_offset - base_offset < SEGMENT_SPAN:
                raise OffsetOverflowError(part.position, entry.first_offset, entry.last_offset)
            index.take(entry, part.position)
            behind, next_offset = part.end, entry.last_offset + 1
            if entry.magic == 2:
                producers.replay(part, entry, limits)
    except FormatError as error:
        why = f"byte {behind}: {error.message}"
    index.add_time()
    if why is None and behind < end:
        why = f"byte {behind}: {end - behind} bytes that are no whole entry"
    return Recovered(behind - begin, next_offset, why)


def _take_run(
    run: Run, base_offset: int, index: _Index, producers: Producers, limits: Limits
) -> None:
    """Take in *run* as one entry after the other would be, but look only at those that matter."""
    entries, offsets = run.entries, run.entries.column("last_offset")
    does_fit = (offsets >= base_offset) & (offsets < base_offset + SEGMENT_SPAN)
    if not does_fit.all():
        entries = entries[: int(np.argmin(does_fit))]
        offsets = offsets[: len(entries)]
    positions = entries.column("position").tolist()
    highest, offsets_of_highest = index.highest(entries.column("max_timestamp"), offsets)
    due, seen = set(index.due(positions)), producers.concerned(entries)
    for number in sorted(due | seen.keys()):
        if number in due:
            index.max_timestamp = int(highest[number])
            index.offset_of_max = int(offsets_of_highest[number])
            index.add(int(offsets[number]), positions[number])
        if number in seen:
            producers.replay(run.frame(seen[number]), seen[number], limits)
    if len(entries) < len(run.entries):
        wrong = run.entries[len(entries)]
        raise OffsetOverflowError(wrong.position, wrong.first_offset, wrong.last_offset)
    index.max_timestamp, index.offset_of_max = int(highest[-1]), int(offsets_of_highest[-1])
