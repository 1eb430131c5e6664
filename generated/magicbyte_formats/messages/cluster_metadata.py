# Generated from spec/messages/cluster_metadata.yaml. Do not edit: change it and `make generate`.
# spec sha256 8407d93c7d4c93fa5468362e0070403035c1a78344f46fdff1d1880bfd1ae844
"""Records of __cluster_metadata."""

from magicbyte_formats.messages.schema import Field, Message, Range, Releases

REGISTER_BROKER_RECORD = Message(
    name="RegisterBrokerRecord",
    type=0,
    former_types=(),
    versions=(((2, 8), Range(0, 0)), ((3, 3), Range(0, 1)), ((3, 4), Range(0, 2)), ((3, 7), Range(0, 3)), ((4, 3), Range(0, 4))),
    flexible=(((2, 8), None), ((3, 0), Range(0, None))),
    fields=(
        Field(name="brokerId", kind="int32"),
        Field(name="isMigratingZkBroker", kind="bool", versions=Range(2, None)),
        Field(name="incarnationId", kind="uuid"),
        Field(name="brokerEpoch", kind="int64"),
        Field(name="endPoints", kind="struct", is_array=True, struct="BrokerEndpoint", fields=(
            Field(name="name", kind="string"),
            Field(name="host", kind="string"),
            Field(name="port", kind="uint16"),
            Field(name="securityProtocol", kind="int16"),
        )),
        Field(name="features", kind="struct", is_array=True, struct="BrokerFeature", fields=(
            Field(name="name", kind="string"),
            Field(name="minSupportedVersion", kind="int16"),
            Field(name="maxSupportedVersion", kind="int16"),
        )),
        Field(name="rack", kind="string", is_nullable=True),
        Field(name="fenced", kind="bool", releases=Releases((3, 0), None)),
        Field(name="inControlledShutdown", kind="bool", versions=Range(1, None)),
        Field(name="logDirs", kind="uuid", is_array=True, versions=Range(3, None), tag=0),
        Field(name="cordonedLogDirs", kind="uuid", is_array=True, is_nullable=True, versions=Range(4, None), tag=1, is_null_by_default=True),
    ),
)
"""A broker has started and registered with the controller, or has amended its registration. Replaces what was known of the broker."""

UNREGISTER_BROKER_RECORD = Message(
    name="UnregisterBrokerRecord",
    type=1,
    former_types=(),
    versions=(((2, 8), Range(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), Range(0, None))),
    fields=(
        Field(name="brokerId", kind="int32"),
        Field(name="brokerEpoch", kind="int64"),
    ),
)
"""A broker was taken out of the cluster for good, as with `kafka-cluster.sh unregister`."""

TOPIC_RECORD = Message(
    name="TopicRecord",
    type=2,
    former_types=(),
    versions=(((2, 8), Range(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), Range(0, None))),
    fields=(
        Field(name="name", kind="string"),
        Field(name="topicId", kind="uuid"),
    ),
)
"""A topic was made. Its partitions follow, each in a PartitionRecord."""

PARTITION_RECORD = Message(
    name="PartitionRecord",
    type=3,
    former_types=(),
    versions=(((2, 8), Range(0, 0)), ((3, 7), Range(0, 2))),
    flexible=(((2, 8), None), ((3, 0), Range(0, None))),
    fields=(
        Field(name="partitionId", kind="int32"),
        Field(name="topicId", kind="uuid"),
        Field(name="replicas", kind="int32", is_array=True),
        Field(name="isr", kind="int32", is_array=True),
        Field(name="removingReplicas", kind="int32", is_array=True, is_nullable=True, releases=Releases((2, 8), (2, 8))),
        Field(name="addingReplicas", kind="int32", is_array=True, is_nullable=True, releases=Releases((2, 8), (2, 8))),
        Field(name="removingReplicas", kind="int32", is_array=True, releases=Releases((3, 0), None)),
        Field(name="addingReplicas", kind="int32", is_array=True, releases=Releases((3, 0), None)),
        Field(name="leader", kind="int32"),
        Field(name="leaderRecoveryState", kind="int8", releases=Releases((3, 2), None), tag=0, default=0),
        Field(name="leaderEpoch", kind="int32"),
        Field(name="partitionEpoch", kind="int32"),
        Field(name="directories", kind="uuid", is_array=True, versions=Range(1, None)),
        Field(name="eligibleLeaderReplicas", kind="int32", is_array=True, is_nullable=True, versions=Range(2, None), tag=1, is_null_by_default=True),
        Field(name="lastKnownELR", kind="int32", is_array=True, is_nullable=True, versions=Range(2, None), releases=Releases((3, 7), (3, 7)), tag=2, is_null_by_default=True),
        Field(name="lastKnownElr", kind="int32", is_array=True, is_nullable=True, versions=Range(2, None), releases=Releases((3, 8), None), tag=2, is_null_by_default=True),
    ),
)
"""A partition in full: written when it is made, and in snapshots. Changes come as PartitionChangeRecord."""

