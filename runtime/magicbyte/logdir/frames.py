"""Entries by their size fields alone, as Kafka's own readers find them (FileLogInputStream).

Nothing of them is judged but that, and what they say may be wrong: a broker's start and Kafka's
tools decide by them.
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
    """The bytes between two places that size fields name."""

    position: int
    data: memoryview
    """With magic 2 where it is higher: Kafka takes such an entry for a batch."""
    magic: int

    @property
    def end(self) -> int:
        return self.position + len(self.data)

    @property
    def last_offset(self) -> int:
        """Its last offset; FormatError where it is too short for a batch."""
        if self.magic < 2:
            return EntryHeader.unpack_from(self.data).offset
        header = self.batch()
        return wrap64(header.base_offset + header.last_offset_delta)

    def batch(self) -> RecordBatchHeader:
        """Return the header of a batch; FormatError where it is too short for one."""
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
        """Return the header as the engines have it, from byte 0; FormatError where it is none."""
        return read_entry(self.data, 0)

    def is_sound(self, entry: Entry) -> bool:
        """Return whether the checksum of *entry*, which these bytes are, is right."""
        return checksum_of(self.data, entry._replace(position=0)) == entry.crc


def frames(
    file: File, *, begin: int = 0, end: int | None = None, limits: Limits
) -> Iterator[Frame]:
    """Yield what lies between *begin* and *end* of *file*, up to what is not whole.

    Raises FormatError (`bad-size`) where a size is too small, with its byte, LimitError where an
    entry is larger than `max_entry_bytes`.
    """
    end = file.size_bytes if end is None else min(end, file.size_bytes)
    position, chunk, origin = begin, memoryview(b""), begin
    while position + EntryHeader.SIZE < end:  # Kafka's readers need a byte more than the header
        if position + EntryHeader.SIZE > origin + len(chunk):
            origin, chunk = position, memoryview(file.read_at(position, min(CHUNK, end - position)))
        head = EntryHeader.unpack_from(chunk, position - origin)
        if head.size < LEAST_SIZE:
            raise FormatError(bad_size(position, head.size, LEAST_SIZE))
        whole = OVERHEAD + head.size
        if position + whole > end:
            return
        if whole > limits.max_entry_bytes:
            raise LimitError.of("max_entry_bytes", whole, limit=limits.max_entry_bytes)
        if position + whole > origin + len(chunk):
            size = max(whole, min(CHUNK, end - position))
            origin, chunk = position, memoryview(file.read_at(position, size))
        data = chunk[position - origin : position - origin + whole]
        if head.magic > 2:
            changed = bytearray(data)
            changed[EntryHeader.POSITIONS["magic"]] = 2
            data = memoryview(changed)
        yield Frame(position, data, head.magic)
        position += whole
