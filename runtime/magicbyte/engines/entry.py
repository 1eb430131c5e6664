"""The header of a log entry: of a v0 or v1 message, or of a v2 batch."""

import struct
from typing import NamedTuple

from magicbyte import checksum
from magicbyte.errors import FormatError, TruncatedError
from magicbyte.findings import Finding
from magicbyte.limits import Limits
from magicbyte_formats.wire import (
    EntryHeader,
    MessageHeader,
    RecordBatchHeader,
    TimestampType,
)

OVERHEAD = 12
"""Bytes that the size field does not count: the offset and the size field itself."""

LEAST_SIZES = {0: 14, 1: 22, 2: RecordBatchHeader.SIZE - OVERHEAD}
"""The least value of the size field, by magic: all fixed fields, no key, no value, no record."""

LEAST_SIZE = min(LEAST_SIZES.values())

HEADER_BYTES = OVERHEAD + max(LEAST_SIZES.values())
"""Bytes that suffice to judge the header of any entry."""

SEQUENCES = 1 << 31
"""Sequences of a producer are below this number; after the last one they start at 0 again."""

BATCH_NAMES = {
    "first_offset": "base_offset",
    "leader_epoch": "partition_leader_epoch",
    "record_count": "num_records",
}
"""Names in the specification of a v2 batch of the fields of Entry that are named differently there."""


class Entry(NamedTuple):
    """The header of a v0 or v1 message or wrapper, or of a v2 batch; sentinels as stored."""

    position: int
    """The byte of the file at which the entry begins."""
    size_bytes: int
    """Bytes of the whole entry, including the 12 that the size field does not count."""
    magic: int
    base_offset: int | None
    """None for a wrapper message: only the payload has it."""
    last_offset: int
    crc: int
    codec: int
    timestamp_type: int | None
    """None in v0."""
    base_timestamp: int | None
    max_timestamp: int | None
    has_delete_horizon: bool
    producer_id: int
    producer_epoch: int
    base_sequence: int
    leader_epoch: int
    record_count: int | None
    """None for a wrapper message."""
    is_transactional: bool
    is_control: bool
    reserved: int = 0
    """The attribute bits that no version of Kafka uses."""

    @property
    def end(self) -> int:
        """The byte of the file after the entry."""
        return self.position + self.size_bytes

    @property
    def first_offset(self) -> int:
        """The lowest offset that the header states."""
        return self.last_offset if self.base_offset is None else self.base_offset

    @property
    def is_wrapper(self) -> bool:
        return self.magic < 2 and self.codec != 0

    @property
    def is_append_time(self) -> bool:
        return self.timestamp_type == TimestampType.LOG_APPEND_TIME

    def finding(
        self,
        code: str,
        message: str,
        *,
        payload_position: int | None = None,
        field: str | None = None,
        found: object = None,
        expected: object = None,
    ) -> Finding:
        """Return a finding about the entry: its position, length and base offset are the entry's."""
        return Finding(
            code=code,
            message=message,
            position=self.position,
            payload_position=payload_position,
            length=self.size_bytes,
            base_offset=self.first_offset,
            field=field,
            found=None if found is None else str(found),
            expected=None if expected is None else str(expected),
        )

    def checksum_mismatch(self, computed: int) -> Finding:
        """Return the finding that the checksum of the entry's bytes is *computed*, not the stored one."""
        algorithm = "CRC-32C" if self.magic == 2 else "CRC-32"
        stored, actual = f"{self.crc:#010x}", f"{computed:#010x}"
        message = f"stored {algorithm} {stored}, computed {actual}"
        return self.finding(
            "checksum-mismatch", message, field="crc", found=stored, expected=actual
        )

    def over_limit(self, limits: Limits) -> Finding:
        """Return the finding that the entry is larger than *limits* allow."""
        return self.finding(
            "entry-over-limit",
            f"an entry of {self.size_bytes} bytes, max_entry_bytes allows "
            f"{limits.max_entry_bytes}; raise it to read the entry",
            field="max_entry_bytes",
            found=self.size_bytes,
            expected=limits.max_entry_bytes,
        )


