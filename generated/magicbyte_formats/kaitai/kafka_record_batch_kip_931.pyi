# Generated from spec/kafka_record_batch_kip_931.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 502f4e56be8f448efa396bb0d14defd950d8d8267b58ec18c7f7a2f7a5b410dc, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_varint import KafkaVarint
from .kafka_varlong import KafkaVarlong

class KafkaRecordBatchKip931(KaitaiStruct):
    """A proposal that was discarded. No broker and no client of Apache Kafka ever
    wrote a batch like this one or reads it; to Kafka, a batch of magic 3 is an
    error, and so it is in `kafka_log`. It is described for those who study how
    the format could have gone on.

    KIP-931 wanted to save bytes: records without their attributes, and three of
    the header's numbers as varints at its end. Where it does not say what it
    changes, this is v2, with that format's names. Its list of fields leaves out
    the count of the records, without which they cannot be read; it stands here
    where v2 has it, before the fields of variable length.
    """
    class Codecs(IntEnum):
        none = 0
        """The records are stored as they are."""
        gzip = 1
        """As in v2."""
        snappy = 2
        """As in v2."""
        lz4 = 3
        """As in v2."""
        zstd = 4
        """As in v2."""
    class TimestampTypes(IntEnum):
        create_time = 0
        """The producer's clock, or a time that its application gave."""
        log_append_time = 1
        """The broker's clock when it appended the batch."""
    class BatchAttributes(KaitaiStruct):
        """Two bytes of bits, as in v2 but for `ignores_message_attributes`."""
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
        ignores_message_attributes: bool
        """Whether the records have no `attributes`; what writers were to set by
        default.
        """
        has_delete_horizon: bool
        """Whether `base_timestamp` is the time from which the log cleaner may
        remove the tombstones or markers in the batch.
        """
        is_control: bool
        """Whether the batch holds control records, which consumers skip."""
        is_transactional: bool
        """Whether the batch belongs to a transaction, as data or as its marker."""
        timestamp_type: KafkaRecordBatchKip931.TimestampTypes | int
        """Whose clock the timestamps of the records are from."""
        codec: KafkaRecordBatchKip931.Codecs | int
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
        records: list[KafkaRecordBatchKip931.Record]
        """The records, in the order of their offsets."""
        unexpected: int | None
        """A byte that must not be, as no value lies within both limits: a parser
        comes here where bytes follow the last record, and stops. Always null.
        """
    class Record(KaitaiStruct):
        """A record, as in v2 but for the attributes."""
        def __init__(self, has_attributes: bool, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        _parent: Any
        _root: Any
        has_attributes: bool
        """Whether the record has the byte that v2 does not use."""
        len_body: KafkaVarint
        """Bytes of the record after this field, all of which its fields must
        use.
        """
        body: KafkaRecordBatchKip931.RecordBody
        """The record without its length."""
    class RecordBody(KaitaiStruct):
        """Everything in a record but its length."""
        def __init__(self, has_attributes: bool, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        _parent: Any
        _root: Any
        has_attributes: bool
        """Whether the record has the byte that v2 does not use."""
        attributes: int | None
        """No bit is in use. Null where the batch has
        `ignores_message_attributes`.
        """
        timestamp_delta: KafkaVarlong
        """Milliseconds to be added to the batch's `base_timestamp`."""
        offset_delta: KafkaVarint
        """To be added to the batch's `base_offset`."""
        len_key: KafkaVarint
        """Bytes in `key`; -1 where the record has none."""
        key: bytes | None
        """The key. Null where `len_key` is negative."""
        len_value: KafkaVarint
        """Bytes in `value`; -1 where the record has none."""
        value: bytes | None
        """The value. Null where `len_value` is negative."""
        num_headers: KafkaVarint
        """Headers that follow; a negative number is an error."""
        headers: list[KafkaRecordBatchKip931.Header]
        """What the producer says about the record, in the producer's order."""
        unexpected: int | None
        """A byte that must not be, as no value lies within both limits: a parser
        comes here where the count of headers is negative or bytes follow the
        last header, and stops. Always null.
        """
    class Header(KaitaiStruct):
        """A header of a record."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        len_key: KafkaVarint
        """Bytes in `key`; never negative."""
        key: bytes
        """The name of the header, which may be empty; meant to be UTF-8."""
        len_value: KafkaVarint
        """Bytes in `value`; -1 where the header has none."""
        value: bytes | None
        """What the header says. Null where `len_value` is negative."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaRecordBatchKip931
    base_offset: int
    """Offset of the first record, kept when that record is removed. Not covered
    by `crc`.
    """
    len_batch: int
    """Bytes of the batch after this field; 32 where it holds no records and
    each varint takes one byte. Not covered by `crc`.
    """
    partition_leader_epoch: int
    """Epoch of the leader that appends the batch; -1 stands for none. Not
    covered by `crc`.
    """
    magic: int
    """Version of the format, in the same place in all formats: 3. Not covered
    by `crc`.
    """
    crc: int
    """CRC-32C (Castagnoli) of all bytes after this field, compressed as they
    are stored.
    """
    attributes: KafkaRecordBatchKip931.BatchAttributes
    """Bits that say how to read the batch. Covered by `crc`."""
    producer_id: int
    """Number of the idempotent or transactional producer; -1 stands for none.
    Covered by `crc`.
    """
    producer_epoch: int
    """Which incarnation of the producer wrote the batch; -1 stands for none.
    Covered by `crc`.
    """
    base_sequence: int
    """Number that the producer gave the first record; -1 stands for none.
    Covered by `crc`.
    """
    num_records: int
    """Records in the batch. Covered by `crc`."""
    last_offset_delta: KafkaVarint
    """Offset of the last record, counted from `base_offset`; 4 bytes in v2.
    Covered by `crc`.
    """
    base_timestamp: KafkaVarlong
    """What the records' `timestamp_delta` is counted from, in milliseconds since
    the Unix epoch; -1 stands for none. 8 bytes in v2. Covered by `crc`.
    """
    max_timestamp_delta: KafkaVarint
    """Milliseconds to be added to `base_timestamp` for the largest timestamp of
    the records; v2 has that itself, in 8 bytes. Covered by `crc`.
    """
    payload: KafkaRecordBatchKip931.RecordList | None
    """The records, where they are not compressed. Covered by `crc`."""
    compressed_payload: bytes | None
    """The records, where they are compressed. Covered by `crc`, as compressed."""
    @property
    def len_varints(self) -> int:
        """Bytes that the varints of the header take, 3 to 20."""
