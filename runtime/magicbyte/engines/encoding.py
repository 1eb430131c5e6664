"""Values that encoders take and return, and the interface of an encoder.

Encoders write records, given as Arrow data, as v2 batches or as v0 and v1 messages. All encoders write the
same bytes, except where libraries of a codec compress differently.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import pyarrow as pa

from magicbyte.engines.entry_columns import Numbers
from magicbyte.errors import InputError
from magicbyte_formats.wire import CODEC_NAMES, RecordBatchHeader, TimestampType

OPTIONAL_FIELDS = ("base_offset", "last_offset_delta", "base_timestamp", "max_timestamp")
"""Fields of BatchFields that are derived from the records where they are None."""

NUMBER_BITS = {
    "last_offset_delta": 32,
    "leader_epoch": 32,
    "producer_epoch": 16,
    "base_sequence": 32,
}
"""Widths of the fields of BatchFields that have fewer than 64 bits, as signed numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFields:
    """Header fields of a v2 batch; its length, checksum and number of records are computed.

    Attributes:
        base_offset: Base offset. None: the first record's offset.
        last_offset_delta: Last offset, counted from the base offset. None: the last record's. Compaction
            keeps it where the last record is removed.
        leader_epoch: Partition leader epoch.
        codec: Number of the codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.
        timestamp_type: 0 CreateTime, 1 LogAppendTime.
        base_timestamp: Time in milliseconds that the records' are counted from. None: the first record's.
            With `has_delete_horizon` it is the delete horizon, and must be given.
        max_timestamp: Largest timestamp or append time, in milliseconds. None: the records' largest.
        producer_id: Producer id; -1 for none.
        producer_epoch: Producer epoch; -1 for none.
        base_sequence: Sequence of the first record; -1 for none.
    Raises:
        InputError: A number does not fit its field, or fields contradict each other.
    """

    base_offset: int | None = None
    last_offset_delta: int | None = None
    leader_epoch: int = 0
    codec: int = 0
    timestamp_type: int = 0
    is_transactional: bool = False
    is_control: bool = False
    has_delete_horizon: bool = False
    base_timestamp: int | None = None
    max_timestamp: int | None = None
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1

    def __post_init__(self) -> None:
        numbers = (*OPTIONAL_FIELDS, *NUMBER_BITS, "producer_id")
        for name in numbers:
            number, limit = getattr(self, name), 1 << NUMBER_BITS.get(name, 64) - 1
            if number is not None and not -limit <= number < limit:
                raise InputError(f"{name} {number}", f"{-limit} to {limit - 1}")
        if self.codec not in CODEC_NAMES:
            raise InputError(f"codec {self.codec}", f"0 to {max(CODEC_NAMES)}")
        if self.timestamp_type not in tuple(TimestampType):
            raise InputError(f"timestamp_type {self.timestamp_type}", "0 or 1")
        if self.has_delete_horizon and self.base_timestamp is None:
            raise InputError(
                "has_delete_horizon without base_timestamp", "the delete horizon in it"
            )

    @property
    def attributes(self) -> int:
        """The attributes of the batch as one number."""
        return (
            self.codec
            | self.timestamp_type << 3
            | self.is_transactional << 4
            | self.is_control << 5
            | self.has_delete_horizon << 6
        )

    def empty_batch(self) -> RecordBatchHeader:
        """Return the header of a batch without records, as compaction leaves it; its checksum is 0.

        Raises InputError if its offsets are not given: there is no record to derive them from.
        """
        if self.base_offset is None or self.last_offset_delta is None:
            raise InputError(
                "a batch without records", "base_offset and last_offset_delta of the batch"
            )
        # As Kafka's writeEmptyHeader does it: no codec, since a reader would look for compressed bytes, and
        # the maximum as the base timestamp, too.
        latest = -1 if self.max_timestamp is None else self.max_timestamp
        return RecordBatchHeader(
            base_offset=self.base_offset,
            len_batch=RecordBatchHeader.LENGTH.least,
            partition_leader_epoch=self.leader_epoch,
            magic=2,
            crc=0,
            attributes=self.attributes - self.codec,
            last_offset_delta=self.last_offset_delta,
            base_timestamp=latest if self.base_timestamp is None else self.base_timestamp,
            max_timestamp=latest,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=self.base_sequence,
            num_records=0,
        )


def check_bulk_fields(fields: BatchFields) -> None:
    """Raise InputError if *fields* has a value that differs from batch to batch."""
    for name in ("base_offset", "last_offset_delta", "base_timestamp"):
        if getattr(fields, name) is not None:
            raise InputError(f"{name} {getattr(fields, name)} for many batches", f"{name} None")


class EncodedBatches(NamedTuple):
    """Consecutive v2 batches, encoded back to back."""

    data: memoryview
    """Bytes of all batches."""
    sizes: Numbers
    """Bytes of each batch."""
    last_rows: Numbers
    """Row after the last one of each batch, as an index of the Arrow batch that was encoded."""


class Encoder(Protocol):
    """Encodes records: `reference` one at a time, in plain Python, `columnar` by kernels.

    Records are an Arrow batch with some of the columns `key` and `value` (bytes or text; null is a null key
    or value), `headers` (list of structs of `key` and `value`), `offset` (rising; default: consecutive
    from the base offset, or from 0) and `timestamp` (milliseconds, or a timestamp of Arrow; null is -1).
    """

    name: str

    def batch(
        self, fields: BatchFields, records: pa.RecordBatch, *, level: int | None = None
    ) -> bytes:
        """Return one v2 batch of all *records*; without records, the 61 bytes that compaction leaves.

        *level* is the codec's, as Kafka's `compression.gzip.level` and so on. Raises InputError if the
        records do not fit one batch.
        """

    def batches(
        self,
        records: pa.RecordBatch,
        fields: BatchFields,
        *,
        batch_bytes: int,
        level: int | None = None,
    ) -> Iterator[EncodedBatches]:
        """Yield v2 batches of all *records*, many at a time.

        A batch ends where Kafka's producer would end it with `batch.size` *batch_bytes*: before the record
        with which the header and the records, compressed at the ratio that a new producer expects, have
        more bytes; a larger record is a batch of its own. Base offset and timestamps of each batch
        come from its records, and its sequence continues the sequence of the batch before. So *fields* has none
        of `base_offset`, `last_offset_delta` and `base_timestamp`.
        """

    def messages(
        self,
        magic: int,
        records: pa.RecordBatch,
        *,
        codec: int = 0,
        timestamp_type: int = 0,
        level: int | None = None,
    ) -> bytes:
        """Return *records* as messages of *magic* 0 or 1; with a *codec*, as one wrapper message.

        Offsets in a wrapper are relative to the first one in magic 1, and absolute in magic 0. Headers
        are not written, nor timestamps in magic 0: these formats have none.
        """
