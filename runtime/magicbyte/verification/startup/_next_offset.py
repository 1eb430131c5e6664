"""Computes the log end offset of a startup that verifies nothing (LogSegment.readNextOffset).

The broker reads batches from the position in the last entry of the last segment's offset index, so
a wrong index hides batches.
"""

from typing import NamedTuple

from magicbyte.engines.entry import codec_at
from magicbyte.errors import FormatError
from magicbyte.kafka_release import KafkaRelease
from magicbyte.limits import Limits
from magicbyte.logdir.frames import Frame, frames
from magicbyte.logdir.indexes import MAX_INDEX_BYTES, position_of, whole_rows
from magicbyte.logdir.log_file import LogFile
from magicbyte.storage import File
from magicbyte.verification.startup._prediction import StartupRefusedError
from magicbyte_formats.wire import EntryHeader, OffsetIndexEntry


class LastBatchEnd(NamedTuple):
    """The end of the last batch that a startup finds in a segment."""

    next_offset: int
    """Last offset of the batch + 1; the segment's base offset where no batch is found."""
    position: int | None
    """Byte of the file after the batch; None if no batch is found."""


def read_next_offset(
    file: File, base_offset: int, index: LogFile | None, release: KafkaRelease, limits: Limits
) -> LastBatchEnd:
    """Return the end of the last batch of the segment *file*, looked up with its offset *index*.

    Raises StartupRefusedError where the index leads to bytes that are no batch.
    """
    relative_offset, position = _last_index_entry(index)
    if position < 0:
        raise StartupRefusedError(f"the last segment's offset index leads to byte {position}")
    try:
        last = find_batch(file, position, base_offset + relative_offset, release, limits)
        if last is None:
            return LastBatchEnd(base_offset, None)
        for frame in frames(file, begin=last.position, limits=limits):
            last = frame
        return LastBatchEnd(last.last_offset + 1, last.end)
    except FormatError as error:
        raise StartupRefusedError(
            f"byte {error.position} of the last segment, which is read from byte {position} on: "
            f"{error.message}"
        ) from error


def search_segment(
    file: File,
    base_offset: int,
    index: LogFile | None,
    offset: int,
    release: KafkaRelease,
    limits: Limits,
) -> None:
    """Look *offset* up in the segment *file*, as a broker does before it replays batches from or to it.

    Raises StartupRefusedError where the search ends with an exception.
    """
    table = whole_rows(
        b"" if index is None else index.read_small(MAX_INDEX_BYTES), OffsetIndexEntry
    )
    position = max(position_of(table, offset - base_offset), 0)
    try:
        find_batch(file, position, offset, release, limits)
    except FormatError as error:
        where = f"byte {error.position}, where offset {offset} is looked up"
        raise StartupRefusedError(f"{where}: {error.message}") from error


def find_batch(
    file: File, position: int, offset: int, release: KafkaRelease, limits: Limits
) -> Frame | None:
    """Return the batch from byte *position* on in which a broker finds *offset*; None if it finds none.

    Since 4.1, the search compares base offsets (FileRecords.searchForOffsetFromPosition); before,
    last offsets, and 4.0 needs the base offset of the batch that it finds.

    Raises FormatError where a header is wrong, StartupRefusedError where a batch has no base offset.
    """
    compares_base_offsets = release.since(4, 1)
    previous: Frame | None = None
    for frame in frames(file, begin=position, limits=limits):
        if compares_base_offsets:
            base_offset = _base_offset(frame)
            if base_offset > offset and previous is not None and previous.last_offset >= offset:
                return previous
            if base_offset >= offset:
                return frame
        elif frame.last_offset >= offset:
            if release.since(4, 0):
                _base_offset(frame)
            return frame
        previous = frame
    if compares_base_offsets and previous is not None and previous.last_offset >= offset:
        return previous
    return None


def _base_offset(frame: Frame) -> int:
    """Return the base offset of *frame*.

    Kafka reads the magic as a signed byte, and all below 2 as a message of v0 or v1. The base offset
    of one that is compressed is the offset of its first message inside; here it is its own offset.

    Raises StartupRefusedError if the magic is below 0 and the message is compressed by its attributes.
    """
    if frame.magic < 0 and codec_at(frame.data, 0, frame.magic):
        raise StartupRefusedError(
            f"InvalidRecordException at byte {frame.position}: magic {frame.magic}, expected 0, 1 or 2"
        )
    return EntryHeader.unpack_from(frame.data).offset


def _last_index_entry(index: LogFile | None) -> tuple[int, int]:
    """Return the last relative offset of *index*, and the position that a lookup of it gives."""
    if index is None:
        return 0, 0
    table = whole_rows(index.read_small(MAX_INDEX_BYTES), OffsetIndexEntry)
    relative_offset = int(table["relative_offset"][-1]) if len(table) else 0
    return relative_offset, position_of(table, relative_offset)
