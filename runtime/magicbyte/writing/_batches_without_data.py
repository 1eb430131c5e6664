"""Build batches that hold no data: transaction markers, as a coordinator writes them, and empty batches."""

import pyarrow as pa

from magicbyte.engines.encoding import BatchFields
from magicbyte.engines.factory import encoder
from magicbyte_formats.wire import ControlKey, ControlType, TransactionMarker

NO_TIMESTAMP = -1
"""Base timestamp of an empty batch, as the log cleaner writes it."""


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
    control_type = ControlType.COMMIT if is_commit else ControlType.ABORT
    records = pa.record_batch(
        {
            "key": [ControlKey.FIXED.pack(0, control_type)],
            "value": [TransactionMarker.FIXED.pack(0, coordinator_epoch)],
            "timestamp": [timestamp],
            "offset": [offset],
        }
    )
    fields = BatchFields(
        leader_epoch=leader_epoch,
        is_transactional=True,
        is_control=True,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
    )
    return encoder().batch(fields, records)


def empty_batch(*, first_offset: int, last_offset: int, leader_epoch: int, timestamp: int) -> bytes:
    """Return a batch of 61 bytes without records, as the log cleaner leaves it at the end of a log.

    It keeps the log end offset: without it, a broker would give the offsets to other records.
    """
    fields = BatchFields(
        base_offset=first_offset,
        last_offset_delta=last_offset - first_offset,
        leader_epoch=leader_epoch,
        base_timestamp=NO_TIMESTAMP,
        max_timestamp=timestamp,
    )
    return encoder().batch(fields, pa.record_batch({"value": pa.array([], pa.binary())}))
