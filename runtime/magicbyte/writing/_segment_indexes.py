"""The offset index and the time index of a segment, as a broker's recovery writes them."""

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.errors import FormatError
from magicbyte.logdir.index_rules import due_entries, running_maximum
from magicbyte.logdir.indexes import SEGMENT_SPAN
from magicbyte.tables.arrays import dtype_of
from magicbyte_formats.wire import OffsetIndexEntry, TimeIndexEntry

_OFFSET_ENTRY, _TIME_ENTRY = dtype_of(OffsetIndexEntry), dtype_of(TimeIndexEntry)

MAX_SEGMENT_BYTES = (1 << 31) - 1
"""Positions in an offset index have 32 bits with a sign."""


class SegmentIndexes:
    """Builds the two indexes of a segment from its entries, in order."""

    def __init__(self, base_offset: int, interval_bytes: int) -> None:
        self.max_timestamp = -1
        """Highest timestamp so far, in milliseconds; -1 without one."""
        self._base_offset = base_offset
        self._interval_bytes = interval_bytes
        self._offset_of_max = -1
        self._last_offset = base_offset - 1
        self._last_position = 0
        self._last_time = -1
        self._offset_entries = bytearray()
        self._time_entries = bytearray()

    def add(self, entries: Entries) -> None:
        """Add *entries*.

        Raises FormatError if their offsets go back, or do not fit the segment's indexes.
        """
        self._check_offsets(entries)
        offsets, positions = entries.column("last_offset"), entries.column("position")
        highest, offsets_of_highest = running_maximum(
            entries.column("max_timestamp"), offsets, self.max_timestamp, self._offset_of_max
        )
        due = due_entries(positions, self._last_position, self._interval_bytes)
        if len(due):
            rows = np.empty(len(due), _OFFSET_ENTRY)
            rows["relative_offset"] = offsets[due] - self._base_offset
            rows["ofs_batch"] = positions[due]
            self._offset_entries += rows.tobytes()
            self._last_position = int(positions[due[-1]])
            # A time index has an entry only where the highest timestamp has risen.
            has_risen = highest[due] > np.append(self._last_time, highest[due[:-1]])
            self._add_times(highest[due[has_risen]], offsets_of_highest[due[has_risen]])
        self.max_timestamp = int(highest[-1])
        self._offset_of_max = int(offsets_of_highest[-1])
        self._last_offset = int(offsets[-1])

    def finish(self) -> tuple[bytes, bytes]:
        """Return the contents of the offset index and of the time index; the segment ends."""
        if self.max_timestamp > self._last_time:
            self._add_times(np.array([self.max_timestamp]), np.array([self._offset_of_max]))
        return bytes(self._offset_entries), bytes(self._time_entries)

    def _add_times(self, timestamps: Numbers, offsets: Numbers) -> None:
        if not len(timestamps):
            return
        rows = np.empty(len(timestamps), _TIME_ENTRY)
        rows["timestamp"] = timestamps
        rows["relative_offset"] = offsets - self._base_offset
        self._time_entries += rows.tobytes()
        self._last_time = int(timestamps[-1])

    def _check_offsets(self, entries: Entries) -> None:
        offsets = entries.column("last_offset")
        does_rise = offsets > np.append(self._last_offset, offsets[:-1])
        if not does_rise.all():
            number = int(np.argmin(does_rise))
            entry = entries[number]
            previous = int(offsets[number - 1]) if number else self._last_offset
            raise FormatError(
                entry.finding(
                    "offset-out-of-order",
                    f"last offset {entry.last_offset}, expected above {previous}: no index can be built "
                    f"for segment {self._base_offset}",
                    field="last_offset",
                    found=entry.last_offset,
                    expected=f"above {previous}",
                )
            )
        end, last = self._base_offset + SEGMENT_SPAN, entries[-1]
        if last.last_offset >= end or last.position > MAX_SEGMENT_BYTES:
            limits = f"offsets below {end} and positions up to {MAX_SEGMENT_BYTES}"
            raise FormatError(
                last.finding(
                    "offset-outside-segment",
                    f"last offset {last.last_offset} at byte {last.position} does not fit the indexes of "
                    f"segment {self._base_offset}, which hold {limits}",
                    field="last_offset",
                    found=last.last_offset,
                    expected=limits,
                )
            )
