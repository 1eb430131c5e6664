"""The reference encoder: plain Python, one record at a time, as the specification reads.

It needs no kernels, and is slow: it serves where there are none, and to check them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from magicbyte import codecs
from magicbyte.engines._batch_limits import (
    MAX_INT32,
    MAX_RECORD_BYTES,
    check_offsets,
    records_limit,
    too_large,
)
from magicbyte.engines._records_to_encode import RecordsToEncode, records_to_encode
from magicbyte.engines._single_message import check_messages, encode_message, wrap_messages
from magicbyte.engines.encoding import BatchFields, EncodedBatches, check_bulk_fields
from magicbyte.engines.entry import SEQUENCES
from magicbyte.engines.recompression import sealed_batch
from magicbyte_formats.wire import RecordBatchHeader

ESTIMATED_RATIO = np.float32(1.05)
"""Size after compression that Kafka's producer expects, as a factor, of records that it has not sent yet."""


class _Record(NamedTuple):
    key: bytes | None
    value: bytes | None
    header_pairs: Sequence[tuple[bytes, bytes | None]]
    offset: int
    timestamp: int


class ReferenceEncoder:
    name = "reference"

    def batch(
        self, fields: BatchFields, records: pa.RecordBatch, *, level: int | None = None
    ) -> bytes:
        codecs.check_level(fields.codec, level)
        record_columns = records_to_encode(records, fields.base_offset or 0)
        if not record_columns.num_rows:
            return sealed_batch(fields.empty_batch(), b"")
        check_offsets(fields, record_columns)
        rows = list(_records(record_columns))
        return _batch(fields, rows, _payload(fields, rows), level)

    def batches(
        self,
        records: pa.RecordBatch,
        fields: BatchFields,
        *,
        batch_bytes: int,
        level: int | None = None,
    ) -> Iterator[EncodedBatches]:
        check_bulk_fields(fields)
        codecs.check_level(fields.codec, level)
        limit, is_estimated = records_limit(batch_bytes), fields.codec != 0
        rows = list(_records(records_to_encode(records, 0)))
        first, sequence = 0, fields.base_sequence
        while first < len(rows):
            base, payload = rows[first], b""
            last = first
            for record in islice(rows, first, None):
                encoded = _encode_record(record, base.offset, base.timestamp)
                if last > first and (
                    record.offset - base.offset > MAX_INT32
                    or not _has_room(len(payload), len(encoded), limit, is_estimated)
                ):
                    break
                payload += encoded
                last += 1
            own_fields = replace(fields, base_sequence=sequence)
            batch = _batch(own_fields, rows[first:last], payload, level)
            yield EncodedBatches(memoryview(batch), np.array([len(batch)]), np.array([last]))
            if sequence >= 0:
                sequence = (sequence + last - first) % SEQUENCES
            first = last

    def messages(
        self,
        magic: int,
        records: pa.RecordBatch,
        *,
        codec: int = 0,
        timestamp_type: int = 0,
        level: int | None = None,
    ) -> bytes:
        check_messages(magic, codec, timestamp_type, level)
        rows = list(_records(records_to_encode(records, 0)))
        if not rows:
            return b""
        relative_to = rows[0].offset if codec and magic == 1 else 0
        message_set = b"".join(
            encode_message(
                magic,
                record.offset - relative_to,
                record.timestamp,
                record.key,
                record.value,
                timestamp_type=timestamp_type,
            )
            for record in rows
        )
        if not codec:
            return message_set
        return wrap_messages(
            message_set,
            magic,
            rows[-1].offset,
            max(record.timestamp for record in rows),
            codec=codec,
            timestamp_type=timestamp_type,
            level=level,
        )


def _records(record_columns: RecordsToEncode) -> Iterator[_Record]:
    """Yield the rows of *columns*."""
    headers = (
        record_columns.header_array.to_pylist() if record_columns.header_array is not None else None
    )
    rows = zip(
        *(column.to_pylist() for column in (record_columns.key_array, record_columns.value_array)),
        headers or [()] * record_columns.num_rows,
        record_columns.offset_array.to_pylist(),
        record_columns.timestamp_array.to_pylist(),
        strict=True,
    )
    for key, value, pairs, offset, timestamp in rows:
        own_headers = [
            (_as_bytes(pair["key"]) or b"", _as_bytes(pair["value"])) for pair in pairs or ()
        ]
        yield _Record(_as_bytes(key), _as_bytes(value), own_headers, offset, timestamp)


def _as_bytes(text: bytes | str | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text


def _batch(
    fields: BatchFields, rows: Sequence[_Record], payload: bytes, level: int | None
) -> bytes:
    """Return the batch of *rows*, which *payload* holds encoded, but not compressed."""
    base = rows[0].offset if fields.base_offset is None else fields.base_offset
    last_delta = fields.last_offset_delta
    largest = fields.max_timestamp
    header = RecordBatchHeader(
        base_offset=base,
        len_batch=0,
        partition_leader_epoch=fields.leader_epoch,
        magic=2,
        crc=0,
        attributes=fields.attributes,
        last_offset_delta=rows[-1].offset - base if last_delta is None else last_delta,
        base_timestamp=_base_timestamp(fields, rows),
        max_timestamp=max(row.timestamp for row in rows) if largest is None else largest,
        producer_id=fields.producer_id,
        producer_epoch=fields.producer_epoch,
        base_sequence=fields.base_sequence,
        num_records=len(rows),
    )
    compressed = codecs.compress(fields.codec, payload, magic=2, level=level)
    if max(len(payload), len(compressed)) > MAX_RECORD_BYTES:
        raise too_large(len(rows))
    return sealed_batch(header, compressed)


def _base_timestamp(fields: BatchFields, rows: Sequence[_Record]) -> int:
    return rows[0].timestamp if fields.base_timestamp is None else fields.base_timestamp


def _payload(fields: BatchFields, rows: Sequence[_Record]) -> bytes:
    base_offset = rows[0].offset if fields.base_offset is None else fields.base_offset
    base_timestamp = _base_timestamp(fields, rows)
    return b"".join(_encode_record(record, base_offset, base_timestamp) for record in rows)


def _has_room(num_bytes: int, size: int, limit: int, is_estimated: bool) -> bool:
    """Return whether the producer adds a record of *size* bytes to *num_bytes* (hasRoomFor of Kafka)."""
    if is_estimated:
        num_bytes = int(np.float32(num_bytes) * ESTIMATED_RATIO)
    return num_bytes + size <= limit


def _encode_record(record: _Record, base_offset: int, base_timestamp: int) -> bytes:
    """Return *record* as a record of a batch."""
    delta = record.timestamp - base_timestamp
    parts = [
        b"\0",
        _varint((delta + (1 << 63)) % (1 << 64) - (1 << 63)),
        _varint(record.offset - base_offset),
        _sized(record.key),
        _sized(record.value),
        _varint(len(record.header_pairs)),
    ]
    for name, value in record.header_pairs:
        parts += [_sized(name), _sized(value)]
    body = b"".join(parts)
    return _varint(len(body)) + body


def _sized(field_bytes: bytes | None) -> bytes:
    """Return *field_bytes* after its length; -1 stands for null."""
    return _varint(-1) if field_bytes is None else _varint(len(field_bytes)) + field_bytes


def _varint(number: int) -> bytes:
    """Return *number*, of 32 or 64 bits, as a zigzag varint."""
    rest = number << 1 if number >= 0 else (-number << 1) - 1
    encoded = bytearray()
    while rest >= 0x80:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)
