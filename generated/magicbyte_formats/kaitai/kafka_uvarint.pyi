# Generated from spec/kafka_uvarint.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 c543c132306be739578eb279f3e114221cc5413b1555a1b25617c3d344cf4744, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaUvarint(KaitaiStruct):
    """An unsigned 32-bit integer in 1 to 5 bytes: `UNSIGNED_VARINT` in Kafka's
    protocol guide, used by the flexible versions of its messages (KIP-482). The
    encoding is that of `kafka_varint`, but for the zigzag.
    """
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaUvarint
    groups: list[int]
    """Seven bits each, and on top a flag that says that another byte follows."""
    last_group: int | None
    """The 5th byte, which has no flag to continue. Only its lowest 4 bits
    count; readers ignore the other three, writers leave them clear.
    """
    @property
    def has_last_group(self) -> bool:
        """Whether there is a 5th byte."""
    @property
    def low_bits(self) -> int:
        """Bits 0 to 27."""
    @property
    def high_bits(self) -> int:
        """Bits 28 to 31."""
    @property
    def value(self) -> int:
        """The integer itself."""
    @property
    def clamped(self) -> int:
        """The integer, or the largest of 31 bits where it is larger. For lengths and
        counts: so they lead past the end of the bytes in every language, instead
        of being negative in some.
        """
    @property
    def count(self) -> int:
        """What the integer stands for where it is a count or a length that is
        stored plus one, so that 0 can stand for null: here -1.
        """
