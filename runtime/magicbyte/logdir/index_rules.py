"""The rules by which a broker's recovery adds entries to offset and time indexes (LogSegment.recover)."""

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import Indices


def due_entries(positions: Numbers, last_position: int, interval_bytes: int) -> Indices:
    """Return the indices of the batches at ascending *positions* that get an index entry.

    A batch gets one if it begins more than *interval_bytes* after the batch of the last entry, which is
    at *last_position*; before the first entry, that is the byte at which the segment begins.
    """
    first = int(np.searchsorted(positions, last_position + interval_bytes, "right"))
    if (np.diff(positions[first:]) > interval_bytes).all():
        return np.arange(first, len(positions))
    next_due = np.searchsorted(positions, positions + interval_bytes, "right").tolist()
    due = []
    while first < len(positions):
        due.append(first)
        first = next_due[first]
    return np.array(due, np.intp)


def running_maximum(
    timestamps: Numbers, offsets: Numbers, max_timestamp: int, offset_of_max: int
) -> tuple[Numbers, Numbers]:
    """Return the highest timestamp up to each of the next batches, and that batch's offset.

    *max_timestamp* is the highest timestamp before them, *offset_of_max* the offset of its batch.
    """
    highest = np.maximum.accumulate(np.append(max_timestamp, timestamps))
    is_higher = highest[1:] > highest[:-1]
    first = np.maximum.accumulate(np.where(is_higher, np.arange(1, len(highest)), 0))
    return highest[1:], np.append(offset_of_max, offsets)[first]
