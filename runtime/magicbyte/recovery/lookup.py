"""The end of a log as a start takes it that verifies nothing (LogSegment.readNextOffset).

The last entry of the last segment's offset index says from where on batches are read: a wrong
index hides what is there.
"""

from typing import NamedTuple

import numpy as np

from magicbyte.errors import FormatError
from magicbyte.limits import Limits
from magicbyte.logdir.frames import frames
from magicbyte.logdir.indexes import MAX_INDEX_BYTES, OFFSETS
from magicbyte.logdir.live import LogFile
from magicbyte.recovery.forecast import RefusedError
from magicbyte.storage import File, read_small

WARM_ENTRIES = 8192 // OFFSETS.itemsize
"""Entries at the end of an index in which Kafka searches first."""


class End(NamedTuple):
    """The last batch that a start finds in a segment."""

    offset: int
    """Behind it; the segment's base offset where there is none."""
    position: int | None
    """The byte behind it; None where there is none."""


def end_of(file: File, base_offset: int, index: LogFile | None, limits: Limits) -> End:
    """Return the end of the segment *file* as such a start finds it.

    Raises RefusedError where it meets bytes that are no batch.
    """
    target, position = _last_entry(index)
    target += base_offset
    if position < 0:
        raise RefusedError(f"the last segment's offset index leads to byte {position}")
    try:
        found = None
        for frame in frames(file, begin=position, limits=limits):
            if found is None and frame.last_offset < target:
                continue
            found = frame
        if found is None:
            return End(base_offset, None)
        return End(found.last_offset + 1, found.end)
    except FormatError as error:
        raise RefusedError(
            f"byte {error.position} of the last segment, which is read from byte {position} on: "
            f"{error.message}"
        ) from error


def _last_entry(index: LogFile | None) -> tuple[int, int]:
    """Return the last relative offset of *index*, and the position that is looked up for it."""
    if index is None:
        return 0, 0
    data = read_small(index.path, max_bytes=MAX_INDEX_BYTES, store=index.store)
    table = np.frombuffer(data[: len(data) // OFFSETS.itemsize * OFFSETS.itemsize], OFFSETS)
    if not len(table):
        return 0, 0
    relative = table["relative_offset"]
    target = int(relative[-1])
    slot = _lower_bound(relative, target)
    return target, 0 if slot is None else int(table["ofs_batch"][slot])


def _lower_bound(relative: "np.ndarray[tuple[int], np.dtype[np.int32]]", target: int) -> int | None:
    """Return the entry that Kafka's search finds, in an index in whatever order."""

    def search(low: int, high: int) -> int:
        while low < high:
            middle = (low + high + 1) // 2
            found = int(relative[middle])
            if found == target:
                return middle
            if found > target:
                high = middle - 1
            else:
                low = middle
        return low

    warm = max(0, len(relative) - 1 - WARM_ENTRIES)
    if int(relative[warm]) < target:
        return search(warm, len(relative) - 1)
    if int(relative[0]) > target:
        return None
    return search(0, warm)
