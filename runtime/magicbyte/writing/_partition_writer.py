"""Write the segments of a partition, and the companion files that Kafka's recovery would write."""

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from magicbyte.engines.entry_columns import Entries, Numbers
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk
from magicbyte.errors import FormatError, error_of
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte.logdir.file_names import segment_name
from magicbyte.writing._companions import CompanionBuilder, SegmentCompanions
from magicbyte.writing._output_parts import EntryBytes, NewSegment, OutputPart

DEFAULT_SEGMENT_BYTES = 1 << 30
"""Kafka's default `segment.bytes`."""

MAX_RELATIVE_OFFSET = (1 << 31) - 1
"""Indexes store offsets relative to the base offset in 32 bits (OffsetIndex)."""

MAX_CHUNK = 16 << 20
"""Bytes of entries that are checked and written at a time, unless one entry is larger."""


class FileSink(Protocol):
    """Takes the files of a partition."""

    def create(self, name: str) -> Any:
        """Return a binary stream to the new file *name*."""

    def write(self, name: str, data: bytes) -> None:
        """Take the file *name* as a whole."""


class PartitionWriter:
    """Writes one partition into a folder, segment by segment.

    Every entry is framed again and its checksum verified before it is written, so that a fault of an encoder
    cannot reach a file. A broker believes companion files and would not look (`docs/writing.md`).
    """

    def __init__(
        self,
        sink: FileSink,
        *,
        limits: Limits,
        index_interval_bytes: int,
        segment_bytes: int = DEFAULT_SEGMENT_BYTES,
    ) -> None:
        """*segment_bytes*: a segment that would be larger is divided."""
        self.companions = CompanionBuilder(index_interval_bytes=index_interval_bytes, limits=limits)
        self.num_bytes = 0
        self.num_entries = 0
        self.num_records = 0  # of v2 batches: the header of a message does not state it
        self.num_segments = 0
        self._sink = sink
        self._limits = limits
        self._segment_bytes = segment_bytes
        self._engine = engine("auto")
        self._stream: Any = None
        self._base_offset = -1
        self._position = 0
        self._next_offset: int | None = None

    def write_parts(self, output_parts: Iterable[OutputPart]) -> None:
        """Write *output_parts*, which begin with a NewSegment."""
        for part in output_parts:
            if isinstance(part, NewSegment):
                self.begin_segment(part.base_offset)
            else:
                self.write(part)
            del part  # frees the bytes before more are made

    def begin_segment(self, base_offset: int) -> None:
        """End the current segment, and begin one that is named after *base_offset*."""
        if self._stream is not None and base_offset == self._base_offset:
            return
        if self._next_offset is not None and base_offset < self._next_offset:
            raise _disorder(base_offset, self._next_offset, "the base offset of a segment")
        self._end_segment()
        self._write_companions(self.companions.begin_segment(base_offset))
        self._stream = self._sink.create(segment_name(base_offset))
        self._base_offset, self._position = base_offset, 0
        self.num_segments += 1

    def write(self, entry_bytes: EntryBytes) -> None:
        """Append log entries. Raises FormatError if they are not sound entries in order of their offsets."""
        chunk = Chunk(entry_bytes.data, 0)
        while len(chunk.data):
            scan = self._engine.scan(chunk, verify=True, limits=self._limits)
            if not len(scan.entries):
                if scan.unsound is not None and scan.computed is not None:
                    raise error_of(scan.unsound.checksum_mismatch(scan.computed))
                if scan.stopped_by is not None:
                    raise error_of(scan.stopped_by)
                assert scan.unsound is not None
                raise error_of(scan.unsound.over_limit(self._limits))
            self._append(scan.entries, chunk.data[: scan.end])
            chunk = chunk.after(scan.end)

    def _append(self, entries: Entries, data: memoryview) -> None:
        """Append sound *entries*, whose bytes are *data*; begin new segments where one is full."""
        firsts, lasts = entries.column("first_offset"), entries.column("last_offset")
        self._check_order(firsts, lasts)
        sizes = entries.column("size_bytes")
        starts = np.cumsum(sizes) - sizes
        done = 0
        while done < len(entries):
            count = self._num_fitting(sizes[done:], lasts[done:])
            if not count and not self._position:
                # The file is empty and the entry does not fit: only its distance to the base offset can be why.
                raise _too_far(int(lasts[done]), self._base_offset)
            if count:
                begin = int(starts[done])
                end = int(starts[done + count - 1] + sizes[done + count - 1])
                moved = entries[done : done + count].moved(
                    starts[done : done + count] - begin + self._position
                )
                self._write_entries(moved, data[begin:end])
                done += count
            if done < len(entries):
                self.begin_segment(int(firsts[done]))
        self._next_offset = int(lasts[-1]) + 1

    def _num_fitting(self, sizes: Numbers, lasts: Numbers) -> int:
        """Return how many entries fit into the current segment; the first one always fits into an empty file."""
        room = self._segment_bytes - self._position
        count = int(np.searchsorted(np.cumsum(sizes), room, "right"))
        if not self._position:
            count = max(count, 1)
        near = lasts[:count] - self._base_offset <= MAX_RELATIVE_OFFSET
        return count if near.all() else int(np.argmin(near))

    def _write_entries(self, entries: Entries, data: memoryview) -> None:
        assert self._stream is not None
        self._stream.write(data)
        self.companions.add(entries, data)
        self._position += len(data)
        self.num_bytes += len(data)
        self.num_entries += len(entries)
        self.num_records += int(np.maximum(entries.column("record_count"), 0).sum())

    def _check_order(self, firsts: Numbers, lasts: Numbers) -> None:
        floors = np.concatenate(([self._next_offset or 0], lasts[:-1] + 1))
        is_wrong = firsts < floors
        # The first entry of a log may begin below the base offset, after its records there were deleted.
        is_wrong |= lasts < self._base_offset
        if is_wrong.any():
            number = int(np.argmax(is_wrong))
            floor = max(int(floors[number]), self._base_offset)
            raise _disorder(int(firsts[number]), floor, "the offset of a batch")

    def finish(self) -> None:
        """Write the companion files of the last segment and of the partition."""
        self._end_segment()
        self._write_companions(self.companions.finish())

    def _end_segment(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def close(self) -> None:
        """Close the file that is open, if writing ended with an error."""
        self._end_segment()

    def _write_companions(self, segment_companions: SegmentCompanions | None) -> None:
        for name, data in (
            segment_companions.files.items() if segment_companions is not None else ()
        ):
            self._sink.write(name, data)


def _too_far(offset: int, base_offset: int) -> FormatError:
    return FormatError(
        Finding(
            code="offset-outside-segment",
            message=f"offset {offset} is more than {MAX_RELATIVE_OFFSET} above the base offset {base_offset} of its "
            "segment, which no index can refer to",
            base_offset=offset,
            found=str(offset),
            expected=f"at most {base_offset + MAX_RELATIVE_OFFSET}",
        )
    )


def _disorder(offset: int, expected: int, subject: str) -> FormatError:
    return FormatError(
        Finding(
            code="offset-out-of-order",
            message=f"{subject} is {offset}, expected at least {expected}: a broker would refuse such a log; "
            "`magicbyte salvage` leaves out what is out of order",
            base_offset=offset,
            found=str(offset),
            expected=f"at least {expected}",
        )
    )
