# Generated from spec/kafka_crc.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 e89671564464b2868c3a986d9d3fef59e4a5484b63923961962276ae66375c2a, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaCrc(KaitaiStruct):
    """The checksum of a whole stream, worked out by the specification itself: one
    step per byte, each going on from the result of the one before. Slow, and
    meant for looking at single batches; a real reader computes it elsewhere.

    The 32 bits are kept as two halves of 16 bits, because JavaScript, and so
    the Web IDE, has signed 32-bit bitwise operators.
    """
    class Step(KaitaiStruct):
        """One byte, taken in two nibbles."""
        def __init__(self, prev_high: int, prev_low: int, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        _parent: Any
        _root: Any
        prev_high: int
        """Upper half of the register before this byte."""
        prev_low: int
        """Lower half of the register before this byte."""
        data: int
        """The byte."""
        @property
        def nibble1(self) -> int:
            """Lower nibble of the byte, with what the register adds to it."""
        @property
        def high_after1(self) -> int:
            """Upper half of the register after the lower nibble."""
        @property
        def low_after1(self) -> int:
            """Lower half of the register after the lower nibble."""
        @property
        def nibble2(self) -> int:
            """Upper nibble of the byte, with what the register adds to it."""
        @property
        def high(self) -> int:
            """Upper half of the register after this byte."""
        @property
        def low(self) -> int:
            """Lower half of the register after this byte."""
    def __init__(self, is_castagnoli: bool, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    _parent: Any
    _root: KafkaCrc
    is_castagnoli: bool
    """Whether it is CRC-32C (of record batches and producer snapshots) rather
    than CRC-32 (of messages).
    """
    steps: list[KafkaCrc.Step]
    """One for every byte of the stream."""
    @property
    def value(self) -> int:
        """The checksum, to be compared with the stored one."""
    @property
    def high1(self) -> int:
        """Upper half of the polynomial for bit 0 of a nibble."""
    @property
    def low1(self) -> int:
        """Lower half of the polynomial for bit 0 of a nibble."""
    @property
    def high2(self) -> int:
        """Upper half of the polynomial for bit 1 of a nibble."""
    @property
    def low2(self) -> int:
        """Lower half of the polynomial for bit 1 of a nibble."""
    @property
    def high4(self) -> int:
        """Upper half of the polynomial for bit 2 of a nibble."""
    @property
    def low4(self) -> int:
        """Lower half of the polynomial for bit 2 of a nibble."""
    @property
    def high8(self) -> int:
        """Upper half of the polynomial for bit 3 of a nibble."""
    @property
    def low8(self) -> int:
        """Lower half of the polynomial for bit 3 of a nibble."""
