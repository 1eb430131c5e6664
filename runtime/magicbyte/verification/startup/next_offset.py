"""The end of a log as a start takes it that verifies nothing (LogSegment.readNextOffset).

The last entry of the last segment's offset index says from where on batches are read: a wrong
index hides what is there.
"""

from typing import NamedTuple

from magicbyte.errors import FormatError
from magicbyte.limits import Limits
from magicbyte.logdir.frames import frames
from magicbyte.logdir.indexes import MAX_INDEX_BYTES, position_of, whole_rows
from magicbyte.logdir.log_file import LogFile
from magicbyte.storage import File
from magicbyte.verification.startup.prediction import RefusedError
from magicbyte_formats.wire import OffsetIndexEntry


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
    table = whole_rows(index.read_small(MAX_INDEX_BYTES), OffsetIndexEntry)
    target = int(table["relative_offset"][-1]) if len(table) else 0
    return target, position_of(table, target)