CONFIG_RECORD = Message(
    name="ConfigRecord",
    type=4,
    former_types=(),
    versions=(((2, 8), Range(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), Range(0, None))),
    fields=(
        Field(name="resourceType", kind="int8"),
        Field(name="resourceName", kind="string"),
        Field(name="name", kind="string"),
        Field(name="value", kind="string", releases=Releases((2, 8), (2, 8))),
        Field(name="value", kind="string", is_nullable=True, releases=Releases((3, 0), None)),
    ),
)
"""A setting was made, changed or removed; one record for each setting of each resource."""

PARTITION_CHANGE_RECORD = Message(
    name="PartitionChangeRecord",
    type=5,
    former_types=(),
    versions=(((2, 8), Range(0, 0)), ((3, 7), Range(0, 2))),
    flexible=(((2, 8), Range(0, None)),),
    fields=(
        Field(name="partitionId", kind="int32"),
        Field(name="topicId", kind="uuid"),
        Field(name="isr", kind="int32", is_array=True, is_nullable=True, tag=0, is_null_by_default=True),
        Field(name="leader", kind="int32", tag=1, default=-2),
        Field(name="replicas", kind="int32", is_array=True, is_nullable=True, releases=Releases((3, 0), None), tag=2, is_null_by_default=True),
        Field(name="removingReplicas", kind="int32", is_array=True, is_nullable=True, releases=Releases((3, 0), None), tag=3, is_null_by_default=True),
        Field(name="addingReplicas", kind="int32", is_array=True, is_nullable=True, releases=Releases((3, 0), None), tag=4, is_null_by_default=True),
        Field(name="leaderRecoveryState", kind="int8", releases=Releases((3, 2), None), tag=5, default=-1),
        Field(name="directories", kind="uuid", is_array=True, is_nullable=True, versions=Range(1, None), tag=8, is_null_by_default=True),
        Field(name="eligibleLeaderReplicas", kind="int32", is_array=True, is_nullable=True, versions=Range(2, None), tag=6, is_null_by_default=True),
        Field(name="lastKnownELR", kind="int32", is_array=True, is_nullable=True, versions=Range(2, None), releases=Releases((3, 7), (3, 7)), tag=7, is_null_by_default=True),
        Field(name="lastKnownElr", kind="int32", is_array=True, is_nullable=True, versions=Range(2, None), releases=Releases((3, 8), None), tag=7, is_null_by_default=True),
    ),
)
"""What has changed of a partition, such as its leader or its in-sync replicas. A field that is absent leaves what it is about as it was."""

ACCESS_CONTROL_RECORD = Message(
    name="AccessControlRecord",
    type=6,
    former_types=(),
    versions=(((2, 8), Range(0, 0)), ((3, 5), None)),
    flexible=(((2, 8), Range(0, None)),),
    fields=(
        Field(name="resourceType", kind="int8"),
        Field(name="resourceName", kind="string", is_nullable=True),
        Field(name="patternType", kind="int8"),
        Field(name="principal", kind="string"),
        Field(name="host", kind="string"),
        Field(name="operation", kind="int8"),
        Field(name="permissionType", kind="int8"),
    ),
)
"""An access control entry, as first designed (KIP-631). No release writes it; type 18 came instead."""

FENCE_BROKER_RECORD = Message(
    name="FenceBrokerRecord",
    type=7,
    former_types=(),
    versions=(((2, 8), Range(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), Range(0, None))),
    fields=(
        Field(name="id", kind="int32"),
        Field(name="epoch", kind="int64"),
    ),
)
"""A broker was fenced: its heartbeats failed to come, or it has stopped. From `metadata.version` 3.3-IV2 on, type 17 is written instead."""

UNFENCE_BROKER_RECORD = Message(
    name="UnfenceBrokerRecord",
    type=8,
    former_types=(),
    versions=(((2, 8), Range(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), Range(0, None))),
    fields=(
        Field(name="id", kind="int32"),
        Field(name="epoch", kind="int64"),
    ),
)
"""A broker has caught up and may lead partitions again. From `metadata.version` 3.3-IV2 on, type 17 is written instead."""

