# Generated from spec/kafka_control_record.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 7a8b27e8850a1fa577a03a3b5ac4c36041022486f3282e0a02dd8ce95a2cae24, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_tagged_fields import KafkaTaggedFields
from .kafka_uvarint import KafkaUvarint
from .kafka_varint import KafkaVarint

class KafkaControlRecord(KaitaiStruct):
    """Key and value of a record in a control batch, each behind its length: the
    middle of what `kafka_record` describes. The key says what the value is. The
    batch's CRC covers all of it.

    Two families share the format. A transaction marker ends a transaction in a
    partition; its batch is transactional, bears the producer's id and holds this
    one record. The others belong to KRaft, in the log `__cluster_metadata` and
    its snapshots; their batches are not transactional and may hold several.
    Consumers are given neither; each takes an offset.

    In the early KRaft of Kafka 2.7 and 2.8, type 3 was the change of leader, and
    its value had no version: see `kafka_early_leader_change`, which also says
    how to tell. Here, type 3 is the header of a snapshot.
    """
    class ControlTypes(IntEnum):
        abort = 0
        """A transaction marker: the producer's open transaction in this partition
        ends, and its records count for nothing.
        """
        commit = 1
        """A transaction marker: the producer's open transaction in this partition
        ends, and its records count.
        """
        leader_change = 2
        """KRaft; the metadata quorum has a new leader."""
        snapshot_header = 3
        """KRaft; a snapshot begins."""
        snapshot_footer = 4
        """KRaft; a snapshot is complete."""
        kraft_version = 5
        """KRaft; the version of its protocol."""
        kraft_voters = 6
        """KRaft; the voters of the metadata quorum."""
    class ControlKey(KaitaiStruct):
        """The key of a control record."""
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
        """Version of the key. Always written as 0; a reader takes a higher one
        as 0 and ignores what it does not know.
        """
        control_type: KafkaControlRecord.ControlTypes | int
        """The kind of record. Readers skip a kind that they do not know."""
        ignored: bytes | None
        """Bytes that a newer version appended, which readers do not look at."""
    class EndTransactionMarker(KaitaiStruct):
        """The value of a transaction marker, be it an abort or a commit."""
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
        """Version of the value. Always written as 0; a reader takes a higher
        one as 0 and ignores what it does not know.
        """
        coordinator_epoch: int
        """Epoch of the transaction coordinator that wrote the marker; a
        partition refuses a marker from an older one.
        """
        ignored: bytes | None
        """Bytes that a newer version appended, which readers do not look at."""
    class LeaderChangeMessage(KaitaiStruct):
        """A new leader of the metadata quorum writes this first in its epoch; since
        3.0.
        """
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
        """Version of the message: 0, or 1, which adds the directories of the
        voters (KIP-853). It stands here and nowhere else.
        """
        leader_id: int
        """Node id of the new leader."""
        num_voters: KafkaUvarint
        """Voters that follow, plus one; 0 would stand for null, which is an
        error.
        """
        voters: list[KafkaControlRecord.ElectionVoter]
        """The voters of the quorum in this epoch."""
        num_granting_voters: KafkaUvarint
        """Voters that follow, plus one; 0 would stand for null, which is an
        error.
        """
        granting_voters: list[KafkaControlRecord.ElectionVoter]
        """The voters that voted for the leader."""
        extension: KafkaTaggedFields
        """Tagged fields; none is defined."""
        ignored: bytes | None
        """Bytes that a newer version appended, which readers do not look at."""
    class ElectionVoter(KaitaiStruct):
        """A voter in the election of a leader."""
        def __init__(self, version: int, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        _parent: Any
        _root: Any
        version: int
        """Version of the message around it."""
        voter_id: int
        """Node id of the voter."""
        voter_directory_id: bytes | None
        """UUID of the voter's metadata directory; since version 1, null before.
        All zeros stand for none.
        """
        extension: KafkaTaggedFields
        """Tagged fields; none is defined."""
    class SnapshotHeaderRecord(KaitaiStruct):
        """The first record of a snapshot of the metadata log; since 3.0."""
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
        """Version of the record; 0."""
        last_contained_log_timestamp: int
        """Append time of the last record that the snapshot covers, in
        milliseconds since the Unix epoch.
        """
        extension: KafkaTaggedFields
        """Tagged fields; none is defined."""
        ignored: bytes | None
        """Bytes that a newer version appended, which readers do not look at."""
    class SnapshotFooterRecord(KaitaiStruct):
        """The last record of a snapshot of the metadata log; since 3.0. A snapshot
        without it is incomplete.
        """
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
        """Version of the record; 0."""
        extension: KafkaTaggedFields
        """Tagged fields; none is defined."""
        ignored: bytes | None
        """Bytes that a newer version appended, which readers do not look at."""
    class KraftVersionRecord(KaitaiStruct):
        """Which version of the KRaft protocol the cluster uses from here on; since
        3.8 (KIP-853).
        """
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
        """Version of the record; 0."""
        protocol_version: int
        """Version of the protocol: 0 has the voters in the configuration, 1 in
        the log, where they can be changed.
        """
        extension: KafkaTaggedFields
        """Tagged fields; none is defined."""
        ignored: bytes | None
        """Bytes that a newer version appended, which readers do not look at."""
    class VotersRecord(KaitaiStruct):
        """The voters of the metadata quorum from here on; since 3.8 (KIP-853)."""
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
        """Version of the record; 0."""
        num_voters: KafkaUvarint
        """Voters that follow, plus one; 0 would stand for null, which is an
        error.
        """
        voters: list[KafkaControlRecord.Voter]
        """The voters."""
        extension: KafkaTaggedFields
        """Tagged fields; none is defined."""
        ignored: bytes | None
        """Bytes that a newer version appended, which readers do not look at."""
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
        voter_directory_id: bytes
        """UUID of the voter's metadata directory, which tells a replaced disk
        from the old one. All zeros stand for none.
        """
        num_endpoints: KafkaUvarint
        """Endpoints that follow, plus one; 0 would stand for null, which is an
        error.
        """
        endpoints: list[KafkaControlRecord.Endpoint]
        """Where the voter can be reached."""
        min_supported_version: int
        """Lowest version of the KRaft protocol that the voter supports."""
        max_supported_version: int
        """Highest version of the KRaft protocol that the voter supports."""
        feature_extension: KafkaTaggedFields
        """Tagged fields of the range of versions, which is a structure of its
        own in Kafka (`KRaftVersionFeature`); none is defined.
        """
        extension: KafkaTaggedFields
        """Tagged fields; none is defined."""
    class Endpoint(KaitaiStruct):
        """An address of a voter."""
        def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
        @classmethod
        def from_file(cls, filename: str | PathLike[str]) -> Self: ...
        @classmethod
        def from_bytes(cls, buf: bytes) -> Self: ...
        @classmethod
        def from_io(cls, io: BinaryIO) -> Self: ...
        _parent: Any
        _root: Any
        len_name: KafkaUvarint
        """Bytes in `name`, plus one."""
        name: str
        """Name of the listener, such as `CONTROLLER`."""
        len_host: KafkaUvarint
        """Bytes in `host`, plus one."""
        host: str
        """Host name or address."""
        port: int
        """TCP port."""
        extension: KafkaTaggedFields
        """Tagged fields; none is defined."""
    class UnknownContent(KaitaiStruct):
        """The value of a kind of record that is not known here."""
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
        """All of the value."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaControlRecord
    len_key: KafkaVarint
    """Bytes in `key`; at least 4."""
    key: KafkaControlRecord.ControlKey
    """The kind of record. Bytes that a newer version appends are ignored."""
    len_value: KafkaVarint
    """Bytes in `content`, the value of the record."""
    content: KafkaControlRecord.EndTransactionMarker | KafkaControlRecord.LeaderChangeMessage | KafkaControlRecord.SnapshotHeaderRecord | KafkaControlRecord.SnapshotFooterRecord | KafkaControlRecord.KraftVersionRecord | KafkaControlRecord.VotersRecord | KafkaControlRecord.UnknownContent | None
    """The value of the record: what it says, by its kind. Null where `len_value`
    is negative.
    """
