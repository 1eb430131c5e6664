# Generated from spec/kafka_leader_epoch_checkpoint.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 1c1ddc459811ac940f7f64bf108dd882523b5cfcb939f8a1e53c043dc400f6a2, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct


class KafkaLeaderEpochCheckpoint(KaitaiStruct):
    """The file `leader-epoch-checkpoint` of a partition: lines of text that say
    with which offset each leader's epoch began; since 0.11 (KIP-101). The broker
    writes a new file and renames it; there is no checksum. An empty file means
    no entries.

    Fields and lines end as in `kafka_offset_checkpoint`, which also says what
    Kafka's reader takes and this description does not. Numbers are left as the
    text that they are.
    """
    class Entry(KaitaiStruct):
        """Where an epoch began."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        epoch: str
        """Epoch of a leader, in decimal: what `partition_leader_epoch` of its
        batches says.
        """
        start_offset: str
        """First offset that the leader could write in it, in decimal."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaLeaderEpochCheckpoint
    version: str | None
    """Version of the file; always 0. Kafka also takes other ways to write that
    number, such as `00`. Null in an empty file.
    """
    num_entries: str | None
    """Entries that follow, in decimal. A reader has to compare it, as Kafka
    does. Null in an empty file.
    """
    entries: list[KafkaLeaderEpochCheckpoint.Entry]
    """The entries; both of their numbers rise."""
