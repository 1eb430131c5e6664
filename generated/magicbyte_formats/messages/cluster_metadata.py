# Generated from spec/messages/cluster_metadata.yaml. Do not edit: change it and `make generate`.
# spec sha256 84f5e697569dbe9b202c500f89d0242906f1c3d87ca649dfc59c1e5a20fb3dee
"""Records of __cluster_metadata."""

from magicbyte_kernels.message_schema import (
    MessageField,
    MessageSchema,
    ReleaseRange,
    VersionRange,
)

REGISTER_BROKER_RECORD = MessageSchema(
    name="RegisterBrokerRecord",
    type=0,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)), ((3, 3), VersionRange(0, 1)), ((3, 4), VersionRange(0, 2)), ((3, 7), VersionRange(0, 3)), ((4, 3), VersionRange(0, 4))),
    flexible=(((2, 8), None), ((3, 0), VersionRange(0, None))),
    fields=(
        MessageField(name="brokerId", kind="int32"),
        MessageField(name="isMigratingZkBroker", kind="bool", versions=VersionRange(2, None)),
        MessageField(name="incarnationId", kind="uuid"),
        MessageField(name="brokerEpoch", kind="int64"),
        MessageField(name="endPoints", kind="struct", is_array=True, struct="BrokerEndpoint", fields=(
            MessageField(name="name", kind="string"),
            MessageField(name="host", kind="string"),
            MessageField(name="port", kind="uint16"),
            MessageField(name="securityProtocol", kind="int16"),
        )),
        MessageField(name="features", kind="struct", is_array=True, struct="BrokerFeature", fields=(
            MessageField(name="name", kind="string"),
            MessageField(name="minSupportedVersion", kind="int16"),
            MessageField(name="maxSupportedVersion", kind="int16"),
        )),
        MessageField(name="rack", kind="string", is_nullable=True),
        MessageField(name="fenced", kind="bool", releases=ReleaseRange((3, 0), None)),
        MessageField(name="inControlledShutdown", kind="bool", versions=VersionRange(1, None)),
        MessageField(name="logDirs", kind="uuid", is_array=True, versions=VersionRange(3, None), tag=0),
        MessageField(name="cordonedLogDirs", kind="uuid", is_array=True, is_nullable=True, versions=VersionRange(4, None), tag=1, is_null_by_default=True),
    ),
)
"""A broker has started and registered with the controller, or has amended its registration. Replaces what was known of the broker."""

UNREGISTER_BROKER_RECORD = MessageSchema(
    name="UnregisterBrokerRecord",
    type=1,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), VersionRange(0, None))),
    fields=(
        MessageField(name="brokerId", kind="int32"),
        MessageField(name="brokerEpoch", kind="int64"),
    ),
)
"""A broker was taken out of the cluster for good, as with `kafka-cluster.sh unregister`."""

TOPIC_RECORD = MessageSchema(
    name="TopicRecord",
    type=2,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), VersionRange(0, None))),
    fields=(
        MessageField(name="name", kind="string"),
        MessageField(name="topicId", kind="uuid"),
    ),
)
"""A topic was made. Its partitions follow, each in a PartitionRecord."""

PARTITION_RECORD = MessageSchema(
    name="PartitionRecord",
    type=3,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)), ((3, 7), VersionRange(0, 2))),
    flexible=(((2, 8), None), ((3, 0), VersionRange(0, None))),
    fields=(
        MessageField(name="partitionId", kind="int32"),
        MessageField(name="topicId", kind="uuid"),
        MessageField(name="replicas", kind="int32", is_array=True),
        MessageField(name="isr", kind="int32", is_array=True),
        MessageField(name="removingReplicas", kind="int32", is_array=True, is_nullable=True, releases=ReleaseRange((2, 8), (2, 8))),
        MessageField(name="addingReplicas", kind="int32", is_array=True, is_nullable=True, releases=ReleaseRange((2, 8), (2, 8))),
        MessageField(name="removingReplicas", kind="int32", is_array=True, releases=ReleaseRange((3, 0), None)),
        MessageField(name="addingReplicas", kind="int32", is_array=True, releases=ReleaseRange((3, 0), None)),
        MessageField(name="leader", kind="int32"),
        MessageField(name="leaderRecoveryState", kind="int8", releases=ReleaseRange((3, 2), None), tag=0, default=0),
        MessageField(name="leaderEpoch", kind="int32"),
        MessageField(name="partitionEpoch", kind="int32"),
        MessageField(name="directories", kind="uuid", is_array=True, versions=VersionRange(1, None)),
        MessageField(name="eligibleLeaderReplicas", kind="int32", is_array=True, is_nullable=True, versions=VersionRange(2, None), tag=1, is_null_by_default=True),
        MessageField(name="lastKnownELR", kind="int32", is_array=True, is_nullable=True, versions=VersionRange(2, None), releases=ReleaseRange((3, 7), (3, 7)), tag=2, is_null_by_default=True),
        MessageField(name="lastKnownElr", kind="int32", is_array=True, is_nullable=True, versions=VersionRange(2, None), releases=ReleaseRange((3, 8), None), tag=2, is_null_by_default=True),
    ),
)
"""A partition in full: written when it is made, and in snapshots. Changes come as PartitionChangeRecord."""

