"""Encode records in batches of about one size: records of neighbouring entries go into the same batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.engines.encoding import BatchFields, Encoder
from magicbyte.engines.entry import SEQUENCES
from magicbyte.errors import InputError
from magicbyte.tables.arrays import to_numpy
from magicbyte.writing._output_parts import EntryBytes
from magicbyte_formats.wire import CODEC_NAMES

FLUSH_BYTES = 4 << 20
"""Bytes of records that are encoded together."""

ARROW_BATCH_OVERHEAD = 4096
"""Bytes of memory of an Arrow batch besides its content, about. Batches of a few records are joined while they wait."""

MESSAGE_OVERHEAD = 34
"""Bytes of a v1 message besides its key and value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFormat:
    """The format of the entries to encode."""

    magic: int
    codec: int
    level: int | None
    batch_bytes: int
    """Size of a batch or of a wrapper message, as the producer's `batch.size`."""


class RecordGroup:
    """Records with the same header fields, which are encoded when there are enough."""

    def __init__(self, encoder: Encoder, target_format: TargetFormat, fields: BatchFields) -> None:
        """*fields* belong to the first batch; its offsets and times come from the records."""
        self.fields = fields
        self._encoder, self._target_format = encoder, target_format
        self._waiting: list[pa.RecordBatch] = []
        self._num_bytes = 0

    def takes(self, fields: BatchFields, offset: int) -> bool:
        """Return whether records with *fields* from *offset* on can continue the group.

        Records with sequences continue it only without a gap in offsets and sequences, because the sequences of a
        batch are counted from its first one. Kafka 2.8 writes sequences into `__consumer_offsets` without a producer.
        """
        if replace(fields, base_sequence=-1) != replace(self.fields, base_sequence=-1):
            return False
        if self.fields.base_sequence < 0 or fields.base_sequence < 0:
            return self.fields.base_sequence == fields.base_sequence
        num_records = sum(rows.num_rows for rows in self._waiting)
        is_next = offset == self._next_offset
        return is_next and fields.base_sequence == _after(self.fields.base_sequence, num_records)

    @property
    def num_waiting_bytes(self) -> int:
        """Bytes of the records that are not encoded yet."""
        return self._num_bytes

    @property
    def _next_offset(self) -> int:
        return int(self._waiting[-1].column("offset")[-1].as_py()) + 1

    def add(self, rows: pa.RecordBatch) -> Iterator[EntryBytes]:
        """Add records, and yield batches that are full."""
        if not rows.num_rows:
            return
        self._waiting.append(rows)
        self._num_bytes += rows.nbytes
        if self._num_bytes >= max(FLUSH_BYTES, 2 * self._target_format.batch_bytes):
            yield from self._encode(is_last=False)
        elif len(self._waiting) >= max(8, self._num_bytes // ARROW_BATCH_OVERHEAD):
            self._waiting = [_joined(self._waiting)]

    def finish(self) -> Iterator[EntryBytes]:
        """Yield the batches of all other records."""
        if self._waiting:
            yield from self._encode(is_last=True)

    def _encode(self, *, is_last: bool) -> Iterator[EntryBytes]:
        """Encode the records that wait. Unless *is_last*, the last batch is not full and its records go on waiting."""
        rows = _joined(self._waiting)
        if self._target_format.magic < 2:
            yield from self._encode_messages(rows)
            rows = rows.slice(rows.num_rows)
        else:
            ends, first = [], 0
            for encoded in self._encoder.batches(
                rows,
                self.fields,
                batch_bytes=self._target_format.batch_bytes,
                level=self._target_format.level,
            ):
                ends.append(encoded)
            if is_last:
                first = rows.num_rows
                for encoded in ends:
                    yield EntryBytes(encoded.data)
            else:
                for number, encoded in enumerate(ends):
                    data, last_rows = encoded.data, encoded.last_rows
                    if number == len(ends) - 1:
                        data = data[: len(data) - int(encoded.sizes[-1])]
                        last_rows = last_rows[:-1]
                    if len(last_rows):
                        first = int(last_rows[-1])
                        yield EntryBytes(data)
            rows = rows.slice(first)
            if self.fields.base_sequence >= 0:
                sequence = _after(self.fields.base_sequence, first)
                self.fields = replace(self.fields, base_sequence=sequence)
        # A slice would hold the memory of all records that were encoded.
        self._waiting = [rows.take(pa.array(range(rows.num_rows)))] if rows.num_rows else []
        self._num_bytes = sum(waiting.nbytes for waiting in self._waiting)

    def _encode_messages(self, rows: pa.RecordBatch) -> Iterator[EntryBytes]:
        sizes = np.full(rows.num_rows, MESSAGE_OVERHEAD, np.int64)
        for name in ("key", "value"):
            sizes += to_numpy(pc.binary_length(rows.column(name)).fill_null(0))
        ends = np.cumsum(sizes)
        first = 0
        while first < rows.num_rows:
            limit = (int(ends[first - 1]) if first else 0) + self._target_format.batch_bytes
            end = max(int(np.searchsorted(ends, limit, "right")), first + 1)
            messages = self._encoder.messages(
                self._target_format.magic,
                rows.slice(first, end - first),
                codec=self._target_format.codec,
                timestamp_type=self.fields.timestamp_type if self._target_format.magic else 0,
                level=self._target_format.level,
            )
            yield EntryBytes(memoryview(messages))
            first = end


def codec_number(codec: str) -> int:
    """Return the number of the codec of that name. Raises InputError for an unknown one."""
    numbers = {name: number for number, name in CODEC_NAMES.items()}
    if codec not in numbers:
        raise InputError(f"codec {codec!r}", ", ".join(numbers))
    return numbers[codec]


def _after(sequence: int, num_records: int) -> int:
    return (sequence + num_records) % SEQUENCES


def _joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
