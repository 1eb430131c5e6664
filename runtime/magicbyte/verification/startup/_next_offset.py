"""Computes the log end offset of a startup that verifies nothing (LogSegment.readNextOffset).

The broker reads batches from the position in the last entry of the last segment's offset index, so
a wrong index hides batches.
"""

from typing import NamedTuple

from magicbyte.errors import FormatError
from magicbyte.limits import Limits
from magicbyte.logdir.frames import frames
from magicbyte.logdir.indexes import MAX_INDEX_BYTES, position_of, whole_rows
from magicbyte.logdir.log_file import LogFile
from magicbyte.storage import File
from magicbyte.verification.startup._prediction import StartupRefusedError
from magicbyte_formats.wire import OffsetIndexEntry


class LastBatchEnd(NamedTuple):
    """The end of the last batch that a startup finds in a segment."""

    next_offset: int
    """Last offset of the batch + 1; the segment's base offset where no batch is found."""
    position: int | None
    """Byte of the file after the batch; None if no batch is found."""


def read_next_offset(
    file: File, base_offset: int, index: LogFile | None, limits: Limits
) -> LastBatchEnd:
    """Return the end of the last batch of the segment *file*, looked up with its offset *index*.

    Raises StartupRefusedError where the index leads to bytes that are no batch.
    """
    relative_offset, position = _last_index_entry(index)
    if position < 0:
        raise StartupRefusedError(f"the last segment's offset index leads to byte {position}")
    last = None
    try:
        for frame in frames(file, begin=position, limits=limits):
            if last is not None or frame.last_offset >= base_offset + relative_offset:
                last = frame
        if last is None:
            return LastBatchEnd(base_offset, None)
        return LastBatchEnd(last.last_offset + 1, last.end)
    except FormatError as error:
        raise StartupRefusedError(
            f"byte {error.position} of the last segment, which is read from byte {position} on: "
            f"{error.message}"
        ) from error


def _last_index_entry(index: LogFile | None) -> tuple[int, int]:
    """Return the last relative offset of *index*, and the position that a lookup of it gives."""
    if index is None:
        return 0, 0
    table = whole_rows(index.read_small(MAX_INDEX_BYTES), OffsetIndexEntry)
    relative_offset = int(table["relative_offset"][-1]) if len(table) else 0
    return relative_offset, position_of(table, relative_offset)
