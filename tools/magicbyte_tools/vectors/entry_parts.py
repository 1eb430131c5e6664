"""Builds log entries from records with absolute offsets and timestamps.

The deltas, relative offsets and checksums in the bytes are computed here and by the Construct
encoder. So the expected records of a test vector are its input, not the output of a reader.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import magicbyte_construct as twin
from magicbyte_tools.vectors.case import ExpectedHeader, ExpectedRow
from magicbyte_tools.vectors.framers import NONE, compress

T0 = 1714000000000
"""Timestamp of the record at offset 0, in milliseconds: 2024-04-24T23:06:40Z."""

LEADER_EPOCH = 3
"""Leader epoch of all entries, unless a case sets another."""

CREATE_TIME, APPEND_TIME = "CreateTime", "LogAppendTime"
ABORT, COMMIT, LEADER_CHANGE, SNAPSHOT_HEADER, SNAPSHOT_FOOTER, KRAFT_VERSION, KRAFT_VOTERS = range(
    7
)
"""Types of control records."""


@dataclass(frozen=True, slots=True)
class EntryPart:
    """A piece of a log file: its bytes, and the records that a reader delivers of it."""

    data: bytes
    rows: tuple[ExpectedRow, ...] = ()
    next_offset: int = 0
    """Base offset of the next log entry."""
    is_faulty: bool = False

    def __len__(self) -> int:
        return len(self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rec:
    """A record to encode, with an absolute offset and timestamp."""

    offset: int
    time: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[bytes, bytes | None], ...]
    shown_headers: tuple[tuple[str, bytes | None], ...] | None
    raw: dict[str, Any]
    """Encoded fields that replace the computed ones, even by wrong values."""

    def row(self, *, timestamp: int | None, timestamp_type: str | None) -> ExpectedRow:
        return ExpectedRow(
            offset=self.offset,
            timestamp=None if timestamp == -1 else timestamp,
            timestamp_type=timestamp_type,
            key=self.key,
            value=self.value,
            headers=tuple(self._expected_headers()),
        )

    def _expected_headers(self) -> Iterator[ExpectedHeader]:
        if self.shown_headers is None:
            yield from (ExpectedHeader(key, value) for key, value in self.headers)
        elif not self.headers:  # `raw` has them
            yield from (ExpectedHeader(key.encode(), value) for key, value in self.shown_headers)
        else:
            for (key, value), (decoded, _) in zip(self.headers, self.shown_headers, strict=True):
                yield ExpectedHeader(key, value, decoded)


def rec(
    offset: int = 0,
    value: bytes | None = b"value",
    key: bytes | None = b"key",
    *,
    time: int | None = None,
    headers: Sequence[tuple[bytes, bytes | None]] = (),
    shown_headers: Sequence[tuple[str, bytes | None]] | None = None,
    **raw: Any,
) -> Rec:
    """Return the record at *offset*; its default timestamp is T0 plus a millisecond per offset.

    *shown_headers* are the expected headers, given where a header key is not UTF-8. *raw* replaces
    encoded fields, even by wrong values.
    """
    return Rec(
        offset=offset,
        time=T0 + offset if time is None else time,
        key=key,
        value=value,
        headers=tuple(headers),
        shown_headers=None if shown_headers is None else tuple(shown_headers),
        raw=raw,
    )


# v2


def payload(*records: Rec, base_offset: int | None = None, base_time: int | None = None) -> bytes:
    """Encode *records* as in an uncompressed v2 batch, by default relative to the first one."""
    base_offset = records[0].offset if base_offset is None else base_offset
    base_time = records[0].time if base_time is None else base_time
    return b"".join(
        twin.Record.build(
            {
                "timestamp_delta": one.time - base_time,
                "offset_delta": one.offset - base_offset,
                "key": one.key,
                "value": one.value,
                "headers": [{"key": key, "value": value} for key, value in one.headers],
                **one.raw,
            }
        )
        for one in records
    )


def batch(
    *records: Rec,
    codec: int = NONE,
    base_offset: int | None = None,
    last_offset: int | None = None,
    base_time: int | None = None,
    append_time: int | None = None,
    section: bytes | None = None,
    is_control: bool = False,
    **fields: Any,
) -> EntryPart:
    """Return a v2 batch of *records*, by default from the first offset to the last offset.

    With *append_time* the timestamp type is LogAppendTime. *section* replaces the compressed
    records. *fields* replace fields of the Construct encoder's batch, even by wrong values.
    """
    first = base_offset if base_offset is not None else records[0].offset if records else 0
    last = last_offset if last_offset is not None else records[-1].offset if records else first
    start = base_time if base_time is not None else records[0].time if records else -1
    plain = payload(*records, base_offset=first, base_time=start)
    attributes = {
        "codec": codec,
        "timestamp_type": int(append_time is not None),
        "is_control": is_control,
        **fields.pop("attributes", {}),
    }
    newest = max((one.time for one in records), default=-1)
    data = twin.RecordBatch.build(
        {
            "base_offset": first,
            "partition_leader_epoch": LEADER_EPOCH,
            "attributes": attributes,
            "last_offset_delta": last - first,
            "base_timestamp": start,
            "max_timestamp": newest if append_time is None else append_time,
            "num_records": len(records),
            "records": compress(codec, plain) if section is None else section,
            **fields,
        }
    )
    kind = CREATE_TIME if append_time is None else APPEND_TIME
    rows = tuple(
        one.row(timestamp=one.time if append_time is None else append_time, timestamp_type=kind)
        for one in (() if is_control else records)
    )
    return EntryPart(data, rows, last + 1)


TRANSACTIONAL = {"is_transactional": True}


def transactional(*records: Rec, producer: int, epoch: int = 0, sequence: int = 0) -> EntryPart:
    """Return a transactional batch of *records* of the producer id *producer*."""
    return batch(
        *records,
        producer_id=producer,
        producer_epoch=epoch,
        base_sequence=sequence,
        attributes=TRANSACTIONAL,
    )


def marker(kind: int, offset: int, *, producer: int, epoch: int = 0, **fields: Any) -> EntryPart:
    """Return the ABORT or COMMIT marker of *producer*'s transaction; it delivers no record."""
    fields = {"timestamp": T0 + offset, "partition_leader_epoch": LEADER_EPOCH, **fields}
    data = twin.marker(kind, offset, producer, epoch, **fields)
    return EntryPart(data, (), offset + 1)


