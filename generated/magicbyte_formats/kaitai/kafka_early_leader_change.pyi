# Generated from spec/kafka_early_leader_change.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 f44198c071f959d7f2d94846a60bbf03836cde2e5fbec026bb755c0790de5eee, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_tagged_fields import KafkaTaggedFields
from .kafka_uvarint import KafkaUvarint

class KafkaEarlyLeaderChange(KaitaiStruct):
    """The value of a control record by which a new leader of the metadata quorum
    began its epoch before 3.0, when KRaft was for trying out: its key has the
    type 3, and the value has no version. No release reads what these wrote.

    Since 3.0 the change of leader has the type 2 and begins with a version, and
    3 is the header of a snapshot. The bytes alone do not say which of the two a
    value of type 3 is, but the file does: a change of leader is in a log, and
    the header of a snapshot is in a `.checkpoint` and nowhere else. Besides, a
    header takes 11 bytes, and a change of leader never does; and the records of
    such a log have frames of version 0, where later ones have 1 (see
    `kafka_metadata_record`).

    The batch around it, and the key, are as `kafka_control_record` says.
    """
    class Voter(KaitaiStruct):
        """A voter of the metadata quorum."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        voter_id: int
        """Node id of the voter."""
        extension: KafkaTaggedFields
        """Tagged fields; none is defined."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaEarlyLeaderChange
    leader_id: int
    """Node id of the new leader, which writes this. Covered by the batch's CRC."""
    num_voters: KafkaUvarint
    """Voters that follow, plus one; 0 would stand for null, which is an error."""
    voters: list[KafkaEarlyLeaderChange.Voter]
    """The voters of the quorum in this epoch; in 2.7, those for the leader."""
    num_granting_voters: KafkaUvarint | None
    """Voters that follow, plus one; 0 would stand for null, which is an error.
    Null in 2.7.
    """
    granting_voters: list[KafkaEarlyLeaderChange.Voter] | None
    """The voters that voted for the leader; since 2.8, null before."""
    extension: KafkaTaggedFields
    """Tagged fields; none is defined."""
    @property
    def has_granting_voters(self) -> bool:
        """Whether more than the tagged fields, which are one byte where there are
        none, follows the voters. To be asked for behind them.
        """
