# Generated from spec/kafka_varint.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 6389e472e746bdba1c76e4911e9bc9177c96e1d3019a11ccb352df4bd7f701c5, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaVarint(KaitaiStruct):
    """A signed 32-bit integer in 1 to 5 bytes: `VARINT` in Kafka's protocol guide.

    The number is first zigzag-mapped to an unsigned one (0, -1, 1, -2, 2 become
    0, 1, 2, 3, 4) and then cut into groups of 7 bits, the least significant
    group first. The top bit of a byte says that another byte follows.

    Kafka's reader accepts forms that are longer than need be, and so does this
    one. A 6th byte is an error.

    The groups are combined with `+` and `*` only, because in JavaScript, and so
    in the Web IDE, `<<`, `|` and `^` cut every number to 32 bits. The magnitude
    is built without the sign bit, so nothing ever needs an unsigned type.
    """
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaVarint
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
    def num_bytes(self) -> int:
        """Number of bytes that this integer takes."""
    @property
    def is_negative(self) -> bool:
        """The sign, which is the lowest bit of the zigzag-mapped number."""
    @property
    def magnitude(self) -> int:
        """The zigzag-mapped number without its sign bit."""
    @property
    def value(self) -> int:
        """The integer itself."""
