# Generated from spec/kafka_transaction_index.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 f51c638d173eeb6d6e2291beb268afc8a71f41e1fbd7a46bdd98ecf38e2a96de, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaTransactionIndex(KaitaiStruct):
    """The aborted transactions whose abort marker lies in the log segment of the
    same name, which a consumer needs to skip their records. Without header,
    checksum and zeros at the end; since 0.11 (KIP-98). There is no file where
    there is no such transaction.
    """
    class AbortedTransaction(KaitaiStruct):
        """An aborted transaction, in so far as it touched this partition."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        version: int
        """Version of the entry; always 0."""
        producer_id: int
        """Number of the producer whose transaction it was."""
        first_offset: int
        """Offset of the transaction's first record in the partition, which may
        lie in an earlier segment.
        """
        last_offset: int
        """Offset of the abort marker, which lies in this segment."""
        last_stable_offset: int
        """First offset of the oldest other transaction that was open when the
        marker was written, or else the offset after the marker. The
        transactions of later entries begin there or higher, which tells a
        search when it may stop.
        """
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaTransactionIndex
    aborted_transactions: list[KafkaTransactionIndex.AbortedTransaction]
    """The transactions, in the order of their markers."""
