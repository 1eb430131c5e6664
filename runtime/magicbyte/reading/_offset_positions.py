"""Finds where entries begin, by an offset index and the headers after one of its entries.

An offset index has an entry for each 4 KiB of a segment. The headers from there on lead to the entry of any
offset, so no other byte of the segment is read.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from magicbyte.engines.protocol import Entries
from magicbyte.logdir.indexes import positions_between, read_positions
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._damage import UnsoundRange
from magicbyte.reading._log_pass import SurveyOptions, segment_bounds
from magicbyte.reading._walk import HeaderWalk, SoundEntries
from magicbyte.reading.segment_range import known_bases
from magicbyte.reading.survey import Boundary
from magicbyte.tables.arrays import StructuredRows


class EntryStart(NamedTuple):
    """Position at which an entry begins, or at which the entries of a segment end."""

    segment: int
    """Number of the segment in its partition, from 0."""
    position: int
    first_offset: int
    """First offset of the entry; at the end of a segment, the offset after its last entry."""
    is_end: bool = False
    """True if no entry follows in the segment."""

    def boundary(self) -> Boundary:
        """Return the boundary of splits at this position."""
        first = None if self.is_end else self.first_offset
        return Boundary(self.position, self.first_offset - 1, first)


class WrongIndexError(Exception):
    """Raised where an offset index, or the headers after one of its entries, are not as a broker writes them."""


@dataclass(slots=True)
class OffsetPositions:
    """The positions of a partition's entries, by offset. The base offsets of its segments are known."""

    log: PartitionLog
    options: SurveyOptions
    _whole: dict[int, StructuredRows] = field(default_factory=dict, init=False, repr=False)
    """Indexes that were read as a whole, by segment."""

    def first_from(self, offset: int) -> EntryStart:
        """Return the start of the entry that has *offset* or, if there is none, of the next one in its segment.

        Raises WrongIndexError.
        """
        return self._find(max(bisect_right(self._bases, offset) - 1, 0), offset, "last_offset")

    def first_after(self, end: int) -> EntryStart:
        """Return the start of the first entry without an offset below *end*, in the segment of the offset before it.

        Raises WrongIndexError.
        """
        return self._find(max(bisect_left(self._bases, end) - 1, 0), end, "first_offset")

    def at_entry_from(self, segment: int, position: int) -> EntryStart | None:
        """Return the start of the entry at the first entry of the index that is at *position* or after it.

        None is returned if there is none. Raises WrongIndexError.
        """
        index_rows = self._whole_index(segment)
        number = int(np.searchsorted(index_rows["ofs_batch"], position))
        if number == len(index_rows):
            return None
        entries = next(self._entries(segment, index_rows, number))
        return EntryStart(segment, entries[0].position, entries[0].first_offset)

    @property
    def _bases(self) -> list[int]:
        return known_bases(self.log)

    def _whole_index(self, segment: int) -> StructuredRows:
        if segment not in self._whole:
            self._whole[segment] = read_positions(self.log, self.log.logs[segment])
        return self._whole[segment]

    def _find(
        self, segment: int, offset: int, offset_column: Literal["first_offset", "last_offset"]
    ) -> EntryStart:
        """Return the start of the first entry of *segment* whose *offset_column* is *offset* or more."""
        file, relative = self.log.logs[segment], offset - self._bases[segment]
        index_rows = positions_between(self.log, file, relative, relative)
        if index_rows is None:
            index_rows = self._whole_index(segment)
        number = int(np.searchsorted(index_rows["relative_offset"], relative, "right")) - 1
        end = EntryStart(segment, 0, self._bases[segment], is_end=True)
        for entries in self._entries(segment, index_rows, number):
            offsets = entries.column(offset_column)
            at = int(np.searchsorted(offsets, offset))
            if at < len(offsets):
                return EntryStart(segment, entries[at].position, entries[at].first_offset)
            last = entries[-1]
            end = EntryStart(segment, last.end, last.last_offset + 1, is_end=True)
        return end

    def _entries(self, segment: int, index_rows: StructuredRows, number: int) -> Iterator[Entries]:
        """Yield the entries of *segment* by their headers, from row *number* of its index on; -1: from its beginning.

        Each block ends where the index has its next row.
        """
        positions = index_rows["ofs_batch"].tolist()
        logs = self.log.logs
        with self.options.open_log(logs[segment]) as file:
            position = positions[number] if number >= 0 else 0
            for stop in [*positions[number + 1 :], file.size_bytes]:
                for piece in HeaderWalk(
                    file,
                    engine=self.options.engine,
                    limits=self.options.limits,
                    bounds=segment_bounds(logs, segment, self.log.next_base),
                    start=position,
                    end=stop,
                    is_last=segment + 1 == len(logs) and stop == file.size_bytes,
                ):
                    if isinstance(piece, UnsoundRange) and piece.kind == "tail":
                        return
                    if not isinstance(piece, SoundEntries) or piece.findings:
                        raise WrongIndexError
                    if number >= 0 and piece.entries[0].position == positions[number]:
                        self._check_first(segment, index_rows, number, piece.entries)
                    yield piece.entries
                position, number = stop, -1

    def _check_first(
        self, segment: int, index_rows: StructuredRows, number: int, entries: Entries
    ) -> None:
        """Raise WrongIndexError unless the first of *entries* has an offset that row *number* of the index allows."""
        base, offsets = self._bases[segment], index_rows["relative_offset"]
        least = base + int(offsets[number - 1]) + 1 if number else base
        if not least <= entries[0].first_offset <= base + int(offsets[number]):
            raise WrongIndexError
