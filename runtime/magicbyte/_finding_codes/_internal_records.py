"""Codes for records of internal topics, from which the state of a cluster is built."""

from magicbyte._finding_codes._code import COMPARE, Code

INTERNAL_RECORDS = (
    Code(
        "internal-record-invalid",
        "error",
        "A record of an internal topic cannot be decoded.",
        cause="A program other than Kafka wrote it, or its bytes changed before they were written: the checksum of its batch is right.",
        consequence="Tables of the topic are built without the record, and may lack or still have what it changed.",
        remedy=f"Look at its bytes with `magicbyte dump`. {COMPARE}",
        source="MetadataRecordSerde, SchemaRegistryKeyType, and the message classes of Kafka, Connect and MirrorMaker",
    ),
    Code(
        "internal-record-unknown",
        "error",
        "A record of an internal topic has a type or a version that is not known.",
        cause="A later release of Kafka wrote it than those that magicbyte knows, or its bytes changed.",
        consequence="Tables of the topic are built without the record.",
        remedy="Check whether a newer release of magicbyte knows it.",
        source="MetadataRecordType, ApiMessageType",
    ),
    Code(
        "internal-record-conflict",
        "error",
        "A record of an internal topic does not fit the records before it.",
        cause="Records before it are lost, or were damaged: it changes a topic, partition, broker or ACL that was never created.",
        consequence="Tables of the topic are built without the record. Kafka leaves it out as well, with a metadata loading fault.",
        remedy="Read the problems of the topic: an earlier finding says which records are lost. Compare with the log of another controller.",
        source="MetadataDelta, TopicsDelta, ClusterDelta, AclsDelta, MetadataBatchLoader",
    ),
    Code(
        "internal-history-missing",
        "error",
        "The first records of an internal topic's log are gone, and no snapshot that can be used has their state.",
        cause="A snapshot file was deleted, damaged or left out of a copy; or a table was asked for as of an offset or a time before the oldest snapshot.",
        consequence="Tables of the topic have only what the remaining records say.",
        remedy="Copy the `.checkpoint` files of the folder too, or take the folder from another controller. As of an earlier offset or time, read an older copy of the log.",
        source="KafkaRaftLog, MetadataLoader",
    ),
)
