"""One segment, as a broker recovers it (LogSegment.recover)."""

from dataclasses import dataclass

from magicbyte.engines.entry import Entry
from magicbyte.errors import FormatError
from magicbyte.limits import Limits
from magicbyte.logdir.frames import frames
from magicbyte.logdir.indexes import SEGMENT_SPAN
from magicbyte.recovery.producers import Producers
from magicbyte.storage import File


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
        if position - self.last_position <= self.interval_bytes:
            return
        self._append(entry.last_offset, position)
        self.add_time()
        self.last_position = position

    def _append(self, offset: int, position: int) -> None:
        if self.last_offset is not None and offset <= self.last_offset:
            raise OffsetOrderError(
                f"byte {position}: offset {offset}, behind {self.last_offset} in the index"
            )
        self.last_offset = offset

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
    limits: Limits,
) -> Recovered:
    """Return what recovery leaves of a segment, which lies between two bytes of *file*.

    *producers* take its batches in. A segment that was split off another begins inside of *file*;
    whatever is said of a byte is said of the file's.

    Raises OffsetOrderError, OffsetOverflowError and RefusedError where recovery has exceptions.
    """
    index = _Index(interval_bytes, begin)
    behind, next_offset = begin, base_offset
    why = None
    try:
        for frame in frames(file, begin=begin, end=end, limits=limits):
            entry = frame.entry()
            if not frame.is_sound(entry):
                why = f"byte {frame.position}: a wrong checksum"
                break
            if not 0 <= entry.last_offset - base_offset < SEGMENT_SPAN:
                raise OffsetOverflowError(frame.position, entry.first_offset, entry.last_offset)
            index.take(entry, frame.position)
            behind, next_offset = frame.end, entry.last_offset + 1
            if entry.magic == 2:
                producers.replay(frame, entry, limits)
    except FormatError as error:
        why = f"byte {behind}: {error.message}"
    index.add_time()
    if why is None and behind < end:
        why = f"byte {behind}: {end - behind} bytes that are no whole entry"
    return Recovered(behind - begin, next_offset, why)
