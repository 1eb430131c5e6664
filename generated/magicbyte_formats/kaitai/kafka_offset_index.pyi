# Generated from spec/kafka_offset_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 52fc966b28702b115558dcf58f379f939238b2bf9ae36c55b7b90b78b8fc95da, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaOffsetIndex(KaitaiStruct):
    """A sparse map from offsets to positions in the log segment of the same name,
    without header and without checksum. The broker adds an entry after every
    4096 bytes of log or so (`index.interval.bytes`), and makes the file anew
    from the segment where it is missing or wrong.

    The file of the newest segment is allocated before it is filled and cut to
    size when the segment is full or the broker stops; until then its rest is
    zeros. So the entries end where the next one would be all zeros.
    """
    class Entry(KaitaiStruct):
        """Where to begin reading for an offset: no batch before that position holds
        it or a higher one.
        """
        def __init__(self, ofs_entry: int, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        _parent: Any
        _root: Any
        ofs_entry: int
        """Position of the entry, in bytes from the start of the file."""
        relative_offset: int
        """Last offset of the appended batches, counted from the base offset of
        the segment, which names the file.
        """
        ofs_batch: int
        """Position in the segment where the first of those batches starts, in
        bytes.
        """
        @property
        def next_entry(self) -> int | None:
            """All bits of the next entry."""
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
    _root: KafkaOffsetIndex
    entries: list[KafkaOffsetIndex.Entry] | None
    """The entries; both of their numbers rise. Null where there are none."""
    zero_tail: bytes | None
    """The part of an allocated file that no entry has filled yet."""
    unknown_tail: bytes | None
    """What follows the entries and is neither an entry nor zeros; no broker
    writes that.
    """
    @property
    def first_entry(self) -> int | None:
        """All bits of the first entry."""
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
