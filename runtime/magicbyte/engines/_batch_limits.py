"""Limits of a v2 batch: the offsets that its header can state, its bytes, and the producer's `batch.size`."""

from typing import TYPE_CHECKING

from magicbyte.engines._records_to_encode import RecordsToEncode
from magicbyte.engines.encoding import BatchFields
from magicbyte.errors import InputError
from magicbyte.tables.arrays import to_numpy
from magicbyte_formats.wire import RecordBatchHeader

if TYPE_CHECKING:
    from magicbyte.engines.entry_columns import Numbers

MAX_INT32 = (1 << 31) - 1
MAX_RECORD_BYTES = MAX_INT32 - RecordBatchHeader.LENGTH.least
"""Most bytes of records in a batch: its size field has 32 bits."""


def check_offsets(fields: BatchFields, record_columns: RecordsToEncode) -> None:
    """Raise InputError if the header of a batch with *fields* cannot state the offsets of *record_columns*."""
    offsets: Numbers = to_numpy(record_columns.offset_array)
    first, last = int(offsets[0]), int(offsets[-1])
    base = first if fields.base_offset is None else fields.base_offset
    if base > first:
        raise InputError(f"base_offset {base}", f"at most the first record's offset, {first}")
    if last - base > MAX_INT32:
        raise InputError(
            f"offsets {base} to {last} in one batch", f"a last offset of {base + MAX_INT32} at most"
        )
    if fields.last_offset_delta is not None and fields.last_offset_delta < last - base:
        raise InputError(
            f"last_offset_delta {fields.last_offset_delta}",
            f"at least {last - base}, that of the last record",
        )


def too_large(num_rows: int) -> InputError:
    """Return the error for records that are too large for one batch."""
    return InputError(
        f"{num_rows} records of more than {MAX_RECORD_BYTES} bytes", "records that fit one batch"
    )


def records_limit(batch_bytes: int) -> int:
    """Return the bytes that records may have in a batch of *batch_bytes*, without its header.

    Raises InputError if *batch_bytes* is negative. As with `batch.size`, a batch of 0 bytes has one record.
    """
    if batch_bytes < 0:
        raise InputError(f"batch_bytes {batch_bytes}", "0 or more")
    return min(batch_bytes, MAX_INT32) - RecordBatchHeader.SIZE