REMOVE_TOPIC_RECORD = Message(
    name="RemoveTopicRecord",
    type=9,
    former_types=(),
    versions=(((2, 8), Range(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), Range(0, None))),
    fields=(
        Field(name="topicId", kind="uuid"),
    ),
)
"""A topic was deleted."""

DELEGATION_TOKEN_RECORD = Message(
    name="DelegationTokenRecord",
    type=10,
    former_types=(),
    versions=(((2, 8), Range(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), Range(0, None))),
    fields=(
        Field(name="owner", kind="string"),
        Field(name="requester", kind="string", releases=Releases((3, 6), None)),
        Field(name="renewers", kind="string", is_array=True),
        Field(name="issueTimestamp", kind="int64"),
        Field(name="maxTimestamp", kind="int64"),
        Field(name="expirationTimestamp", kind="int64"),
        Field(name="tokenId", kind="string"),
    ),
)
"""A delegation token (KIP-48) was made or renewed; a later record with its id replaces it. Written since 3.6. The secret is not in it, but is computed from the id and a key of the brokers."""

USER_SCRAM_CREDENTIAL_RECORD = Message(
    name="UserScramCredentialRecord",
    type=11,
    former_types=(),
    versions=(((2, 8), Range(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), Range(0, None))),
    fields=(
        Field(name="name", kind="string"),
        Field(name="credentialInfos", kind="struct", is_array=True, releases=Releases((2, 8), (3, 4)), struct="CredentialInfo", fields=(
            Field(name="mechanism", kind="int8"),
            Field(name="salt", kind="bytes"),
            Field(name="saltedPassword", kind="bytes"),
            Field(name="iterations", kind="int32"),
        )),
        Field(name="mechanism", kind="int8", releases=Releases((3, 5), None)),
        Field(name="salt", kind="bytes", releases=Releases((3, 5), None)),
        Field(name="storedKey", kind="bytes", releases=Releases((3, 5), None)),
        Field(name="serverKey", kind="bytes", releases=Releases((3, 5), None)),
        Field(name="iterations", kind="int32", releases=Releases((3, 5), None)),
    ),
)
"""A user's SCRAM credential (RFC 5802) was set or changed, by `kafka-configs.sh` or by `kafka-storage.sh format` (KIP-900). Written since 3.5, one for each user and mechanism."""

FEATURE_LEVEL_RECORD = Message(
    name="FeatureLevelRecord",
    type=12,
    former_types=(),
    versions=(((2, 8), Range(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), Range(0, None))),
    fields=(
        Field(name="name", kind="string"),
        Field(name="minFeatureLevel", kind="int16", releases=Releases((2, 8), (3, 2))),
        Field(name="maxFeatureLevel", kind="int16", releases=Releases((2, 8), (3, 2))),
        Field(name="featureLevel", kind="int16", releases=Releases((3, 3), None)),
    ),
)
"""The cluster has agreed on the level of a feature (KIP-584, KIP-778). Since 3.3, that of `metadata.version` is the first record of a snapshot and of a new log, there behind a BeginTransactionRecord since 3.6."""

CLIENT_QUOTA_RECORD = Message(
    name="ClientQuotaRecord",
    type=14,
    former_types=(),
    versions=(((3, 0), Range(0, 0)),),
    flexible=(((3, 0), Range(0, None)),),
    fields=(
        Field(name="entity", kind="struct", is_array=True, struct="EntityData", fields=(
            Field(name="entityType", kind="string"),
            Field(name="entityName", kind="string", is_nullable=True),
        )),
        Field(name="key", kind="string"),
        Field(name="value", kind="float64"),
        Field(name="remove", kind="bool"),
    ),
)
"""A limit for clients was set, changed or removed; one record for each limit."""

QUOTA_RECORD = Message(
    name="QuotaRecord",
    type=14,
    former_types=(),
    versions=(((2, 8), Range(0, 0)), ((3, 0), None)),
    flexible=(((2, 8), None),),
    fields=(
        Field(name="entity", kind="struct", is_array=True, struct="EntityData", fields=(
            Field(name="entityType", kind="string"),
            Field(name="entityName", kind="string", is_nullable=True),
        )),
        Field(name="key", kind="string"),
        Field(name="value", kind="float64"),
        Field(name="remove", kind="bool"),
    ),
)
"""A limit for clients was set, changed or removed, in 2.8; ClientQuotaRecord has taken its place and number."""

