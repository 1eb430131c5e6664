# Generated from spec/kafka_metadata_record.ksy. Do not edit: change the .ksy and `make generate`.
# spec sha256 9ad1bd3bdb76301bd8ce138ec195f89a7aee7fde46b1bf602464eb8b30e8ff1f, kaitai-struct-compiler 0.11.0
from enum import IntEnum
from os import PathLike
from typing import Any, BinaryIO, Self

from magicbyte_kernels.kaitai_struct import KaitaiStruct

from .kafka_uvarint import KafkaUvarint

class KafkaMetadataRecord(KaitaiStruct):
    """The value of a record of `__cluster_metadata`, the log of KRaft, and of its
    snapshots: a frame of three numbers around a message of Kafka's protocol,
    whose fields are those of a JSON file in Kafka's source, by type and version.
    The key is null. Control records have no such frame.

    Frame version 0 is of the early access of 2.8, which numbered some types in
    another way and whose logs no later release reads; since 3.0 it is 1. The
    topic `__remote_log_metadata` has the same frame around types of its own.
    """
    class RecordTypes(IntEnum):
        register_broker = 0
        """A broker has registered with the controller."""
        unregister_broker = 1
        """A broker has been removed."""
        topic = 2
        """A topic was made, with its name and its id."""
        partition = 3
        """A partition, with its replicas and its leader."""
        config = 4
        """A setting of a topic, a broker or another resource."""
        partition_change = 5
        """A change of a partition, such as of its leader."""
        fence_broker = 7
        """A broker was fenced; replaced by type 17."""
        unfence_broker = 8
        """A broker was let in again; replaced by type 17."""
        remove_topic = 9
        """A topic was deleted, with all its partitions."""
        delegation_token = 10
        """A delegation token was made or renewed."""
        user_scram_credential = 11
        """A user's SCRAM credential."""
        feature_level = 12
        """The level of a feature such as `metadata.version`."""
        client_quota = 14
        """A quota of a client, a user or an address."""
        producer_ids = 15
        """A block of producer ids was given to a broker."""
        broker_registration_change = 17
        """A broker was fenced, let in or is to stop."""
        access_control_entry = 18
        """An access control entry was made."""
        remove_access_control_entry = 19
        """An access control entry was deleted."""
        no_op = 20
        """Nothing; moves the offset on in a quiet cluster (KIP-835)."""
        zk_migration_state = 21
        """How far the migration from ZooKeeper has come."""
        remove_user_scram_credential = 22
        """A user's SCRAM credential was deleted."""
        begin_transaction = 23
        """The records from here on take effect together (KIP-868)."""
        end_transaction = 24
        """The records since type 23 take effect."""
        abort_transaction = 25
        """The records since type 23 take no effect."""
        remove_delegation_token = 26
        """A delegation token was deleted."""
        register_controller = 27
        """A controller has registered (KIP-919)."""
        clear_elr = 28
        """Eligible leader replicas were cleared (KIP-966)."""
        unregister_controller = 29
        """A controller has been removed."""
    def __init__(self, _io: Any, _parent: Any = ..., _root: Any = ...) -> None: ...
    @classmethod
    def from_file(cls, filename: str | PathLike[str]) -> Self: ...
    @classmethod
    def from_bytes(cls, buf: bytes) -> Self: ...
    @classmethod
    def from_io(cls, io: BinaryIO) -> Self: ...
    _parent: Any
    _root: KafkaMetadataRecord
    frame_version: KafkaUvarint
    """Version of this frame; 1, or 0 in 2.8. Written by the active controller,
    as all of the record; covered by the batch's CRC.
    """
    api_key: KafkaUvarint
    """The type of the message, as `record_types` numbers them since 3.0; Kafka
    stops at a type that it does not know.
    """
    api_version: KafkaUvarint
    """Version of the message's fields."""
    data: bytes
    """The message, which ends with tagged fields (`kafka_tagged_fields`), except
    in 2.8.
    """
