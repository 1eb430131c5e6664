# Generated from spec/*.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 232146531da3e2fa9eef5f46cb564151a6950b415a2f4240d320de3e4c90ff4e, kaitai-struct-compiler 0.11.0
"""Headers of fixed width, enums, and columns of the tables, generated from spec/.

Numbers are as stored; the docstrings say what a sentinel such as -1 stands for.
"""

import struct
from enum import IntEnum
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

from magicbyte_kernels.wire_types import ChecksumField, LengthField, WireColumn

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Codec(IntEnum):
    NONE = 0
    """The records are stored as they are."""
    GZIP = 1
    """RFC 1952; several members are read as one stream."""
    SNAPPY = 2
    """One raw snappy block, or, where the bytes begin with its magic, blocks
    in the framing of xerial's snappy-java.
    """
    LZ4 = 3
    """An LZ4 frame of independent blocks, with the right header checksum."""
    ZSTD = 4
    """Zstandard frames (RFC 8878); since Kafka 2.1 (KIP-110)."""


CODEC_NAMES: dict[int, str] = {
    0: "none",
    1: "gzip",
    2: "snappy",
    3: "lz4",
    4: "zstd",
}


class ControlType(IntEnum):
    ABORT = 0
    """A transaction marker: the producer's open transaction in this partition
    ends, and its records count for nothing.
    """
    COMMIT = 1
    """A transaction marker: the producer's open transaction in this partition
    ends, and its records count.
    """
    LEADER_CHANGE = 2
    """KRaft; the metadata quorum has a new leader."""
    SNAPSHOT_HEADER = 3
    """KRaft; a snapshot begins."""
    SNAPSHOT_FOOTER = 4
    """KRaft; a snapshot is complete."""
    KRAFT_VERSION = 5
    """KRaft; the version of its protocol."""
    KRAFT_VOTERS = 6
    """KRaft; the voters of the metadata quorum."""


CONTROL_TYPE_NAMES: dict[int, str] = {
    0: "ABORT",
    1: "COMMIT",
    2: "LEADER_CHANGE",
    3: "SNAPSHOT_HEADER",
    4: "SNAPSHOT_FOOTER",
    5: "KRAFT_VERSION",
    6: "KRAFT_VOTERS",
}


class TimestampType(IntEnum):
    CREATE_TIME = 0
    """The producer's clock, or a time that its application gave."""
    LOG_APPEND_TIME = 1
    """The broker's clock when it appended the batch: `max_timestamp`, for all
    records of the batch.
    """


TIMESTAMP_TYPE_NAMES: dict[int, str] = {
    0: "CreateTime",
    1: "LogAppendTime",
}


class _ControlKey(NamedTuple):
    version: int
    """Version of the key. Always written as 0; a reader takes a higher one
    as 0 and ignores what it does not know.
    """
    control_type: int
    """The kind of record. Readers skip a kind that they do not know."""


class ControlKey(_ControlKey):
    """The key of a control record."""

    __slots__ = ()

    SIZE: ClassVar[int] = 4
    """Bytes of the fields that every structure has."""
    POSITIONS: ClassVar[dict[str, int]] = {
        "version": 0,
        "control_type": 2,
    }
    """Bytes from the start of the structure to each field."""
    FIXED: ClassVar[struct.Struct] = struct.Struct(">hh")
    """Fields that every structure has, in order."""

    @classmethod
    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:
        """Return the header at *position*. Raises struct.error if the buffer is too short."""
        return cls._make(cls.FIXED.unpack_from(buffer, position))


class _TransactionMarker(NamedTuple):
    version: int
    """Version of the value. Always written as 0; a reader takes a higher
    one as 0 and ignores what it does not know.
    """
    coordinator_epoch: int
    """Epoch of the transaction coordinator that wrote the marker; a
    partition refuses a marker from an older one.
    """


