# Generated from spec/kafka_log.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 68673d8ac0d9698469c3b63f7da8b7c2ee760753d9502cb49c4a40c93d656a58, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_message import KafkaMessage
from .kafka_record_batch import KafkaRecordBatch

class KafkaLog(KaitaiStruct):
    """A file of a topic partition, and likewise the `records` of a produce request
    or a fetch response: entries back to back, without a file header.

    All formats put the magic byte, which tells them apart, 16 bytes after the
    start of an entry, and a length, which counts what follows it, 8 bytes after
    the start. Formats may be mixed within one file.

    A file ends where an entry ends, or in one of two other ways that are no
    damage: with an entry that is cut off, after a crash or where a fetch
    response reached its size limit; or with zeros, where a broker allocates
    files before it fills them. Anything else is an error here, as in Kafka.
    """
    class Entry(KaitaiStruct):
        """An entry of any format, or the end of the file behind the last one. Of
        `content`, `partial` and `zero_tail` exactly one is there.
        """
        def __init__(self, ofs_entry: int, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        _parent: Any
        _root: Any
        ofs_entry: int
        """Position of the entry, in bytes from the start of the file."""
        content: KafkaMessage | KafkaRecordBatch | KafkaLog.UnknownContent | None
        """A whole entry."""
        zero_tail: bytes | None
        """Zeros up to the end of the file, which was allocated before it was
        filled (`log.preallocate`) and not cut to size by a clean stop.
        """
        partial: bytes | None
        """The beginning of an entry that was cut off; readers ignore it."""
        @property
        def len_avail(self) -> int:
            """Bytes from the start of the entry to the end of the file."""
        @property
        def offset(self) -> int | None:
            """Offset of the first record in v2, of the last one in v0 and v1. No
            checksum covers it.
            """
        @property
        def raw_len_content(self) -> int | None:
            """The length as it is stored, whether or not it is valid."""
        @property
        def bytes_without_zeros(self) -> bytes | None:
            """The rest of the file without the zeros at its end; looked at only
            where an entry cannot begin.
            """
        @property
        def is_zero_tail(self) -> bool:
            """Whether nothing but zeros follows."""
        @property
        def len_content(self) -> int | None:
            """Bytes of the entry after this number. Kafka accepts no entry with
            fewer than 14. No checksum covers it.
            """
        @property
        def magic(self) -> int | None:
            """Version of the format: 0 and 1 are messages, 2 is a record batch."""
        @property
        def is_complete(self) -> bool:
            """Whether the file holds all bytes that the entry's length counts. That
            `len_content` and `magic` are looked at refuses what is no entry where
            one might be cut.
            """
    class UnknownContent(KaitaiStruct):
        """Never parsed, as `magic` is checked; but without it a value of `content`
        that is no known format would be raw bytes, which Nim cannot express.
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
        data: bytes
        """The whole entry."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaLog
    entries: list[KafkaLog.Entry]
    """The entries in the order of their offsets, and what follows the last."""