PRODUCER_IDS_RECORD = Message(
    name="ProducerIdsRecord",
    type=15,
    former_types=(),
    versions=(((3, 0), Range(0, 0)),),
    flexible=(((3, 0), Range(0, None)),),
    fields=(
        Field(name="brokerId", kind="int32"),
        Field(name="brokerEpoch", kind="int64"),
        Field(name="producerIdsEnd", kind="int64", releases=Releases((3, 0), (3, 1))),
        Field(name="nextProducerId", kind="int64", releases=Releases((3, 2), None)),
    ),
)
"""A broker was given a block of 1000 producer ids, to hand on to idempotent and transactional producers (KIP-730)."""

REMOVE_FEATURE_LEVEL_RECORD = Message(
    name="RemoveFeatureLevelRecord",
    type=16,
    former_types=(),
    versions=(((3, 0), Range(0, 0)), ((3, 3), None)),
    flexible=(((3, 0), Range(0, None)),),
    fields=(
        Field(name="name", kind="string"),
    ),
)
"""Was meant to turn a feature off (KIP-746). No release writes it; a FeatureLevelRecord of level 0 does it."""

BROKER_REGISTRATION_CHANGE_RECORD = Message(
    name="BrokerRegistrationChangeRecord",
    type=17,
    former_types=(),
    versions=(((3, 0), Range(0, 0)), ((3, 3), Range(0, 1)), ((3, 7), Range(0, 2)), ((4, 3), Range(0, 3))),
    flexible=(((3, 0), Range(0, None)),),
    fields=(
        Field(name="brokerId", kind="int32"),
        Field(name="brokerEpoch", kind="int64"),
        Field(name="fenced", kind="int8", tag=0),
        Field(name="inControlledShutdown", kind="int8", versions=Range(1, None), tag=1),
        Field(name="logDirs", kind="uuid", is_array=True, versions=Range(2, None), tag=2),
        Field(name="cordonedLogDirs", kind="uuid", is_array=True, is_nullable=True, versions=Range(3, None), tag=3, is_null_by_default=True),
    ),
)
"""What has changed of a registered broker: it was fenced or let in, wants to stop, or told of its log directories. Written since 3.3 in place of types 7 and 8; a field that is absent means no change."""

ACCESS_CONTROL_ENTRY_RECORD = Message(
    name="AccessControlEntryRecord",
    type=18,
    former_types=(),
    versions=(((3, 2), Range(0, 0)),),
    flexible=(((3, 2), Range(0, None)),),
    fields=(
        Field(name="id", kind="uuid"),
        Field(name="resourceType", kind="int8"),
        Field(name="resourceName", kind="string"),
        Field(name="patternType", kind="int8"),
        Field(name="principal", kind="string"),
        Field(name="host", kind="string"),
        Field(name="operation", kind="int8"),
        Field(name="permissionType", kind="int8"),
    ),
)
"""An access control entry was made (KIP-801). Entries never change; one is deleted and another made."""

REMOVE_ACCESS_CONTROL_ENTRY_RECORD = Message(
    name="RemoveAccessControlEntryRecord",
    type=19,
    former_types=(),
    versions=(((3, 2), Range(0, 0)),),
    flexible=(((3, 2), Range(0, None)),),
    fields=(
        Field(name="id", kind="uuid"),
    ),
)
"""An access control entry was deleted."""

NO_OP_RECORD = Message(
    name="NoOpRecord",
    type=20,
    former_types=(),
    versions=(((3, 3), Range(0, 0)),),
    flexible=(((3, 3), Range(0, None)),),
    fields=(),
)
"""Says nothing. The active controller writes one every `metadata.max.idle.interval.ms`, 500 ms unless set, so that the committed offset moves on in a quiet cluster (KIP-835)."""

ZK_MIGRATION_STATE_RECORD = Message(
    name="ZkMigrationStateRecord",
    type=21,
    former_types=(),
    versions=(((3, 4), Range(0, 0)),),
    flexible=(((3, 4), Range(0, None)),),
    fields=(
        Field(name="zkMigrationState", kind="int8"),
    ),
)
"""How far the migration from ZooKeeper has come (KIP-866). A cluster made with KRaft has it too, with 0."""

REMOVE_USER_SCRAM_CREDENTIAL_RECORD = Message(
    name="RemoveUserScramCredentialRecord",
    type=22,
    former_types=(),
    versions=(((3, 5), Range(0, 0)),),
    flexible=(((3, 5), Range(0, None)),),
    fields=(
        Field(name="name", kind="string"),
        Field(name="mechanism", kind="int8"),
    ),
)
"""A user's SCRAM credential was deleted; those of other mechanisms stay."""