# v0 and v1


def message(
    record: Rec,
    *,
    magic: int = 1,
    append_time: int | None = None,
    attributes: Any = None,
    **fields: Any,
) -> EntryPart:
    """Return *record* as an uncompressed v0 or v1 message; *fields* replace encoded fields."""
    kind = None if magic == 0 else CREATE_TIME if append_time is None else APPEND_TIME
    time = record.time if append_time is None else append_time
    data = twin.message(
        record.value,
        key=record.key,
        offset=record.offset,
        magic=magic,
        timestamp=time,
        attributes={"timestamp_type": int(append_time is not None), **(attributes or {})},
        **fields,
    )
    row = record.row(timestamp=None if magic == 0 else time, timestamp_type=kind)
    return EntryPart(data, (row,), record.offset + 1)


def wrapper(
    *records: Rec,
    codec: int,
    magic: int = 1,
    inner_magic: int | None = None,
    offset: int | None = None,
    relative_from: int | None = None,
    append_time: int | None = None,
    inside: bytes | None = None,
    section: bytes | None = None,
    **fields: Any,
) -> EntryPart:
    """Return a wrapper message of *records*: absolute inner offsets in v0, relative ones in v1.

    Relative offsets count from *relative_from*, by default the first record's offset. *inside*
    replaces the inner messages, *section* the compressed value.
    """
    form = magic if inner_magic is None else inner_magic
    start = 0 if magic == 0 else records[0].offset if relative_from is None else relative_from
    if inside is None:
        inside = b"".join(
            message(replace(one, offset=one.offset - start), magic=form).data for one in records
        )
    own = (records[-1].offset if records else 0) if offset is None else offset
    newest = max((one.time for one in records), default=-1)
    time = newest if append_time is None else append_time
    data = twin.message(
        **{
            "offset": own,
            "magic": magic,
            "value": compress(codec, inside, magic=magic) if section is None else section,
            "timestamp": time,
            "attributes": {
                "codec": codec,
                "timestamp_type": int(append_time is not None),
            },
            **fields,
        }
    )
    # Kafka's consumer takes the timestamp type from the wrapper, even for inner v0 messages.
    kind = None if magic == 0 else CREATE_TIME if append_time is None else APPEND_TIME
    rows = tuple(
        one.row(
            timestamp=None if form == 0 else one.time if append_time is None else append_time,
            timestamp_type=kind,
        )
        for one in records
    )
    return EntryPart(data, rows, own + 1)


# Damage


def bad(part: EntryPart | bytes) -> EntryPart:
    """Mark *part* as the fault of its test vector: none of its records is delivered."""
    if isinstance(part, bytes):
        return EntryPart(part, is_faulty=True)
    return replace(part, rows=(), is_faulty=True)


def patched(part: EntryPart, at: int, new: bytes) -> EntryPart:
    """Return *part* with the bytes from *at* on overwritten by *new*; the checksum is unchanged."""
    return replace(part, data=part.data[:at] + new + part.data[at + len(new) :])


def sealed(part: EntryPart, at: int, new: bytes) -> EntryPart:
    """Return *part* with the bytes from *at* on overwritten by *new* and a correct checksum."""
    changed = patched(part, at, new)
    return replace(changed, data=twin.reseal(changed.data))


def flipped(part: EntryPart, at: int, bits: int = 1) -> EntryPart:
    """Return *part* with the bits of the mask *bits* flipped in byte *at*."""
    return patched(part, at, bytes([part.data[at] ^ bits]))


def cut(part: EntryPart, keep: int) -> EntryPart:
    """Return *part* cut off after *keep* bytes; it delivers no record."""
    return EntryPart(part.data[:keep], (), part.next_offset)


def i32(value: int) -> bytes:
    return value.to_bytes(4, "big", signed=True)


def i64(value: int) -> bytes:
    return value.to_bytes(8, "big", signed=True)
