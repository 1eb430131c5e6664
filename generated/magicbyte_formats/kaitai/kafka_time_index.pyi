# Generated from spec/kafka_time_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 51e5317788d2f05f7808ba4d0e076e45bc9b3c02c0ca1531995322ec787d52ff, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaTimeIndex(KaitaiStruct):
    """A sparse map from timestamps to offsets, for the log segment of the same
    name, without header and without checksum; since 0.10.1 (KIP-33). A segment
    that holds only messages of v0, which have no timestamps, has an empty one.

    The file of the newest segment is allocated before it is filled and cut to
    size when the segment is full or the broker stops; until then its rest is
    zeros. So the entries end where the next one would be all zeros.
    """
    class Entry(KaitaiStruct):
        """The newest record up to here: none with a lower or the same offset has a
        later timestamp.
        """
        def __init__(self, ofs_entry: int, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        _parent: Any
        _root: Any
        ofs_entry: int
        """Position of the entry, in bytes from the start of the file."""
        timestamp: int
        """Largest timestamp so far, in milliseconds since the Unix epoch."""
        relative_offset: int
        """Last offset of the batch that holds it, or, from older releases, the
        offset of the record itself; counted from the base offset of the
        segment, which names the file.
        """
        @property
        def next_timestamp(self) -> int | None:
            """The timestamp of the next entry."""
        @property
        def next_relative_offset(self) -> int | None:
            """The offset of the next entry."""
        @property
        def is_last(self) -> bool:
            """Whether no entry follows."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaTimeIndex
    entries: list[KafkaTimeIndex.Entry] | None
    """The entries; their timestamps rise, their offsets do not fall. Null where
    there are none.
    """
    zero_tail: bytes | None
    """The part of an allocated file that no entry has filled yet."""
    unknown_tail: bytes | None
    """What follows the entries and is neither an entry nor zeros; no broker
    writes that.
    """
    @property
    def first_timestamp(self) -> int | None:
        """The timestamp of the first entry."""
    @property
    def first_relative_offset(self) -> int | None:
        """The offset of the first entry."""
    @property
    def has_entries(self) -> bool:
        """Whether the file begins with an entry rather than with zeros."""
    @property
    def ofs_tail(self) -> int:
        """Position of what follows the entries, in bytes."""
    @property
    def tail_without_zeros(self) -> bytes:
        """What follows the entries, without the zeros at its end."""
    @property
    def is_tail_zero(self) -> bool:
        """Whether nothing but zeros follows the entries."""