BEGIN_TRANSACTION_RECORD = Message(
    name="BeginTransactionRecord",
    type=23,
    former_types=(),
    versions=(((3, 6), Range(0, 0)),),
    flexible=(((3, 6), Range(0, None)),),
    fields=(
        Field(name="name", kind="string", is_nullable=True, tag=0, is_null_by_default=True),
    ),
)
"""The records that follow, up to the end or the abort, apply together or not at all (KIP-868). A transaction of the controller, which has nothing to do with those of producers; never in a snapshot."""

END_TRANSACTION_RECORD = Message(
    name="EndTransactionRecord",
    type=24,
    former_types=(),
    versions=(((3, 6), Range(0, 0)),),
    flexible=(((3, 6), Range(0, None)),),
    fields=(),
)
"""The open transaction of the controller is complete: all of its records apply (KIP-868)."""

ABORT_TRANSACTION_RECORD = Message(
    name="AbortTransactionRecord",
    type=25,
    former_types=(),
    versions=(((3, 6), Range(0, 0)),),
    flexible=(((3, 6), Range(0, None)),),
    fields=(
        Field(name="reason", kind="string", is_nullable=True, tag=0, is_null_by_default=True),
    ),
)
"""The open transaction of the controller is given up: none of its records apply (KIP-868). A new active controller does this with what it finds open."""

REMOVE_DELEGATION_TOKEN_RECORD = Message(
    name="RemoveDelegationTokenRecord",
    type=26,
    former_types=(),
    versions=(((3, 6), Range(0, 0)),),
    flexible=(((3, 6), Range(0, None)),),
    fields=(
        Field(name="tokenId", kind="string"),
    ),
)
"""A delegation token has expired or was revoked."""

REGISTER_CONTROLLER_RECORD = Message(
    name="RegisterControllerRecord",
    type=27,
    former_types=(),
    versions=(((3, 7), Range(0, 0)),),
    flexible=(((3, 7), Range(0, None)),),
    fields=(
        Field(name="controllerId", kind="int32"),
        Field(name="incarnationId", kind="uuid"),
        Field(name="zkMigrationReady", kind="bool"),
        Field(name="endPoints", kind="struct", is_array=True, struct="ControllerEndpoint", fields=(
            Field(name="name", kind="string"),
            Field(name="host", kind="string"),
            Field(name="port", kind="uint16"),
            Field(name="securityProtocol", kind="int16"),
        )),
        Field(name="features", kind="struct", is_array=True, struct="ControllerFeature", fields=(
            Field(name="name", kind="string"),
            Field(name="minSupportedVersion", kind="int16"),
            Field(name="maxSupportedVersion", kind="int16"),
        )),
    ),
)
"""A controller has started and registered with the active one (KIP-919). Replaces what was known of it."""

CLEAR_ELR_RECORD = Message(
    name="ClearElrRecord",
    type=28,
    former_types=(),
    versions=(((4, 0), Range(0, 0)),),
    flexible=(((4, 0), Range(0, None)),),
    fields=(
        Field(name="topicName", kind="string"),
    ),
)
"""The eligible leader replicas of a topic or of all topics are void, the last known ones too: `min.insync.replicas` was changed, on which they depend (KIP-966)."""

MESSAGES = (
    REGISTER_BROKER_RECORD,
    UNREGISTER_BROKER_RECORD,
    TOPIC_RECORD,
    PARTITION_RECORD,
    CONFIG_RECORD,
    PARTITION_CHANGE_RECORD,
    ACCESS_CONTROL_RECORD,
    FENCE_BROKER_RECORD,
    UNFENCE_BROKER_RECORD,
    REMOVE_TOPIC_RECORD,
    DELEGATION_TOKEN_RECORD,
    USER_SCRAM_CREDENTIAL_RECORD,
    FEATURE_LEVEL_RECORD,
    CLIENT_QUOTA_RECORD,
    QUOTA_RECORD,
    PRODUCER_IDS_RECORD,
    REMOVE_FEATURE_LEVEL_RECORD,
    BROKER_REGISTRATION_CHANGE_RECORD,
    ACCESS_CONTROL_ENTRY_RECORD,
    REMOVE_ACCESS_CONTROL_ENTRY_RECORD,
    NO_OP_RECORD,
    ZK_MIGRATION_STATE_RECORD,
    REMOVE_USER_SCRAM_CREDENTIAL_RECORD,
    BEGIN_TRANSACTION_RECORD,
    END_TRANSACTION_RECORD,
    ABORT_TRANSACTION_RECORD,
    REMOVE_DELEGATION_TOKEN_RECORD,
    REGISTER_CONTROLLER_RECORD,
    CLEAR_ELR_RECORD,
)
