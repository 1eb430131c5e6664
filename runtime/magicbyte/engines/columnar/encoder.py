"""The columnar encoder: kernels write records, compress them, and write headers and checksums."""

from collections.abc import Iterator

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
from magicbyte.engines._single_message import check_messages, wrap_messages
from magicbyte.engines.columnar import _encode_block as block
from magicbyte.engines.columnar._buffers import (
    POOL,
    MemoryLease,
    address,
    descriptor_table,
    scratch,
)
from magicbyte.engines.columnar._kernel_list import FORMATS, description
from magicbyte.engines.columnar._libraries import compressor
from magicbyte.engines.columnar._source_columns import SourceColumns
from magicbyte.engines.columnar.kernel_loader import batch_encoder, kernel
from magicbyte.engines.encoding import (
    OPTIONAL_FIELDS,
    BatchFields,
    EncodedBatches,
    check_bulk_fields,
)
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.recompression import recompress_batch, sealed_batch
from magicbyte.errors import InputError
from magicbyte.tables.arrays import number_array, to_numpy, value_offsets
from magicbyte_formats.wire import Codec, RecordBatchHeader
from magicbyte_kernels.kernel_interface import BUFFER_FULL, UNWRITABLE

BATCH, MESSAGE = (description(FORMATS[magic]) for magic in (2, 0))

PIECE_BYTES = 1 << 20
"""Output of one call of the kernel, about: a call costs as much as encoding some hundred records."""
PIECE_BATCHES = 1 << 12
"""Most batches of one call."""

RECORD_OVERHEAD, HEADER_OVERHEAD = 48, 16
"""Most bytes of a record or message that are neither key, value nor headers, and of a record header's
lengths. A message has up to 34, a record up to 41."""


ENCODED = "encoded batches"
"""Use of pooled memory for batches that a caller has not dropped yet."""

SET_BITS = (
    block.BASE_OFFSET,
    block.LAST_OFFSET_DELTA,
    block.BASE_TIMESTAMP,
    block.MAX_TIMESTAMP,
)
"""Bits of SET_FIELDS for OPTIONAL_FIELDS."""

DESCRIPTOR_NAMES = {
    "partition_leader_epoch": "leader_epoch",
    **{
        name: name
        for name in (
            *OPTIONAL_FIELDS,
            *("timestamp_type", "is_transactional", "is_control", "has_delete_horizon"),
            *("producer_id", "producer_epoch", "base_sequence"),
        )
    },
}
"""Fields of BatchFields by their names in the specification."""


class ColumnarEncoder:
    name = "columnar"

    def batch(
        self, fields: BatchFields, records: pa.RecordBatch, *, level: int | None = None
    ) -> bytes:
        codecs.check_level(fields.codec, level)
        record_columns = records_to_encode(records, fields.base_offset or 0)
        if not record_columns.num_rows:
            return sealed_batch(fields.empty_batch(), b"")
        check_offsets(fields, record_columns)
        call = _EncodeCall(record_columns, fields, level, MAX_RECORD_BYTES, is_estimated=False)
        capacity = RecordBatchHeader.SIZE + _most_bytes(record_columns) + BATCH.SLACK
        output = scratch("encoded", _with_spare(capacity))
        num_batches, num_bytes = call.encode(0, address(output), len(output), most_batches=1)
        if num_batches == 0 or call.table[0, block.LAST_ROW] < record_columns.num_rows:
            raise too_large(record_columns.num_rows)
        return call.finished(output[:num_bytes].data)

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
        record_columns = records_to_encode(records, 0)
        limit = records_limit(batch_bytes)
        call = _EncodeCall(record_columns, fields, level, limit, is_estimated=fields.codec != 0)
        spare = (
            min(max(batch_bytes, 0), _most_bytes(record_columns))
            + RecordBatchHeader.SIZE
            + BATCH.SLACK
        )
        capacity = PIECE_BYTES + _with_spare(spare)
        row = 0
        while row < record_columns.num_rows:
            # No variable holds the piece, so that its memory is free for the next one once it is dropped.
            yield call.next_piece(row, capacity)
            row = call.last_row

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
        record_columns = records_to_encode(records, 0)
        if not record_columns.num_rows:
            return b""
        offsets: Numbers = to_numpy(record_columns.offset_array)
        if codec and magic == 1:
            record_columns = record_columns._replace(
                offset_array=number_array(pa.int64(), offsets - offsets[0])
            )
        message_set = _message_set(magic, record_columns, timestamp_type)
        if not codec:
            return bytes(message_set)
        return wrap_messages(
            message_set,
            magic,
            int(offsets[-1]),
            int(to_numpy(record_columns.timestamp_array).max()),
            codec=codec,
            timestamp_type=timestamp_type,
            level=level,
        )


def _most_bytes(record_columns: RecordsToEncode) -> int:
    """Return a number of bytes that all records together do not exceed, encoded but not compressed."""
    total = RECORD_OVERHEAD * record_columns.num_rows
    for array in (record_columns.key_array, record_columns.value_array):
        total += _content_bytes(array)
    if record_columns.header_array is not None:
        offsets = value_offsets(record_columns.header_array)
        first, count = int(offsets[0]), int(offsets[-1] - offsets[0])
        total += HEADER_OVERHEAD * count
        for array in record_columns.header_columns():
            total += _content_bytes(array.slice(first, count))
    return total


def _content_bytes(array: pa.Array) -> int:
    offsets = value_offsets(array)
    return int(offsets[-1]) - int(offsets[0])


def _with_spare(num_bytes: int) -> int:
    """Return *num_bytes* and as many more as lz4 or zstd may add."""
    return num_bytes + (num_bytes >> block.SPARE_SHIFT) + block.MIN_SPARE