CONFIG_RECORD = MessageSchema(
    name="ConfigRecord",
    type=4,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), VersionRange(0, None))),
    fields=(
        MessageField(name="resourceType", kind="int8"),
        MessageField(name="resourceName", kind="string"),
        MessageField(name="name", kind="string"),
        MessageField(name="value", kind="string", releases=ReleaseRange((2, 8), (2, 8))),
        MessageField(name="value", kind="string", is_nullable=True, releases=ReleaseRange((3, 0), None)),
    ),
)
"""A setting was made, changed or removed; one record for each setting of each resource."""

PARTITION_CHANGE_RECORD = MessageSchema(
    name="PartitionChangeRecord",
    type=5,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)), ((3, 7), VersionRange(0, 2))),
    flexible=(((2, 8), VersionRange(0, None)),),
    fields=(
        MessageField(name="partitionId", kind="int32"),
        MessageField(name="topicId", kind="uuid"),
        MessageField(name="isr", kind="int32", is_array=True, is_nullable=True, tag=0, is_null_by_default=True),
        MessageField(name="leader", kind="int32", tag=1, default=-2),
        MessageField(name="replicas", kind="int32", is_array=True, is_nullable=True, releases=ReleaseRange((3, 0), None), tag=2, is_null_by_default=True),
        MessageField(name="removingReplicas", kind="int32", is_array=True, is_nullable=True, releases=ReleaseRange((3, 0), None), tag=3, is_null_by_default=True),
        MessageField(name="addingReplicas", kind="int32", is_array=True, is_nullable=True, releases=ReleaseRange((3, 0), None), tag=4, is_null_by_default=True),
        MessageField(name="leaderRecoveryState", kind="int8", releases=ReleaseRange((3, 2), None), tag=5, default=-1),
        MessageField(name="directories", kind="uuid", is_array=True, is_nullable=True, versions=VersionRange(1, None), tag=8, is_null_by_default=True),
        MessageField(name="eligibleLeaderReplicas", kind="int32", is_array=True, is_nullable=True, versions=VersionRange(2, None), tag=6, is_null_by_default=True),
        MessageField(name="lastKnownELR", kind="int32", is_array=True, is_nullable=True, versions=VersionRange(2, None), releases=ReleaseRange((3, 7), (3, 7)), tag=7, is_null_by_default=True),
        MessageField(name="lastKnownElr", kind="int32", is_array=True, is_nullable=True, versions=VersionRange(2, None), releases=ReleaseRange((3, 8), None), tag=7, is_null_by_default=True),
    ),
)
"""What has changed of a partition, such as its leader or its in-sync replicas. A field that is absent leaves what it is about as it was."""

ACCESS_CONTROL_RECORD = MessageSchema(
    name="AccessControlRecord",
    type=6,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)), ((3, 5), None)),
    flexible=(((2, 8), VersionRange(0, None)),),
    fields=(
        MessageField(name="resourceType", kind="int8"),
        MessageField(name="resourceName", kind="string", is_nullable=True),
        MessageField(name="patternType", kind="int8"),
        MessageField(name="principal", kind="string"),
        MessageField(name="host", kind="string"),
        MessageField(name="operation", kind="int8"),
        MessageField(name="permissionType", kind="int8"),
    ),
)
"""An access control entry, as first designed (KIP-631). No release writes it; type 18 came instead."""

FENCE_BROKER_RECORD = MessageSchema(
    name="FenceBrokerRecord",
    type=7,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), VersionRange(0, None))),
    fields=(
        MessageField(name="id", kind="int32"),
        MessageField(name="epoch", kind="int64"),
    ),
)
"""A broker was fenced: its heartbeats failed to come, or it has stopped. From `metadata.version` 3.3-IV2 on, type 17 is written instead."""

