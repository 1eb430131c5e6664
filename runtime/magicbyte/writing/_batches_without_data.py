"""Build batches that hold no data: transaction markers, as a coordinator writes them, and empty batches."""

import struct

from magicbyte import checksum
from magicbyte.engines.entry import OVERHEAD
from magicbyte_formats.wire import RecordBatchHeader

TRANSACTIONAL, CONTROL = 1 << 4, 1 << 5
"""Bits of the attributes of a v2 batch."""

_KEY = struct.Struct(">hh")
"""Version and type of a control record: 0 aborts, 1 commits (EndTransactionMarker)."""

_VALUE = struct.Struct(">hi")
"""Version, and the epoch of the transaction coordinator."""


def transaction_marker(
    *,
    offset: int,
    is_commit: bool,
    producer_id: int,
    producer_epoch: int,
    coordinator_epoch: int,
    timestamp: int,
    leader_epoch: int,
) -> bytes:
    """Return the batch of 78 bytes that ends the open transaction of a producer."""
    key, value = _KEY.pack(0, int(is_commit)), _VALUE.pack(0, coordinator_epoch)
    # Attributes, timestamp delta, offset delta, key, value, no headers; lengths are zigzag varints of one byte.
    body = bytes([0, 0, 0, 2 * len(key), *key, 2 * len(value), *value, 0])
    record = bytes([2 * len(body), *body])
    header = EMPTY_HEADER._replace(
        base_offset=offset,
        len_batch=EMPTY_HEADER.len_batch + len(record),
        partition_leader_epoch=leader_epoch,
        attributes=TRANSACTIONAL | CONTROL,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        num_records=1,
    )
    return _with_checksum(header, record)


def empty_batch(*, first_offset: int, last_offset: int, leader_epoch: int, timestamp: int) -> bytes:
    """Return a batch of 61 bytes without records, as the log cleaner leaves it at the end of a log.

    It keeps the log end offset: without it, a broker would give the offsets to other records.
    """
    header = EMPTY_HEADER._replace(
        base_offset=first_offset,
        last_offset_delta=last_offset - first_offset,
        partition_leader_epoch=leader_epoch,
        max_timestamp=timestamp,
    )
    return _with_checksum(header, b"")


EMPTY_HEADER = RecordBatchHeader(
    base_offset=0,
    len_batch=RecordBatchHeader.SIZE - OVERHEAD,
    partition_leader_epoch=0,
    magic=2,
    crc=0,
    attributes=0,
    last_offset_delta=0,
    base_timestamp=-1,
    max_timestamp=-1,
    producer_id=-1,
    producer_epoch=-1,
    base_sequence=-1,
    num_records=0,
)


def _with_checksum(header: RecordBatchHeader, records: bytes) -> bytes:
    batch = bytearray(RecordBatchHeader.FIXED.pack(*header) + records)
    checked = RecordBatchHeader.CHECKSUM
    crc = checksum.crc32c(memoryview(batch)[checked.start :])
    batch[checked.field_position : checked.field_position + 4] = crc.to_bytes(4, "big")
    return bytes(batch)