class _EncodeCall:
    """Arguments of the kernel for the records of one Arrow batch."""

    def __init__(
        self,
        record_columns: RecordsToEncode,
        fields: BatchFields,
        level: int | None,
        limit: int,
        *,
        is_estimated: bool,
    ) -> None:
        """*limit* is the most bytes of a batch's records; *is_estimated*: in the producer's estimate."""
        self._encode = batch_encoder()
        self._source = SourceColumns(BATCH, record_columns)
        self._num_rows = record_columns.num_rows
        self._codec, self._level = fields.codec, level
        self._header = _descriptor(fields)
        self.last_row = 0
        """Row after the last batch."""
        self.table = np.empty((PIECE_BATCHES, block.NUM_BATCH_NUMBERS), np.int64)
        options = self._options = np.zeros(block.NUM_OPTIONS, np.int64)
        options[block.SET_FIELDS] = sum(
            bit
            for name, bit in zip(OPTIONAL_FIELDS, SET_BITS, strict=True)
            if getattr(fields, name) is not None
        )
        options[block.MOST], options[block.IS_ESTIMATED] = limit, is_estimated
        options[block.OFFSETS] = self._source.offsets
        options[block.TIMESTAMPS] = self._source.timestamps
        self._is_compressed_here = (
            fields.codec != Codec.NONE and compressor(fields.codec, level) is None
        )

    def _prepare_compression(self, capacity: int) -> None:
        """Provide the compressor of this thread, and memory for *capacity* bytes of records.

        At each call, because a generator may go on in another thread.
        """
        chosen = compressor(self._codec, self._level)
        if chosen is not None:
            options = self._options
            options[block.CODEC], options[block.LEVEL] = self._codec, chosen.level
            options[block.FUNCTION], options[block.CONTEXT] = chosen.function, chosen.context
            self._header[0, BATCH.NAMES["codec"]] = self._codec
            memory = scratch("records to compress", capacity)
            options[block.SCRATCH] = address(memory)
            options[block.SCRATCH_END] = address(memory) + len(memory)

    def encode(
        self, first_row: int, to: int, capacity: int, most_batches: int = PIECE_BATCHES
    ) -> tuple[int, int]:
        """Encode batches from *first_row* on to address *to*; return their number and bytes.

        No batch: the capacity is too small for the first one. Raises InputError if it cannot be encoded.
        """
        self._prepare_compression(capacity)
        self._options[block.TO], self._options[block.END] = to, to + capacity
        _, num_bytes, num_batches, reason = self._encode(
            self._source.addresses,
            first_row,
            self._num_rows,
            self._header,
            self._options,
            self.table[:most_batches],
        )
        if num_batches == 0 and reason == UNWRITABLE:
            raise too_large(1)
        return num_batches, num_bytes

    def next_piece(self, first_row: int, capacity: int) -> EncodedBatches:
        """Return batches from *first_row* on, as many as *capacity* bytes hold, or one larger batch."""
        num_batches = 0
        while num_batches == 0:
            lease = MemoryLease(POOL, ENCODED, POOL.acquire(ENCODED, 1))
            memory = lease.memory
            if memory.sizes[0] < capacity:
                memory.grow(0, capacity, 0)
            to = int(memory.addresses[0])
            num_batches, num_bytes = self.encode(first_row, to, capacity)
            if num_batches == 0 and capacity > 2 * MAX_INT32:
                raise too_large(1)
            capacity *= 2
        data = memoryview(pa.foreign_buffer(to, num_bytes, base=lease))
        last_rows, sizes = (
            self.table[:num_batches, column].copy() for column in (block.LAST_ROW, block.SIZE)
        )
        self.last_row = int(last_rows[-1])
        if self._is_compressed_here:
            ends = np.cumsum(sizes)
            batches = [
                self.finished(data[end - size : end])
                for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)
            ]
            data, sizes = memoryview(b"".join(batches)), np.array(list(map(len, batches)), np.int64)
        return EncodedBatches(data, sizes, last_rows)

    def finished(self, batch: memoryview) -> bytes:
        """Return *batch*, compressed if the kernel could not do it."""
        if self._is_compressed_here:
            return recompress_batch(batch, self._codec, level=self._level)
        return bytes(batch)


def _descriptor(fields: BatchFields) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    """Return the header of a batch as a descriptor; the codec is 0."""
    numbers = [0] * BATCH.WIDTH
    for name, field in DESCRIPTOR_NAMES.items():
        numbers[BATCH.NAMES[name]] = getattr(fields, field) or 0
    return np.array([numbers], np.int64)


def _message_set(magic: int, record_columns: RecordsToEncode, timestamp_type: int) -> memoryview:
    """Return messages of *magic*, back to back, valid until this thread encodes again."""
    header = descriptor_table(1, MESSAGE.WIDTH)
    header[:] = 0
    header[0, MESSAGE.NAMES["magic"]] = magic
    header[0, MESSAGE.NAMES["timestamp_type"]] = timestamp_type
    output = scratch("encoded", _most_bytes(record_columns) + MESSAGE.SLACK)
    to = address(output)
    source = SourceColumns(MESSAGE, record_columns)
    row, end, reason = kernel(FORMATS[magic], "encode")(
        source.addresses, 0, record_columns.num_rows, header, 1 << 62, 0, to, to + len(output)
    )
    if reason == UNWRITABLE:
        raise InputError(
            f"a message of more than {MAX_INT32} bytes", "a message that fits its size"
        )
    assert reason != BUFFER_FULL and row == record_columns.num_rows
    return output[: end - to].data
