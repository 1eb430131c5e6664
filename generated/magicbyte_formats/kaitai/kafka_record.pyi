# Generated from spec/kafka_record.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 ed3fb40148e3d7ae4b6e8fdf60d9efa81c56910853b9c0fec9dd947f1e5ec148, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_control_record import KafkaControlRecord
from .kafka_varint import KafkaVarint
from .kafka_varlong import KafkaVarlong

class KafkaRecord(KaitaiStruct):
    """One record of a record batch: a key, a value and headers, with a timestamp
    and an offset that are counted from those of the batch.

    Every number but `attributes` is a zigzag varint. A negative length stands
    for an absent (null) byte string, which is not the same as an empty one;
    writers use -1, and readers take any negative length as null. A record has
    no checksum of its own: that of the batch covers all of it, and where the
    batch is compressed it covers the compressed bytes.
    """
    class RecordBody(KaitaiStruct):
        """Everything in a record but its length."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        attributes: int
        """No bit is in use; written as 0, and not looked at by readers."""
        timestamp_delta: KafkaVarlong
        """Milliseconds to be added to the batch's `base_timestamp`; may be
        negative. Of no meaning where the batch has the append time, which
        is then that of all its records.
        """
        offset_delta: KafkaVarint
        """To be added to the batch's `base_offset`. Written as 0, 1, 2, ...;
        the log cleaner takes records away and so leaves gaps.
        """
        len_key: KafkaVarint
        """Bytes in `key`; -1 where the record has none."""
        key: bytes | None
        """The key, as the producer serialized it; in a control batch what
        `control_record` takes apart. Null where `len_key` is negative.
        """
        len_value: KafkaVarint
        """Bytes in `value`; -1 where the record has none."""
        value: bytes | None
        """The value, as the producer serialized it. Null where `len_value` is
        negative: such a record is a tombstone, which deletes its key from a
        compacted topic.
        """
        num_headers: KafkaVarint
        """Headers that follow; a negative number is an error."""
        headers: list[KafkaRecord.Header]
        """What the producer says about the record, in the producer's order;
        keys may repeat.
        """
        @property
        def ofs_len_key(self) -> int:
            """Position of `len_key`, in bytes from the start of this body."""
        @property
        def control_record(self) -> KafkaControlRecord | None:
            """The same bytes as `len_key` to `value`, taken apart."""
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
        """Bytes in `key`; a header always has one, so it is never negative."""
        key: bytes
        """The name of the header, which may be empty. Meant to be UTF-8, but
        nothing checks it when it is written; so it is bytes here, and to be
        decoded as Java does, with U+FFFD for what is malformed.
        """
        len_value: KafkaVarint
        """Bytes in `value`; -1 where the header has none."""
        value: bytes | None
        """What the header says. Null where `len_value` is negative."""
    def __init__(self, is_control: bool, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    _parent: Any
    _root: KafkaRecord
    is_control: bool
    """Whether the batch is a control batch, so that key and value are not
    data but what `kafka_control_record` describes.
    """
    len_body: KafkaVarint
    """Bytes of the record after this field, all of which its fields must use."""
    body: KafkaRecord.RecordBody
    """The record without its length."""
