"""Entries by their size fields alone, as the tool finds them: nothing of them is judged."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from magicbyte.engines.entry import (
    LEAST_SIZE,
    OVERHEAD,
    Entry,
    checksum_of,
    read_entry,
    wrap64,
)
from magicbyte.errors import FormatError
from magicbyte.limits import Limits
from magicbyte_formats.wire import EntryHeader, RecordBatchHeader
from magicbyte_tools.dump_log.ends import EndError

LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Frame:
    """The bytes between two places that size fields name."""

    position: int
    data: memoryview
    """With magic 2 where it is higher: the tool takes such an entry for a batch."""
    magic: int

    @property
    def end(self) -> int:
        return self.position + len(self.data)

    @property
    def last_offset(self) -> int:
        if self.magic < 2:
            return EntryHeader.unpack_from(self.data).offset
        header = self.batch()
        return wrap64(header.base_offset + header.last_offset_delta)

    def batch(self) -> RecordBatchHeader:
        if len(self.data) < RecordBatchHeader.SIZE:
            raise self.end_error(f"a batch of {len(self.data)} bytes")
        return RecordBatchHeader.unpack_from(self.data)

    def entry(self) -> Entry:
        """Return the header as the engines have it. Raises EndError where it is none."""
        try:
            return read_entry(self.data, 0)
        except FormatError as error:
            raise self.end_error(error.message) from error

    def end_error(self, message: str, begun: str = "") -> EndError:
        """Return the exception that the tool meets in these bytes."""
        return EndError(f"byte {self.position}: {message}", begun, position=self.position)

    def is_sound(self, entry: Entry) -> bool:
        return checksum_of(self.data, entry._replace(position=0)) == entry.crc


def frames(path: Path, *, begin: int = 0, end: int | None = None) -> Iterator[Frame]:
    """Yield what lies between *begin* and *end* of the file *path*, up to what is not whole.

    Raises EndError where a size is too small, or the entry is larger than `max_entry_bytes`.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        end = size if end is None else min(end, size)
        position = begin
        while position + EntryHeader.SIZE < end:  # the tool needs a byte more
            file.seek(position)
            head = EntryHeader.unpack_from(file.read(EntryHeader.SIZE))
            if head.size < LEAST_SIZE:
                raise EndError(
                    f"Found record size {head.size} smaller than minimum record overhead "
                    f"({LEAST_SIZE}) in file {path.name}",
                    position=position,
                )
            whole = OVERHEAD + head.size
            if position + whole > end:
                return
            if whole > LIMITS.max_entry_bytes:
                message = f"byte {position} of {path.name}: an entry of {whole} bytes"
                raise EndError(message, position=position)
            file.seek(position)
            data = bytearray(file.read(whole))
            if head.magic > 2:
                data[EntryHeader.POSITIONS["magic"]] = 2
            yield Frame(position, memoryview(data), head.magic)
            position += whole