def wrap64(number: int) -> int:
    """Return *number* in 64 bits with a sign, as Java's long arithmetic leaves it."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def read_entry(buffer: bytes | memoryview, position: int, *, origin: int = 0) -> Entry:
    """Return the header of the entry at byte *position* of *buffer*, which begins at *origin*.

    The buffer may end after the header. Raises FormatError (`bad-size`, `unknown-magic`) if there is
    no header, TruncatedError if *buffer* ends inside it; both with the position in *buffer*.
    """
    here = len(buffer) - position
    if here < EntryHeader.SIZE:
        if here >= OVERHEAD and (size := stored_size(buffer, position)) < LEAST_SIZE:
            raise FormatError(bad_size(position, size, LEAST_SIZE))
        raise TruncatedError(
            Finding(
                code="incomplete-entry",
                message=f"{here} bytes are left",
                position=position,
                found=str(here),
                expected=f"at least {EntryHeader.SIZE}",
            )
        )
    header = EntryHeader.unpack_from(buffer, position)
    size, magic = header.size, header.magic
    if magic not in LEAST_SIZES and size >= LEAST_SIZE:
        raise FormatError(
            Finding(
                code="unknown-magic",
                message=f"magic {magic}",
                position=position,
                field="magic",
                found=str(magic),
                expected="0, 1 or 2",
            )
        )
    least = LEAST_SIZES.get(magic, LEAST_SIZE)
    if size < least:
        form = f" in format v{magic}" if magic in LEAST_SIZES else ""
        raise FormatError(bad_size(position, size, least, form))
    if here < (least + OVERHEAD):
        raise TruncatedError(cut_entry(position, here, size + OVERHEAD))
    if magic == 2:
        return _batch(buffer, position, origin)
    return _message(buffer, position, origin)


def whole_entry(buffer: bytes | memoryview, position: int, *, origin: int = 0) -> Entry:
    """Return the header of the entry at byte *position*; *buffer* must hold the whole entry.

    Raises FormatError if there is no entry, TruncatedError if *buffer* ends inside it.
    """
    entry = read_entry(buffer, position, origin=origin)
    left = len(buffer) - position
    if entry.size_bytes > left:
        raise TruncatedError(cut_entry(position, left, entry.size_bytes))
    return entry


def stored_size(buffer: bytes | memoryview, position: int) -> int:
    """Return the size field of the entry at *position*; *buffer* has at least its first 12 bytes."""
    at = position + EntryHeader.LENGTH.field_position
    return int.from_bytes(buffer[at : at + 4], "big", signed=True)


def codec_at(buffer: bytes | memoryview, position: int, magic: int) -> int | None:
    """Return the codec of the entry of *magic* at *position*; None if *buffer* ends inside its header."""
    header = RecordBatchHeader if magic == 2 else MessageHeader
    try:
        return header.unpack_from(buffer, position).codec
    except struct.error:
        return None


def bad_size(position: int, size: int, least: int, form: str = "") -> Finding:
    """Return the finding that the size field at *position* is below the *least* of its format."""
    return Finding(
        code="bad-size",
        message=f"size field {size}, at least {least}{form}",
        position=position,
        field="size",
        found=str(size),
        expected=f"at least {least}",
    )


def cut_entry(position: int, left: int, size_bytes: int) -> Finding:
    """Return the finding that the data end *left* bytes into an entry of *size_bytes*."""
    return Finding(
        code="incomplete-entry",
        message=f"{left} bytes are left of an entry of {size_bytes}",
        position=position,
        found=str(left),
        expected=str(size_bytes),
    )


def _batch(buffer: bytes | memoryview, position: int, origin: int) -> Entry:
    header = RecordBatchHeader.unpack_from(buffer, position)
    return Entry(
        position=origin + position,
        size_bytes=header.len_batch + OVERHEAD,
        magic=2,
        base_offset=header.base_offset,
        last_offset=wrap64(header.base_offset + header.last_offset_delta),
        crc=header.crc,
        codec=header.codec,
        timestamp_type=header.timestamp_type,
        base_timestamp=header.base_timestamp,
        max_timestamp=header.max_timestamp,
        has_delete_horizon=header.has_delete_horizon,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        leader_epoch=header.partition_leader_epoch,
        record_count=header.num_records,
        is_transactional=header.is_transactional,
        is_control=header.is_control,
        reserved=header.reserved,
    )


def _message(buffer: bytes | memoryview, position: int, origin: int) -> Entry:
    header = MessageHeader.unpack_from(buffer, position)
    is_wrapper = header.codec != 0
    return Entry(
        position=origin + position,
        size_bytes=header.len_message + OVERHEAD,
        magic=header.magic,
        base_offset=None if is_wrapper else header.offset,
        last_offset=header.offset,
        crc=header.crc,
        codec=header.codec,
        timestamp_type=header.timestamp_type if header.magic == 1 else None,
        base_timestamp=None,
        max_timestamp=header.timestamp,
        has_delete_horizon=False,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        leader_epoch=-1,
        record_count=None if is_wrapper else 1,
        is_transactional=False,
        is_control=False,
        reserved=header.reserved,
    )


def checksum_of(buffer: memoryview, entry: Entry, *, origin: int = 0) -> int:
    """Return the checksum of the bytes of *entry*, which *buffer* holds in full."""
    data = buffer[entry.position - origin :][: entry.size_bytes]
    if entry.magic == 2:
        return checksum.crc32c(data[RecordBatchHeader.CHECKSUM.start :])
    return checksum.crc32(data[MessageHeader.CHECKSUM.start :])
