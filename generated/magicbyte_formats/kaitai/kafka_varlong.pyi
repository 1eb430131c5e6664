# Generated from spec/kafka_varlong.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 18d6b320b24a2f416ac030c102f00586878bc0730c7576de8a62c017b2e2d2d5, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaVarlong(KaitaiStruct):
    """A signed 64-bit integer in 1 to 10 bytes: `VARLONG` in Kafka's protocol
    guide. The encoding is that of `kafka_varint`, only longer; an 11th byte is
    an error.

    In JavaScript, and so in the Web IDE, a result beyond `2**53` is rounded.
    """
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaVarlong
    groups: list[int]
    """Seven bits each, and on top a flag that says that another byte follows."""
    last_group: int | None
    """The 10th byte, which has no flag to continue. Only its lowest bit
    counts; readers ignore the other six, writers leave them clear.
    """
    @property
    def has_last_group(self) -> bool:
        """Whether there is a 10th byte."""
    @property
    def num_bytes(self) -> int:
        """Number of bytes that this integer takes."""
    @property
    def is_negative(self) -> bool:
        """The sign, which is the lowest bit of the zigzag-mapped number."""
    @property
    def low_bits(self) -> int:
        """Bits 0 to 26 of the magnitude."""
    @property
    def middle_bits(self) -> int:
        """Bits 27 to 54 of the magnitude."""
    @property
    def high_bits(self) -> int:
        """Bits 55 to 62 of the magnitude."""
    @property
    def magnitude(self) -> int:
        """The zigzag-mapped number without its sign bit."""
    @property
    def value(self) -> int:
        """The integer itself."""