class TransactionMarker(_TransactionMarker):
    """The value of a transaction marker, be it an abort or a commit."""

    __slots__ = ()

    SIZE: ClassVar[int] = 6
    """Bytes of the fields that every structure has."""
    POSITIONS: ClassVar[dict[str, int]] = {
        "version": 0,
        "coordinator_epoch": 2,
    }
    """Bytes from the start of the structure to each field."""
    FIXED: ClassVar[struct.Struct] = struct.Struct(">hi")
    """Fields that every structure has, in order."""

    @classmethod
    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:
        """Return the header at *position*. Raises struct.error if the buffer is too short."""
        return cls._make(cls.FIXED.unpack_from(buffer, position))


class _EntryHeader(NamedTuple):
    offset: int
    """Offset of the first record in v2, of the last one in v0 and v1. No
    checksum covers it.
    """
    size: int
    """Bytes of the entry after this number. Kafka accepts no entry with
    fewer than 14. No checksum covers it.
    """
    magic: int
    """Version of the format: 0 and 1 are messages, 2 is a record batch."""


class EntryHeader(_EntryHeader):
    """An entry of any format, or the end of the file behind the last one. Of
    `content`, `partial` and `zero_tail` exactly one is there.
    """

    __slots__ = ()

    SIZE: ClassVar[int] = 17
    """Bytes of the fields that every structure has."""
    POSITIONS: ClassVar[dict[str, int]] = {
        "offset": 0,
        "size": 8,
        "magic": 16,
    }
    """Bytes from the start of the structure to each field."""
    LENGTH: ClassVar[LengthField] = LengthField(field_position=8, start=12, least=14)
    FIXED: ClassVar[struct.Struct] = struct.Struct(">qi4xb")
    """Fields that every structure has, in order."""

    @classmethod
    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:
        """Return the header at *position*. Raises struct.error if the buffer is too short."""
        return cls._make(cls.FIXED.unpack_from(buffer, position))


class _MessageHeader(NamedTuple):
    offset: int
    """Offset of the message in its partition, of a wrapper that of the last
    message in it. Set by the broker; not covered by `crc`.
    """
    len_message: int
    """Bytes of the entry after this field; 14 of v0 and 22 of v1 where key and
    value are null or empty. Not covered by `crc`.
    """
    crc: int
    """CRC-32 (the one of zlib and Ethernet) of all bytes after this field,
    compressed as they are stored. Written by the producer, and again by
    a broker that changes what it covers.
    """
    magic: int
    """Version of the format, in the same place in all formats: 0 or 1.
    Covered by `crc`.
    """
    attributes: int
    """Bits that say how to read the message. Covered by `crc`."""
    timestamp: int | None
    """Milliseconds since the Unix epoch; -1 stands for none. From the
    producer, or from the broker where `attributes.timestamp_type` says
    so; of a wrapper, the largest of the messages in it. Covered by `crc`.
    """


class MessageHeader(_MessageHeader):
    """One entry of a message set, the storage format of Kafka before 0.11: v0 up to
    0.9, v1, which has a timestamp, in 0.10. Later releases still read them.

    If `attributes.codec` is not `none`, the message is a wrapper: its value is
    another message set, compressed as a whole. A specification cannot run the
    codecs; so decompress `value` and parse the result with `kafka_log`.

    The offsets inside a wrapper of v0 are absolute. Those inside a wrapper of v1
    are relative (0, 1, 2, ...), and that of the wrapper is the absolute offset
    of the last message: a message's own is `wrapper - last relative + relative`.
    If a wrapper of v1 has the append time, it is that of all messages in it.
    """

    __slots__ = ()

    SIZE: ClassVar[int] = 18
    """Bytes of the fields that every structure has."""
    POSITIONS: ClassVar[dict[str, int]] = {
        "offset": 0,
        "len_message": 8,
        "crc": 12,
        "magic": 16,
        "attributes": 17,
        "timestamp": 18,
    }
    """Bytes from the start of the structure to each field."""
    LENGTH: ClassVar[LengthField] = LengthField(field_position=8, start=12, least=14)
    CHECKSUM: ClassVar[ChecksumField] = ChecksumField(algorithm="crc32", field_position=12, start=16)
    FIXED: ClassVar[struct.Struct] = struct.Struct(">qiIbb")
    """Fields that every structure has, in order."""
    _TIMESTAMP: ClassVar[struct.Struct] = struct.Struct(">q")

    @classmethod
    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:
        """Return the header at *position*. Raises struct.error if the buffer is too short."""
        header = cls._make((*cls.FIXED.unpack_from(buffer, position), None))
        if header.magic >= 1:
            (timestamp,) = cls._TIMESTAMP.unpack_from(buffer, position + 18)
            header = header._replace(timestamp=timestamp)
        return header

    @property
    def codec(self) -> int:
        """How the value is compressed; 4 to 7 are an error."""
        return self.attributes & 0x7

    @property
    def timestamp_type(self) -> int:
        """Whose clock the timestamp is from. Of no meaning in v0, nor in the
        messages inside a wrapper, which follow the wrapper's.
        """
        return self.attributes >> 3 & 0x1

    @property
    def reserved(self) -> int:
        """Not in use; written as 0 and ignored."""
        return self.attributes >> 4 & 0xf