UNFENCE_BROKER_RECORD = MessageSchema(
    name="UnfenceBrokerRecord",
    type=8,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), VersionRange(0, None))),
    fields=(
        MessageField(name="id", kind="int32"),
        MessageField(name="epoch", kind="int64"),
    ),
)
"""A broker has caught up and may lead partitions again. From `metadata.version` 3.3-IV2 on, type 17 is written instead."""

REMOVE_TOPIC_RECORD = MessageSchema(
    name="RemoveTopicRecord",
    type=9,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), VersionRange(0, None))),
    fields=(
        MessageField(name="topicId", kind="uuid"),
    ),
)
"""A topic was deleted."""

DELEGATION_TOKEN_RECORD = MessageSchema(
    name="DelegationTokenRecord",
    type=10,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), VersionRange(0, None))),
    fields=(
        MessageField(name="owner", kind="string"),
        MessageField(name="requester", kind="string", releases=ReleaseRange((3, 6), None)),
        MessageField(name="renewers", kind="string", is_array=True),
        MessageField(name="issueTimestamp", kind="int64"),
        MessageField(name="maxTimestamp", kind="int64"),
        MessageField(name="expirationTimestamp", kind="int64"),
        MessageField(name="tokenId", kind="string"),
    ),
)
"""A delegation token (KIP-48) was made or renewed; a later record with its id replaces it. Written since 3.6. The secret is not in it, but is computed from the id and a key of the brokers."""

USER_SCRAM_CREDENTIAL_RECORD = MessageSchema(
    name="UserScramCredentialRecord",
    type=11,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), VersionRange(0, None))),
    fields=(
        MessageField(name="name", kind="string"),
        MessageField(name="credentialInfos", kind="struct", is_array=True, releases=ReleaseRange((2, 8), (3, 4)), struct="CredentialInfo", fields=(
            MessageField(name="mechanism", kind="int8"),
            MessageField(name="salt", kind="bytes"),
            MessageField(name="saltedPassword", kind="bytes"),
            MessageField(name="iterations", kind="int32"),
        )),
        MessageField(name="mechanism", kind="int8", releases=ReleaseRange((3, 5), None)),
        MessageField(name="salt", kind="bytes", releases=ReleaseRange((3, 5), None)),
        MessageField(name="storedKey", kind="bytes", releases=ReleaseRange((3, 5), None)),
        MessageField(name="serverKey", kind="bytes", releases=ReleaseRange((3, 5), None)),
        MessageField(name="iterations", kind="int32", releases=ReleaseRange((3, 5), None)),
    ),
)
"""A user's SCRAM credential (RFC 5802) was set or changed, by `kafka-configs.sh` or by `kafka-storage.sh format` (KIP-900). Written since 3.5, one for each user and mechanism."""

FEATURE_LEVEL_RECORD = MessageSchema(
    name="FeatureLevelRecord",
    type=12,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None), ((3, 0), VersionRange(0, None))),
    fields=(
        MessageField(name="name", kind="string"),
        MessageField(name="minFeatureLevel", kind="int16", releases=ReleaseRange((2, 8), (3, 2))),
        MessageField(name="maxFeatureLevel", kind="int16", releases=ReleaseRange((2, 8), (3, 2))),
        MessageField(name="featureLevel", kind="int16", releases=ReleaseRange((3, 3), None)),
    ),
)
"""The cluster has agreed on the level of a feature (KIP-584, KIP-778). Since 3.3, that of `metadata.version` is the first record of a snapshot and of a new log, there behind a BeginTransactionRecord since 3.6."""

CLIENT_QUOTA_RECORD = MessageSchema(
    name="ClientQuotaRecord",
    type=14,
    former_types=(),
    versions=(((3, 0), VersionRange(0, 0)),),
    flexible=(((3, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="entity", kind="struct", is_array=True, struct="EntityData", fields=(
            MessageField(name="entityType", kind="string"),
            MessageField(name="entityName", kind="string", is_nullable=True),
        )),
        MessageField(name="key", kind="string"),
        MessageField(name="value", kind="float64"),
        MessageField(name="remove", kind="bool"),
    ),
)
"""A limit for clients was set, changed or removed; one record for each limit."""

QUOTA_RECORD = MessageSchema(
    name="QuotaRecord",
    type=14,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)), ((3, 0), None)),
    flexible=(((2, 8), None),),
    fields=(
        MessageField(name="entity", kind="struct", is_array=True, struct="EntityData", fields=(
            MessageField(name="entityType", kind="string"),
            MessageField(name="entityName", kind="string", is_nullable=True),
        )),
        MessageField(name="key", kind="string"),
        MessageField(name="value", kind="float64"),
        MessageField(name="remove", kind="bool"),
    ),
)
"""A limit for clients was set, changed or removed, in 2.8; ClientQuotaRecord has taken its place and number."""

