"""Log entries framed by their size fields alone, as Kafka's readers do (FileLogInputStream).

Nothing else is verified, so headers may be wrong: Kafka's tools and a broker's startup read such frames.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from magicbyte.engines.entry import (
    LEAST_SIZE,
    OVERHEAD,
    Entry,
    bad_size,
    checksum_of,
    read_entry,
    wrap64,
)
from magicbyte.errors import FormatError, LimitError
from magicbyte.findings import Finding
from magicbyte.limits import MIB, Limits
from magicbyte.storage import File
from magicbyte_formats.wire import EntryHeader, RecordBatchHeader

CHUNK = MIB
"""Bytes that are read at a time; a larger entry is read alone."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The bytes of one entry, as the size fields delimit them."""

    position: int
    data: memoryview
    """The bytes; a magic above 2 is replaced by 2, because Kafka reads such an entry as a batch."""
    magic: int

    @property
    def end(self) -> int:
        return self.position + len(self.data)

    @property
    def last_offset(self) -> int:
        """The last offset of the entry. Raises FormatError if it is too short for a batch."""
        if self.magic < 2:
            return EntryHeader.unpack_from(self.data).offset
        header = self.batch()
        return wrap64(header.base_offset + header.last_offset_delta)

    def batch(self) -> RecordBatchHeader:
        """Return the batch header. Raises FormatError if the bytes are too short for one."""
        if len(self.data) < RecordBatchHeader.SIZE:
            raise FormatError(
                Finding(
                    code="bad-size",
                    message=f"a batch of {len(self.data)} bytes, at least {RecordBatchHeader.SIZE}",
                    position=self.position,
                    field="size",
                    found=str(len(self.data)),
                    expected=f"at least {RecordBatchHeader.SIZE}",
                )
            )
        return RecordBatchHeader.unpack_from(self.data)

    def entry(self) -> Entry:
        """Return the header as an Entry at position 0. Raises FormatError if it is invalid."""
        return read_entry(self.data, 0)

    def is_sound(self, entry: Entry) -> bool:
        """Return whether the checksum of *entry*, the header of these bytes, is right."""
        return checksum_of(self.data, entry._replace(position=0)) == entry.crc


def frames(
    file: File, *, begin: int = 0, end: int | None = None, limits: Limits
) -> Iterator[Frame]:
    """Yield the frames in [begin, end) of *file*, up to the first incomplete one.

    Raises FormatError (`bad-size`) with the position of a size field that is too small, and
    LimitError if an entry is larger than `max_entry_bytes`.
    """
    end = file.size_bytes if end is None else min(end, file.size_bytes)
    position, chunk, origin = begin, memoryview(b""), begin
    while position + EntryHeader.SIZE < end:  # Kafka's readers need a byte more than the header
        if position + EntryHeader.SIZE > origin + len(chunk):
            origin, chunk = position, memoryview(file.read_at(position, min(CHUNK, end - position)))
        header = EntryHeader.unpack_from(chunk, position - origin)
        if header.size < LEAST_SIZE:
            raise FormatError(bad_size(position, header.size, LEAST_SIZE))
        size_bytes = OVERHEAD + header.size
        if position + size_bytes > end:
            return
        if size_bytes > limits.max_entry_bytes:
            raise LimitError.of("max_entry_bytes", size_bytes, limit=limits.max_entry_bytes)
        if position + size_bytes > origin + len(chunk):
            length = max(size_bytes, min(CHUNK, end - position))
            origin, chunk = position, memoryview(file.read_at(position, length))
        data = chunk[position - origin : position - origin + size_bytes]
        if header.magic > 2:
            as_batch = bytearray(data)
            as_batch[EntryHeader.POSITIONS["magic"]] = 2
            data = memoryview(as_batch)
        yield Frame(position, data, header.magic)
        position += size_bytes