class _OffsetIndexEntry(NamedTuple):
    relative_offset: int
    """Last offset of the appended batches, counted from the base offset of
    the segment, which names the file.
    """
    ofs_batch: int
    """Position in the segment where the first of those batches starts, in
    bytes.
    """


class OffsetIndexEntry(_OffsetIndexEntry):
    """Where to begin reading for an offset: no batch before that position holds
    it or a higher one.
    """

    __slots__ = ()

    SIZE: ClassVar[int] = 8
    """Bytes of the fields that every structure has."""
    POSITIONS: ClassVar[dict[str, int]] = {
        "relative_offset": 0,
        "ofs_batch": 4,
    }
    """Bytes from the start of the structure to each field."""
    FIXED: ClassVar[struct.Struct] = struct.Struct(">ii")
    """Fields that every structure has, in order."""

    @classmethod
    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:
        """Return the header at *position*. Raises struct.error if the buffer is too short."""
        return cls._make(cls.FIXED.unpack_from(buffer, position))


class _ProducerSnapshotHeader(NamedTuple):
    version: int
    """Version of the file; always 1. Not covered by `crc`."""
    crc: int
    """CRC-32C (Castagnoli) of all bytes after this field."""
    num_producers: int
    """Producers that follow. Covered by `crc`."""


class ProducerSnapshotHeader(_ProducerSnapshotHeader):
    """What a broker knows of the idempotent and transactional producers of a
    partition just before the offset that names the file. It is written when a
    segment is full and at a clean stop; since 0.11 (KIP-98).

    It is the only file that says which transactions are open at an offset.
    """

    __slots__ = ()

    SIZE: ClassVar[int] = 10
    """Bytes of the fields that every structure has."""
    POSITIONS: ClassVar[dict[str, int]] = {
        "version": 0,
        "crc": 2,
        "num_producers": 6,
    }
    """Bytes from the start of the structure to each field."""
    CHECKSUM: ClassVar[ChecksumField] = ChecksumField(algorithm="crc32c", field_position=2, start=6)
    FIXED: ClassVar[struct.Struct] = struct.Struct(">hIi")
    """Fields that every structure has, in order."""

    @classmethod
    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:
        """Return the header at *position*. Raises struct.error if the buffer is too short."""
        return cls._make(cls.FIXED.unpack_from(buffer, position))


class _ProducerSnapshotEntry(NamedTuple):
    producer_id: int
    """Number of the producer, given out by the cluster. Covered by `crc`."""
    epoch: int
    """Its newest epoch that was seen. Covered by `crc`."""
    last_sequence: int
    """Sequence number of the last record of its last batch; -1 stands for
    none. Covered by `crc`.
    """
    last_offset: int
    """Offset of that record; -1 stands for none, as where only a marker was
    seen. Covered by `crc`.
    """
    offset_delta: int
    """Offsets and sequence numbers from the first record of its last batch
    to the last. Covered by `crc`.
    """
    timestamp: int
    """Largest timestamp of its last batch or marker, in milliseconds since
    the Unix epoch; -1 stands for none. Covered by `crc`.
    """
    coordinator_epoch: int
    """Epoch of the transaction coordinator that wrote its last marker; -1
    stands for none. Covered by `crc`.
    """
    current_transaction_first_offset: int
    """First offset of its open transaction; -1 where it has none. Covered by
    `crc`.
    """