PRODUCER_IDS_RECORD = MessageSchema(
    name="ProducerIdsRecord",
    type=15,
    former_types=(),
    versions=(((3, 0), VersionRange(0, 0)),),
    flexible=(((3, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="brokerId", kind="int32"),
        MessageField(name="brokerEpoch", kind="int64"),
        MessageField(name="producerIdsEnd", kind="int64", releases=ReleaseRange((3, 0), (3, 1))),
        MessageField(name="nextProducerId", kind="int64", releases=ReleaseRange((3, 2), None)),
    ),
)
"""A broker was given a block of 1000 producer ids, to hand on to idempotent and transactional producers (KIP-730)."""

REMOVE_FEATURE_LEVEL_RECORD = MessageSchema(
    name="RemoveFeatureLevelRecord",
    type=16,
    former_types=(),
    versions=(((3, 0), VersionRange(0, 0)), ((3, 3), None)),
    flexible=(((3, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="name", kind="string"),
    ),
)
"""Was meant to turn a feature off (KIP-746). No release writes it; a FeatureLevelRecord of level 0 does it."""

BROKER_REGISTRATION_CHANGE_RECORD = MessageSchema(
    name="BrokerRegistrationChangeRecord",
    type=17,
    former_types=(),
    versions=(((3, 0), VersionRange(0, 0)), ((3, 3), VersionRange(0, 1)), ((3, 7), VersionRange(0, 2)), ((4, 3), VersionRange(0, 3))),
    flexible=(((3, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="brokerId", kind="int32"),
        MessageField(name="brokerEpoch", kind="int64"),
        MessageField(name="fenced", kind="int8", tag=0),
        MessageField(name="inControlledShutdown", kind="int8", versions=VersionRange(1, None), tag=1),
        MessageField(name="logDirs", kind="uuid", is_array=True, versions=VersionRange(2, None), tag=2),
        MessageField(name="cordonedLogDirs", kind="uuid", is_array=True, is_nullable=True, versions=VersionRange(3, None), tag=3, is_null_by_default=True),
    ),
)
"""What has changed of a registered broker: it was fenced or let in, wants to stop, or told of its log directories. Written since 3.3 in place of types 7 and 8; a field that is absent means no change."""

ACCESS_CONTROL_ENTRY_RECORD = MessageSchema(
    name="AccessControlEntryRecord",
    type=18,
    former_types=(),
    versions=(((3, 2), VersionRange(0, 0)),),
    flexible=(((3, 2), VersionRange(0, None)),),
    fields=(
        MessageField(name="id", kind="uuid"),
        MessageField(name="resourceType", kind="int8"),
        MessageField(name="resourceName", kind="string"),
        MessageField(name="patternType", kind="int8"),
        MessageField(name="principal", kind="string"),
        MessageField(name="host", kind="string"),
        MessageField(name="operation", kind="int8"),
        MessageField(name="permissionType", kind="int8"),
    ),
)
"""An access control entry was made (KIP-801). Entries never change; one is deleted and another made."""

REMOVE_ACCESS_CONTROL_ENTRY_RECORD = MessageSchema(
    name="RemoveAccessControlEntryRecord",
    type=19,
    former_types=(),
    versions=(((3, 2), VersionRange(0, 0)),),
    flexible=(((3, 2), VersionRange(0, None)),),
    fields=(
        MessageField(name="id", kind="uuid"),
    ),
)
"""An access control entry was deleted."""

NO_OP_RECORD = MessageSchema(
    name="NoOpRecord",
    type=20,
    former_types=(),
    versions=(((3, 3), VersionRange(0, 0)),),
    flexible=(((3, 3), VersionRange(0, None)),),
    fields=(),
)
"""Says nothing. The active controller writes one every `metadata.max.idle.interval.ms`, 500 ms unless set, so that the committed offset moves on in a quiet cluster (KIP-835)."""

ZK_MIGRATION_STATE_RECORD = MessageSchema(
    name="ZkMigrationStateRecord",
    type=21,
    former_types=(),
    versions=(((3, 4), VersionRange(0, 0)),),
    flexible=(((3, 4), VersionRange(0, None)),),
    fields=(
        MessageField(name="zkMigrationState", kind="int8"),
    ),
)
"""How far the migration from ZooKeeper has come (KIP-866). A cluster made with KRaft has it too, with 0."""

REMOVE_USER_SCRAM_CREDENTIAL_RECORD = MessageSchema(
    name="RemoveUserScramCredentialRecord",
    type=22,
    former_types=(),
    versions=(((3, 5), VersionRange(0, 0)),),
    flexible=(((3, 5), VersionRange(0, None)),),
    fields=(
        MessageField(name="name", kind="string"),
        MessageField(name="mechanism", kind="int8"),
    ),
)
"""A user's SCRAM credential was deleted; those of other mechanisms stay."""

BEGIN_TRANSACTION_RECORD = MessageSchema(
    name="BeginTransactionRecord",
    type=23,
    former_types=(),
    versions=(((3, 6), VersionRange(0, 0)),),
    flexible=(((3, 6), VersionRange(0, None)),),
    fields=(
        MessageField(name="name", kind="string", is_nullable=True, tag=0, is_null_by_default=True),
    ),
)
"""The records that follow, up to the end or the abort, apply together or not at all (KIP-868). A transaction of the controller, which has nothing to do with those of producers; never in a snapshot."""

END_TRANSACTION_RECORD = MessageSchema(
    name="EndTransactionRecord",
    type=24,
    former_types=(),
    versions=(((3, 6), VersionRange(0, 0)),),
    flexible=(((3, 6), VersionRange(0, None)),),
    fields=(),
)
"""The open transaction of the controller is complete: all of its records apply (KIP-868)."""

ABORT_TRANSACTION_RECORD = MessageSchema(
    name="AbortTransactionRecord",
    type=25,
    former_types=(),
    versions=(((3, 6), VersionRange(0, 0)),),
    flexible=(((3, 6), VersionRange(0, None)),),
    fields=(
        MessageField(name="reason", kind="string", is_nullable=True, tag=0, is_null_by_default=True),
    ),
)
"""The open transaction of the controller is given up: none of its records apply (KIP-868). A new active controller does this with what it finds open."""

REMOVE_DELEGATION_TOKEN_RECORD = MessageSchema(
    name="RemoveDelegationTokenRecord",
    type=26,
    former_types=(),
    versions=(((3, 6), VersionRange(0, 0)),),
    flexible=(((3, 6), VersionRange(0, None)),),
    fields=(
        MessageField(name="tokenId", kind="string"),
    ),
)
"""A delegation token has expired or was revoked."""

REGISTER_CONTROLLER_RECORD = MessageSchema(
    name="RegisterControllerRecord",
    type=27,
    former_types=(),
    versions=(((3, 7), VersionRange(0, 0)),),
    flexible=(((3, 7), VersionRange(0, None)),),
    fields=(
        MessageField(name="controllerId", kind="int32"),
        MessageField(name="incarnationId", kind="uuid"),
        MessageField(name="zkMigrationReady", kind="bool"),
        MessageField(name="endPoints", kind="struct", is_array=True, struct="ControllerEndpoint", fields=(
            MessageField(name="name", kind="string"),
            MessageField(name="host", kind="string"),
            MessageField(name="port", kind="uint16"),
            MessageField(name="securityProtocol", kind="int16"),
        )),
        MessageField(name="features", kind="struct", is_array=True, struct="ControllerFeature", fields=(
            MessageField(name="name", kind="string"),
            MessageField(name="minSupportedVersion", kind="int16"),
            MessageField(name="maxSupportedVersion", kind="int16"),
        )),
    ),
)
"""A controller has started and registered with the active one (KIP-919). Replaces what was known of it."""

CLEAR_ELR_RECORD = MessageSchema(
    name="ClearElrRecord",
    type=28,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="topicName", kind="string"),
    ),
)
"""The eligible leader replicas of a topic or of all topics are void, the last known ones too: `min.insync.replicas` was changed, on which they depend (KIP-966)."""

UNREGISTER_CONTROLLER_RECORD = MessageSchema(
    name="UnregisterControllerRecord",
    type=29,
    former_types=(),
    versions=(((4, 4), VersionRange(0, 0)),),
    flexible=(((4, 4), VersionRange(0, None)),),
    fields=(
        MessageField(name="controllerId", kind="int32"),
    ),
)
"""The registration of a controller was deleted (KIP-1312), so that it no longer decides which levels of features the cluster can have. Written since 4.4, after the node was removed from the voters of the quorum and stopped."""

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
    UNREGISTER_CONTROLLER_RECORD,
)
