# Generated from spec/kafka_log_lazy.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 b34a3adfc3609ab54562b6158e3a5a98503893a899e4b788ac3309f7dac44474, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_message import KafkaMessage
from .kafka_record_batch import KafkaRecordBatch

class KafkaLogLazy(KaitaiStruct):
    """The same bytes as in `kafka_log`, read only as far as somebody looks: of each
    entry the bytes are skipped, and its fields are parsed when `fields` is asked
    for. So a large segment opens, and a damaged one does as well: what is no
    entry is shown as bytes, where `kafka_log` refuses the file as Kafka does.

    Only the framing is judged here. An entry whose magic is unknown is skipped
    by its length. Where a length cannot be one, nothing tells where the next
    entry begins; `rest` is then all that follows. To go on, find an entry behind
    the damage and begin there: `part` has the position as its parameter.
    """
    class Part(KaitaiStruct):
        """The entries from a position on, up to the end of the file."""
        def __init__(self, ofs_first: int, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        _parent: Any
        _root: Any
        ofs_first: int
        """Position of the first entry, in bytes from the start of the file; no
        byte before it is read.
        """
        @property
        def entries(self) -> list[KafkaLogLazy.Entry]:
            """The entries, and what follows the last."""
    class Entry(KaitaiStruct):
        """An entry of any format, or what follows the last. Of `skipped` and `rest`
        exactly one is there.
        """
        def __init__(self, ofs_entry: int, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        _parent: Any
        _root: Any
        ofs_entry: int
        """Position of the entry, in bytes from the start of the file."""
        skipped: bytes | None
        """The bytes of the entry, its offset and length included."""
        rest: bytes | None
        """What follows the last entry: zeros of a file that was allocated before
        it was filled, an entry that is cut off, or damage.
        """
        @property
        def len_avail(self) -> int:
            """Bytes from the start of the entry to the end of the file."""
        @property
        def offset(self) -> int | None:
            """Offset of the first record in v2, of the last one in v0 and v1. No
            checksum covers it.
            """
        @property
        def len_content(self) -> int | None:
            """Bytes of the entry after this number, as stored: an entry has at least
            14. No checksum covers it.
            """
        @property
        def magic(self) -> int | None:
            """Version of the format, as stored: 0 and 1 are messages, 2 is a record
            batch.
            """
        @property
        def is_framed(self) -> bool:
            """Whether the length is possible and the file holds what it counts."""
        @property
        def bytes_without_zeros(self) -> bytes | None:
            """The rest of the file, without the zeros at its end."""
        @property
        def is_zero_tail(self) -> bool:
            """Whether nothing but zeros follows."""
        @property
        def is_known(self) -> bool:
            """Whether the entry is of a format that Kafka has."""
        @property
        def fields(self) -> KafkaMessage | KafkaRecordBatch | KafkaLogLazy.UnknownContent | None:
            """The fields of the entry, parsed when they are asked for."""
    class UnknownContent(KaitaiStruct):
        """An entry whose magic is of no known format."""
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
        """The whole entry, which nothing takes apart."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaLogLazy
    whole: KafkaLogLazy.Part
    """The entries from where the stream is, as a rule its beginning."""