class ProducerSnapshotEntry(_ProducerSnapshotEntry):
    """A producer, with its last batch in this partition."""

    __slots__ = ()

    SIZE: ClassVar[int] = 46
    """Bytes of the fields that every structure has."""
    POSITIONS: ClassVar[dict[str, int]] = {
        "producer_id": 0,
        "epoch": 8,
        "last_sequence": 10,
        "last_offset": 14,
        "offset_delta": 22,
        "timestamp": 26,
        "coordinator_epoch": 34,
        "current_transaction_first_offset": 38,
    }
    """Bytes from the start of the structure to each field."""
    FIXED: ClassVar[struct.Struct] = struct.Struct(">qhiqiqiq")
    """Fields that every structure has, in order."""

    @classmethod
    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:
        """Return the header at *position*. Raises struct.error if the buffer is too short."""
        return cls._make(cls.FIXED.unpack_from(buffer, position))


class _RecordBatchHeader(NamedTuple):
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
    attributes: int
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


class RecordBatchHeader(_RecordBatchHeader):
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

    __slots__ = ()

    SIZE: ClassVar[int] = 61
    """Bytes of the fields that every structure has."""
    POSITIONS: ClassVar[dict[str, int]] = {
        "base_offset": 0,
        "len_batch": 8,
        "partition_leader_epoch": 12,
        "magic": 16,
        "crc": 17,
        "attributes": 21,
        "last_offset_delta": 23,
        "base_timestamp": 27,
        "max_timestamp": 35,
        "producer_id": 43,
        "producer_epoch": 51,
        "base_sequence": 53,
        "num_records": 57,
    }
    """Bytes from the start of the structure to each field."""
    LENGTH: ClassVar[LengthField] = LengthField(field_position=8, start=12, least=49)
    CHECKSUM: ClassVar[ChecksumField] = ChecksumField(algorithm="crc32c", field_position=17, start=21)
    FIXED: ClassVar[struct.Struct] = struct.Struct(">qiibIhiqqqhii")
    """Fields that every structure has, in order."""

    @classmethod
    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:
        """Return the header at *position*. Raises struct.error if the buffer is too short."""
        return cls._make(cls.FIXED.unpack_from(buffer, position))

    @property
    def codec(self) -> int:
        """How the records are compressed; 5 to 7 are an error."""
        return self.attributes & 0x7

    @property
    def timestamp_type(self) -> int:
        """Whose clock the timestamps of the records are from."""
        return self.attributes >> 3 & 0x1

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction, as data or as its marker."""
        return bool(self.attributes & 0x10)

    @property
    def is_control(self) -> bool:
        """Whether the batch holds control records, which consumers skip: the
        marker that ends a transaction, or those of KRaft.
        """
        return bool(self.attributes & 0x20)

    @property
    def has_delete_horizon(self) -> bool:
        """Whether `base_timestamp` is the time from which the log cleaner may
        remove the tombstones or markers in the batch (KIP-534, since 3.1). It
        stays when they are gone.
        """
        return bool(self.attributes & 0x40)

    @property
    def reserved(self) -> int:
        """Not in use; written as 0 and ignored."""
        return self.attributes >> 7 & 0x1ff


class _TimeIndexEntry(NamedTuple):
    timestamp: int
    """Largest timestamp so far, in milliseconds since the Unix epoch."""
    relative_offset: int
    """Last offset of the batch that holds it, or, from older releases, the
    offset of the record itself; counted from the base offset of the
    segment, which names the file.
    """


class TimeIndexEntry(_TimeIndexEntry):
    """The newest record up to here: none with a lower or the same offset has a
    later timestamp.
    """

    __slots__ = ()

    SIZE: ClassVar[int] = 12
    """Bytes of the fields that every structure has."""
    POSITIONS: ClassVar[dict[str, int]] = {
        "timestamp": 0,
        "relative_offset": 8,
    }
    """Bytes from the start of the structure to each field."""
    FIXED: ClassVar[struct.Struct] = struct.Struct(">qi")
    """Fields that every structure has, in order."""

    @classmethod
    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:
        """Return the header at *position*. Raises struct.error if the buffer is too short."""
        return cls._make(cls.FIXED.unpack_from(buffer, position))


class _AbortedTransaction(NamedTuple):
    version: int
    """Version of the entry; always 0."""
    producer_id: int
    """Number of the producer whose transaction it was."""
    first_offset: int
    """Offset of the transaction's first record in the partition, which may
    lie in an earlier segment.
    """
    last_offset: int
    """Offset of the abort marker, which lies in this segment."""
    last_stable_offset: int
    """First offset of the oldest other transaction that was open when the
    marker was written, or else the offset after the marker. The
    transactions of later entries begin there or higher, which tells a
    search when it may stop.
    """


class AbortedTransaction(_AbortedTransaction):
    """An aborted transaction, in so far as it touched this partition."""

    __slots__ = ()

    SIZE: ClassVar[int] = 34
    """Bytes of the fields that every structure has."""
    POSITIONS: ClassVar[dict[str, int]] = {
        "version": 0,
        "producer_id": 2,
        "first_offset": 10,
        "last_offset": 18,
        "last_stable_offset": 26,
    }
    """Bytes from the start of the structure to each field."""
    FIXED: ClassVar[struct.Struct] = struct.Struct(">hqqqq")
    """Fields that every structure has, in order."""

    @classmethod
    def unpack_from(cls, buffer: "ReadableBuffer", position: int = 0) -> Self:
        """Return the header at *position*. Raises struct.error if the buffer is too short."""
        return cls._make(cls.FIXED.unpack_from(buffer, position))


COLUMNS: dict[str, tuple[WireColumn, ...]] = {
    "aborted_transactions": (
        WireColumn(
            name="version",
            type="int16",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="Version of the entry; always 0.",
            source="kafka_transaction_index/aborted_transaction/version",
        ),
        WireColumn(
            name="producer_id",
            type="int64",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="Number of the producer whose transaction it was.",
            source="kafka_transaction_index/aborted_transaction/producer_id",
        ),
        WireColumn(
            name="first_offset",
            type="int64",
            nullable=False,
            sentinel=None,
            unit=None,
            doc=(
                "Offset of the transaction's first record in the partition, which may lie in "
                "an earlier segment."
            ),
            source="kafka_transaction_index/aborted_transaction/first_offset",
        ),
        WireColumn(
            name="last_offset",
            type="int64",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="Offset of the abort marker, which lies in this segment.",
            source="kafka_transaction_index/aborted_transaction/last_offset",
        ),
        WireColumn(
            name="last_stable_offset",
            type="int64",
            nullable=False,
            sentinel=None,
            unit=None,
            doc=(
                "First offset of the oldest other transaction that was open when the marker "
                "was written, or else the offset after the marker. The transactions of later "
                "entries begin there or higher, which tells a search when it may stop."
            ),
            source="kafka_transaction_index/aborted_transaction/last_stable_offset",
        ),
    ),
    "batches": (
        WireColumn(
            name="base_offset",
            type="int64",
            nullable=True,
            sentinel=None,
            unit=None,
            doc=(
                "Offset of the first record, kept when that record is removed. Producers "
                "write 0, the leader sets it; not covered by `crc`."
            ),
            source="kafka_record_batch/base_offset, kafka_message/-derived/base_offset",
        ),
        WireColumn(
            name="leader_epoch",
            type="int32",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc=(
                "Epoch of the leader that appended the batch; -1 stands for none, which is "
                "what producers write. Set by the leader; not covered by `crc`."
            ),
            source="kafka_record_batch/partition_leader_epoch",
        ),
        WireColumn(
            name="magic",
            type="int8",
            nullable=False,
            sentinel=None,
            unit=None,
            doc=(
                "Version of the format, in the same place in all formats: 2. Not covered by "
                "`crc`."
            ),
            source="kafka_record_batch/magic, kafka_message/message_body/magic",
        ),
        WireColumn(
            name="crc",
            type="int64",
            nullable=False,
            sentinel=None,
            unit=None,
            doc=(
                "CRC-32C (Castagnoli) of all bytes after this field, compressed as they are "
                "stored. Written by the producer, and again by a broker that changes what it "
                "covers."
            ),
            source="kafka_record_batch/crc, kafka_message/message_body/crc",
        ),
        WireColumn(
            name="is_control",
            type="bool",
            nullable=False,
            sentinel=None,
            unit=None,
            doc=(
                "Whether the batch holds control records, which consumers skip: the marker "
                "that ends a transaction, or those of KRaft."
            ),
            source=(
                "kafka_record_batch/batch_attributes/is_control, "
                "kafka_message/-derived/is_control"
            ),
        ),
        WireColumn(
            name="is_transactional",
            type="bool",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="Whether the batch belongs to a transaction, as data or as its marker.",
            source=(
                "kafka_record_batch/batch_attributes/is_transactional, "
                "kafka_message/-derived/is_transactional"
            ),
        ),
        WireColumn(
            name="timestamp_type",
            type="string",
            nullable=True,
            sentinel=None,
            unit=None,
            doc="Whose clock the timestamps of the records are from.",
            source=(
                "kafka_record_batch/batch_attributes/timestamp_type, "
                "kafka_message/message_attributes/timestamp_type"
            ),
        ),
        WireColumn(
            name="codec",
            type="string",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="How the records are compressed; 5 to 7 are an error.",
            source=(
                "kafka_record_batch/batch_attributes/codec, "
                "kafka_message/message_attributes/codec"
            ),
        ),
        WireColumn(
            name="base_timestamp",
            type="timestamp[ms, tz=UTC]",
            nullable=True,
            sentinel=-1,
            unit="ms",
            doc=(
                "What the records' `timestamp_delta` is counted from, in milliseconds since "
                "the Unix epoch: the producer's time of the first record, or, where "
                "`attributes.has_delete_horizon` is set, the delete horizon. -1 stands for "
                "none. Covered by `crc`."
            ),
            source="kafka_record_batch/base_timestamp",
        ),
        WireColumn(
            name="max_timestamp",
            type="timestamp[ms, tz=UTC]",
            nullable=True,
            sentinel=-1,
            unit="ms",
            doc=(
                "Largest timestamp of the records, in milliseconds since the Unix epoch, or "
                "the broker's clock at the append where `attributes.timestamp_type` says so; "
                "-1 stands for none. Kept when records are removed. Covered by `crc`."
            ),
            source="kafka_record_batch/max_timestamp, kafka_message/-derived/max_timestamp",
        ),
        WireColumn(
            name="producer_id",
            type="int64",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc=(
                "Number of the idempotent or transactional producer, given out by the "
                "cluster; -1 stands for none. Covered by `crc`."
            ),
            source="kafka_record_batch/producer_id",
        ),
        WireColumn(
            name="producer_epoch",
            type="int16",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc=(
                "Which incarnation of the producer wrote the batch; -1 stands for none. A "
                "marker may have one more than the data that it ends. Covered by `crc`."
            ),
            source="kafka_record_batch/producer_epoch",
        ),
        WireColumn(
            name="base_sequence",
            type="int32",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc=(
                "Number that the producer gave the first record, to detect duplicates and "
                "losses; 0 follows on 2147483647. -1 stands for none, as in all control "
                "batches. Covered by `crc`."
            ),
            source="kafka_record_batch/base_sequence",
        ),
        WireColumn(
            name="record_count",
            type="int32",
            nullable=True,
            sentinel=None,
            unit=None,
            doc=(
                "Records in the batch; 0 where the log cleaner emptied it but had to keep "
                "its header. Covered by `crc`."
            ),
            source="kafka_record_batch/num_records, kafka_message/-derived/record_count",
        ),
        WireColumn(
            name="size_bytes",
            type="int32",
            nullable=False,
            sentinel=None,
            unit="bytes",
            doc="Bytes of the whole entry, its offset and its length included.",
            source="kafka_record_batch/-derived/size_bytes, kafka_message/-derived/size_bytes",
        ),
        WireColumn(
            name="last_offset",
            type="int64",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="Offset of the last record, kept when that record is removed.",
            source="kafka_record_batch/-derived/last_offset, kafka_message/-derived/last_offset",
        ),
        WireColumn(
            name="delete_horizon",
            type="timestamp[ms, tz=UTC]",
            nullable=True,
            sentinel=None,
            unit="ms",
            doc=(
                "Time from which the log cleaner may remove the tombstones or markers of the "
                "batch; null where it has not set one."
            ),
            source="kafka_record_batch/-derived/delete_horizon",
        ),
    ),
    "offset_index": (
        WireColumn(
            name="relative_offset",
            type="int32",
            nullable=False,
            sentinel=None,
            unit=None,
            doc=(
                "Last offset of the appended batches, counted from the base offset of the "
                "segment, which names the file."
            ),
            source="kafka_offset_index/entry/relative_offset",
        ),
        WireColumn(
            name="ofs_batch",
            type="int32",
            nullable=False,
            sentinel=None,
            unit="bytes",
            doc="Position in the segment where the first of those batches starts, in bytes.",
            source="kafka_offset_index/entry/ofs_batch",
        ),
    ),
    "producers": (
        WireColumn(
            name="producer_id",
            type="int64",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="Number of the producer, given out by the cluster. Covered by `crc`.",
            source="kafka_producer_snapshot/producer/producer_id",
        ),
        WireColumn(
            name="epoch",
            type="int16",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="Its newest epoch that was seen. Covered by `crc`.",
            source="kafka_producer_snapshot/producer/epoch",
        ),
        WireColumn(
            name="last_sequence",
            type="int32",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc=(
                "Sequence number of the last record of its last batch; -1 stands for none. "
                "Covered by `crc`."
            ),
            source="kafka_producer_snapshot/producer/last_sequence",
        ),
        WireColumn(
            name="last_offset",
            type="int64",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc=(
                "Offset of that record; -1 stands for none, as where only a marker was seen. "
                "Covered by `crc`."
            ),
            source="kafka_producer_snapshot/producer/last_offset",
        ),
        WireColumn(
            name="offset_delta",
            type="int32",
            nullable=False,
            sentinel=None,
            unit=None,
            doc=(
                "Offsets and sequence numbers from the first record of its last batch to the "
                "last. Covered by `crc`."
            ),
            source="kafka_producer_snapshot/producer/offset_delta",
        ),
        WireColumn(
            name="timestamp",
            type="timestamp[ms, tz=UTC]",
            nullable=True,
            sentinel=-1,
            unit="ms",
            doc=(
                "Largest timestamp of its last batch or marker, in milliseconds since the "
                "Unix epoch; -1 stands for none. Covered by `crc`."
            ),
            source="kafka_producer_snapshot/producer/timestamp",
        ),
        WireColumn(
            name="coordinator_epoch",
            type="int32",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc=(
                "Epoch of the transaction coordinator that wrote its last marker; -1 stands "
                "for none. Covered by `crc`."
            ),
            source="kafka_producer_snapshot/producer/coordinator_epoch",
        ),
        WireColumn(
            name="current_transaction_first_offset",
            type="int64",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc=(
                "First offset of its open transaction; -1 where it has none. Covered by "
                "`crc`."
            ),
            source="kafka_producer_snapshot/producer/current_transaction_first_offset",
        ),
    ),
    "records": (
        WireColumn(
            name="offset",
            type="int64",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="Offset of the record in its partition.",
            source=(
                "kafka_record_batch/record_list/records/-derived/offset, "
                "kafka_message/-derived/offset"
            ),
        ),
        WireColumn(
            name="timestamp",
            type="timestamp[ms, tz=UTC]",
            nullable=True,
            sentinel=-1,
            unit="ms",
            doc=(
                "When the record was made, or appended where the timestamp type says so; "
                "null where the producer gave no time."
            ),
            source=(
                "kafka_record_batch/record_list/records/-derived/timestamp, "
                "kafka_message/message_body/timestamp"
            ),
        ),
        WireColumn(
            name="timestamp_type",
            type="string",
            nullable=True,
            sentinel=None,
            unit=None,
            doc="Whose clock the timestamp is from; null in v0, which has none.",
            source=(
                "kafka_record_batch/record_list/records/-derived/timestamp_type, "
                "kafka_message/-derived/timestamp_type"
            ),
        ),
        WireColumn(
            name="leader_epoch",
            type="int32",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc="Epoch of the leader that appended the record.",
            source="kafka_record_batch/record_list/records/-derived/leader_epoch",
        ),
        WireColumn(
            name="producer_id",
            type="int64",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc="Number of the idempotent or transactional producer.",
            source="kafka_record_batch/record_list/records/-derived/producer_id",
        ),
        WireColumn(
            name="producer_epoch",
            type="int16",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc="Which incarnation of the producer wrote the record.",
            source="kafka_record_batch/record_list/records/-derived/producer_epoch",
        ),
        WireColumn(
            name="sequence",
            type="int32",
            nullable=True,
            sentinel=-1,
            unit=None,
            doc="Number that the producer gave the record; 0 follows on 2147483647.",
            source="kafka_record_batch/record_list/records/-derived/sequence",
        ),
        WireColumn(
            name="is_transactional",
            type="bool",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="Whether the record belongs to a transaction.",
            source=(
                "kafka_record_batch/record_list/records/-derived/is_transactional, "
                "kafka_message/-derived/is_transactional"
            ),
        ),
        WireColumn(
            name="codec",
            type="string",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="How the record was compressed, together with those around it.",
            source=(
                "kafka_record_batch/record_list/records/-derived/codec, "
                "kafka_message/-derived/codec"
            ),
        ),
        WireColumn(
            name="magic",
            type="int8",
            nullable=False,
            sentinel=None,
            unit=None,
            doc="Version of the format that the record is stored in.",
            source=(
                "kafka_record_batch/record_list/records/-derived/magic, "
                "kafka_message/-derived/magic"
            ),
        ),
        WireColumn(
            name="key",
            type="binary",
            nullable=True,
            sentinel=None,
            unit=None,
            doc=(
                "The key, as the producer serialized it; in a control batch what "
                "`control_record` takes apart. Null where `len_key` is negative."
            ),
            source="kafka_record/record_body/key, kafka_message/message_body/key",
        ),
        WireColumn(
            name="value",
            type="binary",
            nullable=True,
            sentinel=None,
            unit=None,
            doc=(
                "The value, as the producer serialized it. Null where `len_value` is "
                "negative: such a record is a tombstone, which deletes its key from a "
                "compacted topic."
            ),
            source="kafka_record/record_body/value, kafka_message/message_body/value",
        ),
        WireColumn(
            name="headers",
            type="list<struct<key: string, value: binary>>",
            nullable=True,
            sentinel=None,
            unit=None,
            doc=(
                "What the producer says about the record, in the producer's order; keys may "
                "repeat."
            ),
            source="kafka_record/record_body/headers",
        ),
    ),
    "time_index": (
        WireColumn(
            name="timestamp",
            type="timestamp[ms, tz=UTC]",
            nullable=False,
            sentinel=None,
            unit="ms",
            doc="Largest timestamp so far, in milliseconds since the Unix epoch.",
            source="kafka_time_index/entry/timestamp",
        ),
        WireColumn(
            name="relative_offset",
            type="int32",
            nullable=False,
            sentinel=None,
            unit=None,
            doc=(
                "Last offset of the batch that holds it, or, from older releases, the offset "
                "of the record itself; counted from the base offset of the segment, which "
                "names the file."
            ),
            source="kafka_time_index/entry/relative_offset",
        ),
    ),
}
