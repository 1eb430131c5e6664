# Generated from spec/kafka_record_batch.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 03ca42287501d997311624dd6ef5313e86534e1d7f6a51e5e40c392e7852195d, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_record import KafkaRecord

class KafkaRecordBatch(KaitaiStruct):
    """The unit of storage, replication, compression and transactions of Kafka 0.11
    and later, used alike on disk, in produce requests and in fetch responses.

    A header of 61 bytes is followed by the records, which are compressed as a
    whole if `attributes.codec` names a codec. The checksum covers all bytes from
    `attributes` to the end of the batch, as they are stored; what lies before
    it, the broker may set without a new one.

    The log cleaner removes records from a batch but keeps `base_offset`,
    `last_offset_delta` and the producer's fields. So neither the first nor the
    last offset need belong to a record, and `num_records` may be 0.

    What no specification of a batch can say: whether its transaction was
    aborted. The marker that decides comes later in the log.
    """
    class Codecs(IntEnum):
        none = 0
        """The records are stored as they are."""
        gzip = 1
        """RFC 1952; several members are read as one stream."""
        snappy = 2
        """One raw snappy block, or, where the bytes begin with its magic, blocks
        in the framing of xerial's snappy-java.
        """
        lz4 = 3
        """An LZ4 frame of independent blocks, with the right header checksum."""
        zstd = 4
        """Zstandard frames (RFC 8878); since Kafka 2.1 (KIP-110)."""
    class TimestampTypes(IntEnum):
        create_time = 0
        """The producer's clock, or a time that its application gave."""
        log_append_time = 1
        """The broker's clock when it appended the batch: `max_timestamp`, for all
        records of the batch.
        """
    class BatchAttributes(KaitaiStruct):
        """Two bytes of bits, written by the producer; the broker sets the timestamp
        type and the log cleaner the delete horizon. Kafka's reader looks at the
        lower byte alone.
        """
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        reserved: int
        """Not in use; written as 0 and ignored."""
        has_delete_horizon: bool
        """Whether `base_timestamp` is the time from which the log cleaner may
        remove the tombstones or markers in the batch (KIP-534, since 3.1). It
        stays when they are gone.
        """
        is_control: bool
        """Whether the batch holds control records, which consumers skip: the
        marker that ends a transaction, or those of KRaft.
        """
        is_transactional: bool
        """Whether the batch belongs to a transaction, as data or as its marker."""
        timestamp_type: KafkaRecordBatch.TimestampTypes | int
        """Whose clock the timestamps of the records are from."""
        codec: KafkaRecordBatch.Codecs | int
        """How the records are compressed; 5 to 7 are an error."""
    class RecordList(KaitaiStruct):
        """The records of an uncompressed batch."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        records: list[KafkaRecord]
        """The records, in the order of their offsets."""
        ignored: bytes | None
        """Bytes in a batch of no records, at which Kafka's reader does not look
        and which no broker writes. Covered by `crc`.
        """
        unexpected: int | None
        """A byte that must not be, as no value lies within both limits: a parser
        comes here where bytes follow the last record, and stops. Always null.
        """
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaRecordBatch
    base_offset: int
    """Offset of the first record, kept when that record is removed. Producers
    write 0, the leader sets it; not covered by `crc`.
    """
    len_batch: int
    """Bytes of the batch after this field; 49 where it holds no records. Not
    covered by `crc`.
    """
    partition_leader_epoch: int
    """Epoch of the leader that appended the batch; -1 stands for none, which
    is what producers write. Set by the leader; not covered by `crc`.
    """
    magic: int
    """Version of the format, in the same place in all formats: 2. Not covered
    by `crc`.
    """
    crc: int
    """CRC-32C (Castagnoli) of all bytes after this field, compressed as they
    are stored. Written by the producer, and again by a broker that changes
    what it covers.
    """
    attributes: KafkaRecordBatch.BatchAttributes
    """Bits that say how to read the batch. Covered by `crc`."""
    last_offset_delta: int
    """Offset of the last record, counted from `base_offset`; kept when that
    record is removed. Covered by `crc`.
    """
    base_timestamp: int
    """What the records' `timestamp_delta` is counted from, in milliseconds since
    the Unix epoch: the producer's time of the first record, or, where
    `attributes.has_delete_horizon` is set, the delete horizon. -1 stands for
    none. Covered by `crc`.
    """
    max_timestamp: int
    """Largest timestamp of the records, in milliseconds since the Unix epoch, or
    the broker's clock at the append where `attributes.timestamp_type` says
    so; -1 stands for none. Kept when records are removed. Covered by `crc`.
    """
    producer_id: int
    """Number of the idempotent or transactional producer, given out by the
    cluster; -1 stands for none. Covered by `crc`.
    """
    producer_epoch: int
    """Which incarnation of the producer wrote the batch; -1 stands for none. A
    marker may have one more than the data that it ends. Covered by `crc`.
    """
    base_sequence: int
    """Number that the producer gave the first record, to detect duplicates and
    losses; 0 follows on 2147483647. -1 stands for none, as in all control
    batches. Covered by `crc`.
    """
    num_records: int
    """Records in the batch; 0 where the log cleaner emptied it but had to keep
    its header. Covered by `crc`.
    """
    payload: KafkaRecordBatch.RecordList | None
    """The records, where they are not compressed. Covered by `crc`."""
    compressed_payload: bytes | None
    """The records, where they are compressed; what comes out of the codec is
    what `kafka_records` describes. Covered by `crc`, as compressed.
    """
    @property
    def last_offset(self) -> int:
        """Offset of the last record, kept when that record is removed."""
