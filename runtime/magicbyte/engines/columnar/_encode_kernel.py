"""Kernel that encodes v2 batches: records, compression, header and checksum of many batches in one call."""

from typing import Any

from magicbyte.engines.columnar._compress_kernels import compress_lz4, compress_zstd
from magicbyte.engines.columnar._encode_block import (
    BASE_OFFSET,
    BASE_TIMESTAMP,
    CODEC,
    CONTEXT,
    END,
    FUNCTION,
    IS_ESTIMATED,
    LAST_OFFSET_DELTA,
    LAST_ROW,
    LEVEL,
    MAX_TIMESTAMP,
    MIN_SPARE,
    MOST,
    OFFSETS,
    SCRATCH,
    SCRATCH_END,
    SET_FIELDS,
    SIZE,
    SPARE_SHIFT,
    TIMESTAMPS,
    TO,
)
from magicbyte_formats.columnar.kafka_record_batch import NAMES, SLACK
from magicbyte_formats.columnar.kafka_record_batch_kernels import encode, write_header
from magicbyte_formats.wire import Codec, RecordBatchHeader
from magicbyte_kernels.kernel_interface import BUFFER_FULL, DONE
from magicbyte_kernels.primitives import called, inlined, s8le

LZ4 = int(Codec.LZ4)
LEN_HEADER = RecordBatchHeader.SIZE
FIRST, LAST_DELTA = NAMES["base_offset"], NAMES["last_offset_delta"]
BASE_TIME, MAX_TIME = NAMES["base_timestamp"], NAMES["max_timestamp"]
SEQUENCE, LAST_SEQUENCE = NAMES["base_sequence"], (1 << 31) - 1


@inlined
def _number(address: int, index: int) -> int:
    return s8le(address + 8 * index)


@called
def _largest(address: int, first: int, last: int) -> int:
    """Return the largest of the numbers [first, last) at *address*."""
    largest = _number(address, first)
    for row in range(first + 1, last):
        largest = max(largest, _number(address, row))
    return largest


@called
def _compress(options: Any, p: int, end: int, to: int, stop: int) -> int:
    function = int(options[FUNCTION])
    if options[CODEC] == LZ4:
        return compress_lz4(p, end, to, stop, function, int(options[LEVEL]))
    return compress_zstd(p, end, to, stop, function, int(options[CONTEXT]))


def encode_batches(
    addresses: Any, first: int, last: int, desc: Any, options: Any, batch_table: Any
) -> tuple[int, int, int, int]:
    """Encode the rows [first, last) as batches back to back, as `_encode_block` says.

    *addresses* locate the columns, *desc* the header of the first batch, *batch_table* the table of
    batches. Returns the row after the last batch, the bytes of all batches, their number, and why it stopped:
    DONE, also where the table or the capacity is used up; BUFFER_FULL or UNWRITABLE, of the batch that begins with that row.
    """
    is_set, most, codec = int(options[SET_FIELDS]), int(options[MOST]), int(options[CODEC])
    offsets, timestamps = int(options[OFFSETS]), int(options[TIMESTAMPS])
    to, end = int(options[TO]), int(options[END])
    estimated = int(options[IS_ESTIMATED])
    # Most bytes of a batch without a very large record: with less capacity it might be encoded in vain.
    most_bytes = LEN_HEADER + most + (most >> SPARE_SHIFT) + MIN_SPARE
    p, row, n = to, first, 0
    while row < last and n < batch_table.shape[0]:
        if n and end - p < most_bytes:
            break
        if not is_set & BASE_OFFSET:
            desc[0, FIRST] = _number(offsets, row)
        if not is_set & BASE_TIMESTAMP:
            desc[0, BASE_TIME] = _number(timestamps, row)
        where, stop = p + LEN_HEADER, end
        if codec:
            where, stop = int(options[SCRATCH]), int(options[SCRATCH_END])
        next_row, records_end, reason = encode(
            addresses, row, last, desc, most, estimated, where, stop
        )
        if next_row == row or reason == BUFFER_FULL:
            return row, p - to, n, reason
        size = records_end - where
        if codec:
            size = _compress(options, where, records_end, p + LEN_HEADER, end - SLACK)
            if size < 0:
                return row, p - to, n, BUFFER_FULL
        size += LEN_HEADER
        if not is_set & LAST_OFFSET_DELTA:
            desc[0, LAST_DELTA] = _number(offsets, next_row - 1) - desc[0, FIRST]
        if not is_set & MAX_TIMESTAMP:
            desc[0, MAX_TIME] = _largest(timestamps, row, next_row)
        write_header(p, size, next_row - row, desc)
        if desc[0, SEQUENCE] >= 0:
            desc[0, SEQUENCE] = (desc[0, SEQUENCE] + next_row - row) & LAST_SEQUENCE
        batch_table[n, LAST_ROW], batch_table[n, SIZE] = next_row, size
        p, row, n = p + size, next_row, n + 1
    return row, p - to, n, DONE
