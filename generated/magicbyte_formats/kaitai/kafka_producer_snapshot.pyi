# Generated from spec/kafka_producer_snapshot.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 09d97d702f99ed0424cb1cf20af63eca600431d6f3bc914ed10ea6ecf1fa5eba, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaProducerSnapshot(KaitaiStruct):
    """What a broker knows of the idempotent and transactional producers of a
    partition just before the offset that names the file. It is written when a
    segment is full and at a clean stop; since 0.11 (KIP-98).

    It is the only file that says which transactions are open at an offset.
    """
    class Producer(KaitaiStruct):
        """A producer, with its last batch in this partition."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        producer_id: int
        """Number of the producer, given out by the cluster. Covered by `crc`."""
        epoch: int
        """Its newest epoch that was seen. Covered by `crc`."""
        last_sequence: int
        """Sequence number of the last record of its last batch; -1 stands for
        none. Covered by `crc`.
        """
        last_offset: int
        """Offset of that record; -1 stands for none, as where only a marker was
        seen. Covered by `crc`.
        """
        offset_delta: int
        """Offsets and sequence numbers from the first record of its last batch
        to the last. Covered by `crc`.
        """
        timestamp: int
        """Largest timestamp of its last batch or marker, in milliseconds since
        the Unix epoch; -1 stands for none. Covered by `crc`.
        """
        coordinator_epoch: int
        """Epoch of the transaction coordinator that wrote its last marker; -1
        stands for none. Covered by `crc`.
        """
        current_transaction_first_offset: int
        """First offset of its open transaction; -1 where it has none. Covered by
        `crc`.
        """
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaProducerSnapshot
    version: int
    """Version of the file; always 1. Not covered by `crc`."""
    crc: int
    """CRC-32C (Castagnoli) of all bytes after this field."""
    num_producers: int
    """Producers that follow. Covered by `crc`."""
    producers: list[KafkaProducerSnapshot.Producer]
    """The producers, in no order. Covered by `crc`."""
