# Generated from spec/messages/consumer_offsets.yaml. Do not edit: change it and `make generate`.
# spec sha256 18b4b9c758622cec0a2a6a457fadee3aab838df2d7e5d891364a16f1f3e79239
"""Records of __consumer_offsets."""

from magicbyte_kernels.message_schema import (
    MessageField,
    MessageSchema,
    ReleaseRange,
    VersionRange,
)

OFFSET_COMMIT_KEY = MessageSchema(
    name="OffsetCommitKey",
    type=1,
    former_types=((0, ReleaseRange((2, 8), (4, 0))),),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None),),
    fields=(
        MessageField(name="group", kind="string"),
        MessageField(name="topic", kind="string"),
        MessageField(name="partition", kind="int32"),
    ),
)
"""Key of a committed offset, which groups of all kinds but share groups have. Brokers before 0.9 wrote it as type 0, which since 4.1 is a record of its own."""

OFFSET_COMMIT_VALUE = MessageSchema(
    name="OffsetCommitValue",
    type=1,
    former_types=((0, ReleaseRange((2, 8), (4, 0))),),
    versions=(((2, 8), VersionRange(0, 3)), ((3, 4), VersionRange(0, 4))),
    flexible=(((2, 8), VersionRange(4, None)),),
    fields=(
        MessageField(name="offset", kind="int64"),
        MessageField(name="leaderEpoch", kind="int32", versions=VersionRange(3, None)),
        MessageField(name="metadata", kind="string"),
        MessageField(name="commitTimestamp", kind="int64"),
        MessageField(name="expireTimestamp", kind="int64", versions=VersionRange(1, 1)),
        MessageField(name="topicId", kind="uuid", versions=VersionRange(4, None), releases=ReleaseRange((4, 1), None), tag=0),
    ),
)
"""Where a group goes on reading a partition; written at every commit. In a batch of a transaction it counts only if the marker that ends the transaction is a commit (KIP-98)."""

GROUP_METADATA_KEY = MessageSchema(
    name="GroupMetadataKey",
    type=2,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 0)),),
    flexible=(((2, 8), None),),
    fields=(
        MessageField(name="group", kind="string"),
    ),
)
"""Key of a classic group, one that rebalances with JoinGroup and SyncGroup."""

GROUP_METADATA_VALUE_MEMBER_METADATA = (
    MessageField(name="memberId", kind="string"),
    MessageField(name="groupInstanceId", kind="string", is_nullable=True, versions=VersionRange(3, None)),
    MessageField(name="clientId", kind="string"),
    MessageField(name="clientHost", kind="string"),
    MessageField(name="rebalanceTimeout", kind="int32", versions=VersionRange(1, None)),
    MessageField(name="sessionTimeout", kind="int32"),
    MessageField(name="subscription", kind="bytes"),
    MessageField(name="assignment", kind="bytes"),
)

GROUP_METADATA_VALUE = MessageSchema(
    name="GroupMetadataValue",
    type=2,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 3)), ((3, 4), VersionRange(0, 4))),
    flexible=(((2, 8), VersionRange(4, None)),),
    fields=(
        MessageField(name="protocolType", kind="string"),
        MessageField(name="generation", kind="int32"),
        MessageField(name="protocol", kind="string", is_nullable=True),
        MessageField(name="leader", kind="string", is_nullable=True),
        MessageField(name="currentStateTimestamp", kind="int64", versions=VersionRange(2, None)),
        MessageField(name="members", kind="struct", is_array=True, fields=GROUP_METADATA_VALUE_MEMBER_METADATA),
    ),
)
"""A classic group and all its members. Written when the group is created, when the leader has handed in an assignment, and when the last member has left."""

LEGACY_OFFSET_COMMIT_KEY = MessageSchema(
    name="LegacyOffsetCommitKey",
    type=0,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), None),),
    fields=(
        MessageField(name="group", kind="string"),
        MessageField(name="topic", kind="string"),
        MessageField(name="partition", kind="int32"),
    ),
)
"""Key of a committed offset, as brokers before 0.9 wrote it; the same fields as OffsetCommitKey."""

LEGACY_OFFSET_COMMIT_VALUE = MessageSchema(
    name="LegacyOffsetCommitValue",
    type=0,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), None),),
    fields=(
        MessageField(name="offset", kind="int64"),
        MessageField(name="metadata", kind="string"),
        MessageField(name="commitTimestamp", kind="int64"),
    ),
)
"""Where a group goes on reading a partition, as brokers before 0.9 wrote it; the same fields as version 0 of OffsetCommitValue."""

CONSUMER_GROUP_METADATA_KEY = MessageSchema(
    name="ConsumerGroupMetadataKey",
    type=3,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
    ),
)
"""Key of a consumer group (KIP-848)."""

CONSUMER_GROUP_METADATA_VALUE = MessageSchema(
    name="ConsumerGroupMetadataValue",
    type=3,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), VersionRange(0, None)),),
    fields=(
        MessageField(name="epoch", kind="int32"),
        MessageField(name="metadataHash", kind="int64", releases=ReleaseRange((4, 1), None), tag=0, default=0),
    ),
)
"""The epoch of a consumer group; written when the group is created and each time it goes up."""

CONSUMER_GROUP_PARTITION_METADATA_KEY = MessageSchema(
    name="ConsumerGroupPartitionMetadataKey",
    type=4,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
    ),
)
"""Key of what a consumer group (KIP-848) knows of its topics."""

CONSUMER_GROUP_PARTITION_METADATA_VALUE = MessageSchema(
    name="ConsumerGroupPartitionMetadataValue",
    type=4,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), VersionRange(0, None)),),
    fields=(
        MessageField(name="topics", kind="struct", is_array=True, struct="TopicMetadata", fields=(
            MessageField(name="topicId", kind="uuid"),
            MessageField(name="topicName", kind="string"),
            MessageField(name="numPartitions", kind="int32"),
            MessageField(name="partitionMetadata", kind="struct", is_array=True, struct="PartitionMetadata", fields=(
                MessageField(name="partition", kind="int32"),
                MessageField(name="racks", kind="string", is_array=True),
            )),
        )),
    ),
)
"""The topics that a consumer group subscribes to, as last seen, so that a change is noticed. Written up to 4.0; later brokers keep MetadataHash instead (KIP-1101) and write a tombstone here."""

CONSUMER_GROUP_MEMBER_METADATA_KEY = MessageSchema(
    name="ConsumerGroupMemberMetadataKey",
    type=5,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="memberId", kind="string"),
    ),
)
"""Key of what a member of a consumer group (KIP-848) says of itself."""

CONSUMER_GROUP_MEMBER_METADATA_VALUE = MessageSchema(
    name="ConsumerGroupMemberMetadataValue",
    type=5,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), VersionRange(0, None)),),
    fields=(
        MessageField(name="instanceId", kind="string", is_nullable=True),
        MessageField(name="rackId", kind="string", is_nullable=True),
        MessageField(name="clientId", kind="string"),
        MessageField(name="clientHost", kind="string"),
        MessageField(name="subscribedTopicNames", kind="string", is_array=True),
        MessageField(name="subscribedTopicRegex", kind="string", is_nullable=True),
        MessageField(name="rebalanceTimeoutMs", kind="int32"),
        MessageField(name="serverAssignor", kind="string", is_nullable=True),
        MessageField(name="classicMemberMetadata", kind="struct", is_nullable=True, tag=0, struct="ClassicMemberMetadata", fields=(
            MessageField(name="sessionTimeoutMs", kind="int32"),
            MessageField(name="supportedProtocols", kind="struct", is_array=True, struct="ClassicProtocol", fields=(
                MessageField(name="name", kind="string"),
                MessageField(name="metadata", kind="bytes"),
            )),
        )),
    ),
)
"""What a member of a consumer group says of itself; written when it joins, and when anything of it changes."""

CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = MessageSchema(
    name="ConsumerGroupTargetAssignmentMetadataKey",
    type=6,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
    ),
)
"""Key of the target assignment of a consumer group (KIP-848)."""

CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE = MessageSchema(
    name="ConsumerGroupTargetAssignmentMetadataValue",
    type=6,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), VersionRange(0, None)),),
    fields=(
        MessageField(name="assignmentEpoch", kind="int32"),
        MessageField(name="assignmentTimestamp", kind="int64", releases=ReleaseRange((4, 3), None), tag=0, default=0),
    ),
)
"""Which epoch a consumer group's target assignment is for; written each time one is made, after those of its members (type 7) that changed."""

CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = MessageSchema(
    name="ConsumerGroupTargetAssignmentMemberKey",
    type=7,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="memberId", kind="string"),
    ),
)
"""Key of the target assignment of one member of a consumer group (KIP-848)."""

CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE = MessageSchema(
    name="ConsumerGroupTargetAssignmentMemberValue",
    type=7,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), VersionRange(0, None)),),
    fields=(
        MessageField(name="topicPartitions", kind="struct", is_array=True, struct="TopicPartition", fields=(
            MessageField(name="topicId", kind="uuid"),
            MessageField(name="partitions", kind="int32", is_array=True),
        )),
    ),
)
"""Partitions that the assignor means a member of a consumer group to end up with; written where they change. What it has so far is in type 8."""

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = MessageSchema(
    name="ConsumerGroupCurrentMemberAssignmentKey",
    type=8,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="memberId", kind="string"),
    ),
)
"""Key of the assignment that a member of a consumer group (KIP-848) has at present."""

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TOPIC_PARTITIONS = (
    MessageField(name="topicId", kind="uuid"),
    MessageField(name="partitions", kind="int32", is_array=True),
    MessageField(name="assignmentEpochs", kind="int32", is_array=True, is_nullable=True, releases=ReleaseRange((4, 3), None), tag=0),
)

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE = MessageSchema(
    name="ConsumerGroupCurrentMemberAssignmentValue",
    type=8,
    former_types=(),
    versions=(((3, 8), VersionRange(0, 0)),),
    flexible=(((3, 8), VersionRange(0, None)),),
    fields=(
        MessageField(name="memberEpoch", kind="int32"),
        MessageField(name="previousMemberEpoch", kind="int32"),
        MessageField(name="state", kind="int8"),
        MessageField(name="assignedPartitions", kind="struct", is_array=True, fields=CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TOPIC_PARTITIONS),
        MessageField(name="partitionsPendingRevocation", kind="struct", is_array=True, fields=CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TOPIC_PARTITIONS),
    ),
)
"""How far a member of a consumer group is on its way to its target (type 7); written at every step."""

SHARE_GROUP_PARTITION_METADATA_KEY = MessageSchema(
    name="ShareGroupPartitionMetadataKey",
    type=9,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)), ((4, 1), None)),
    flexible=(((4, 0), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
    ),
)
"""Key of what a share group (KIP-932) knows of its topics."""

SHARE_GROUP_PARTITION_METADATA_VALUE = MessageSchema(
    name="ShareGroupPartitionMetadataValue",
    type=9,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)), ((4, 1), None)),
    flexible=(((4, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="topics", kind="struct", is_array=True, struct="TopicMetadata", fields=(
            MessageField(name="topicId", kind="uuid"),
            MessageField(name="topicName", kind="string"),
            MessageField(name="numPartitions", kind="int32"),
            MessageField(name="partitionMetadata", kind="struct", is_array=True, struct="PartitionMetadata", fields=(
                MessageField(name="partition", kind="int32"),
                MessageField(name="racks", kind="string", is_array=True),
            )),
        )),
    ),
)
"""The topics that a share group subscribes to, as last seen, so that a change is noticed. Of 4.0 alone; later brokers keep MetadataHash instead (KIP-1101)."""

SHARE_GROUP_MEMBER_METADATA_KEY = MessageSchema(
    name="ShareGroupMemberMetadataKey",
    type=10,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="memberId", kind="string"),
    ),
)
"""Key of what a member of a share group (KIP-932) says of itself."""

SHARE_GROUP_MEMBER_METADATA_VALUE = MessageSchema(
    name="ShareGroupMemberMetadataValue",
    type=10,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="rackId", kind="string", is_nullable=True),
        MessageField(name="clientId", kind="string"),
        MessageField(name="clientHost", kind="string"),
        MessageField(name="subscribedTopicNames", kind="string", is_array=True),
    ),
)
"""What a member of a share group says of itself; written when it joins, and when anything of it changes."""

SHARE_GROUP_METADATA_KEY = MessageSchema(
    name="ShareGroupMetadataKey",
    type=11,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
    ),
)
"""Key of a share group (KIP-932)."""

SHARE_GROUP_METADATA_VALUE = MessageSchema(
    name="ShareGroupMetadataValue",
    type=11,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="epoch", kind="int32"),
        MessageField(name="metadataHash", kind="int64", releases=ReleaseRange((4, 1), None)),
    ),
)
"""The epoch of a share group; written when the group is created and each time it goes up."""

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = MessageSchema(
    name="ShareGroupTargetAssignmentMetadataKey",
    type=12,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
    ),
)
"""Key of the target assignment of a share group (KIP-932)."""

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE = MessageSchema(
    name="ShareGroupTargetAssignmentMetadataValue",
    type=12,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="assignmentEpoch", kind="int32"),
        MessageField(name="assignmentTimestamp", kind="int64", releases=ReleaseRange((4, 3), None), tag=0, default=0),
    ),
)
"""Which epoch a share group's target assignment is for; written each time one is made, after those of its members (type 13) that changed."""

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = MessageSchema(
    name="ShareGroupTargetAssignmentMemberKey",
    type=13,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="memberId", kind="string"),
    ),
)
"""Key of the target assignment of one member of a share group (KIP-932)."""

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE = MessageSchema(
    name="ShareGroupTargetAssignmentMemberValue",
    type=13,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="topicPartitions", kind="struct", is_array=True, struct="TopicPartition", fields=(
            MessageField(name="topicId", kind="uuid"),
            MessageField(name="partitions", kind="int32", is_array=True),
        )),
    ),
)
"""Partitions that the assignor means a member of a share group to read; written where they change. Several members may have the same partition."""

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = MessageSchema(
    name="ShareGroupCurrentMemberAssignmentKey",
    type=14,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="memberId", kind="string"),
    ),
)
"""Key of the assignment that a member of a share group (KIP-932) has at present."""

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TOPIC_PARTITIONS = (
    MessageField(name="topicId", kind="uuid"),
    MessageField(name="partitions", kind="int32", is_array=True),
)

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE = MessageSchema(
    name="ShareGroupCurrentMemberAssignmentValue",
    type=14,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="memberEpoch", kind="int32"),
        MessageField(name="previousMemberEpoch", kind="int32"),
        MessageField(name="state", kind="int8"),
        MessageField(name="assignedPartitions", kind="struct", is_array=True, fields=SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TOPIC_PARTITIONS),
    ),
)
"""What a member of a share group reads at present; written when it takes over a new target (type 13)."""

SHARE_GROUP_STATE_PARTITION_METADATA_KEY = MessageSchema(
    name="ShareGroupStatePartitionMetadataKey",
    type=15,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
    ),
)
"""Key of what a share group (KIP-932) has in __share_group_state."""

SHARE_GROUP_STATE_PARTITION_METADATA_VALUE_TOPIC_PARTITIONS_INFO = (
    MessageField(name="topicId", kind="uuid"),
    MessageField(name="topicName", kind="string"),
    MessageField(name="partitions", kind="int32", is_array=True),
)

SHARE_GROUP_STATE_PARTITION_METADATA_VALUE_TOPIC_INFO = (
    MessageField(name="topicId", kind="uuid"),
    MessageField(name="topicName", kind="string"),
)

SHARE_GROUP_STATE_PARTITION_METADATA_VALUE = MessageSchema(
    name="ShareGroupStatePartitionMetadataValue",
    type=15,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="initializingTopics", kind="struct", is_array=True, releases=ReleaseRange((4, 1), None), fields=SHARE_GROUP_STATE_PARTITION_METADATA_VALUE_TOPIC_PARTITIONS_INFO),
        MessageField(name="initializedTopics", kind="struct", is_array=True, fields=SHARE_GROUP_STATE_PARTITION_METADATA_VALUE_TOPIC_PARTITIONS_INFO),
        MessageField(name="deletingTopics", kind="struct", is_array=True, fields=SHARE_GROUP_STATE_PARTITION_METADATA_VALUE_TOPIC_INFO),
    ),
)
"""Which partitions of a share group have a state in __share_group_state. Written before the share coordinator is asked to make or delete one, and after it has."""

CONSUMER_GROUP_REGULAR_EXPRESSION_KEY = MessageSchema(
    name="ConsumerGroupRegularExpressionKey",
    type=16,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="regularExpression", kind="string"),
    ),
)
"""Key of a regular expression that members of a consumer group (KIP-848) subscribe with."""

CONSUMER_GROUP_REGULAR_EXPRESSION_VALUE = MessageSchema(
    name="ConsumerGroupRegularExpressionValue",
    type=16,
    former_types=(),
    versions=(((4, 0), VersionRange(0, 0)),),
    flexible=(((4, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="topics", kind="string", is_array=True),
        MessageField(name="version", kind="int64"),
        MessageField(name="timestamp", kind="int64"),
    ),
)
"""The topics that a regular expression matches; written when a member brings in the expression, and when its matches are worked out again."""

STREAMS_GROUP_METADATA_KEY = MessageSchema(
    name="StreamsGroupMetadataKey",
    type=17,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
    ),
)
"""Key of a streams group (KIP-1071)."""

STREAMS_GROUP_METADATA_VALUE_LAST_ASSIGNMENT_CONFIG = (
    MessageField(name="key", kind="string"),
    MessageField(name="value", kind="string"),
)

STREAMS_GROUP_METADATA_VALUE = MessageSchema(
    name="StreamsGroupMetadataValue",
    type=17,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), VersionRange(0, None)),),
    fields=(
        MessageField(name="epoch", kind="int32"),
        MessageField(name="metadataHash", kind="int64"),
        MessageField(name="validatedTopologyEpoch", kind="int32", releases=ReleaseRange((4, 2), None), tag=0, default=-1),
        MessageField(name="lastAssignmentConfigs", kind="struct", is_array=True, is_nullable=True, releases=ReleaseRange((4, 2), None), tag=1, fields=STREAMS_GROUP_METADATA_VALUE_LAST_ASSIGNMENT_CONFIG),
        MessageField(name="storedDescriptionTopologyEpoch", kind="int32", releases=ReleaseRange((4, 4), None), tag=2, default=-1),
        MessageField(name="failedDescriptionTopologyEpoch", kind="int32", releases=ReleaseRange((4, 4), None), tag=3, default=-1),
    ),
)
"""The epoch of a streams group; written when the group is created and each time it goes up."""

STREAMS_GROUP_MEMBER_METADATA_KEY = MessageSchema(
    name="StreamsGroupMemberMetadataKey",
    type=19,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="memberId", kind="string"),
    ),
)
"""Key of what a member of a streams group (KIP-1071) says of itself."""

STREAMS_GROUP_MEMBER_METADATA_VALUE_ENDPOINT = (
    MessageField(name="host", kind="string"),
    MessageField(name="port", kind="uint16"),
)

STREAMS_GROUP_MEMBER_METADATA_VALUE_KEY_VALUE = (
    MessageField(name="key", kind="string"),
    MessageField(name="value", kind="string"),
)

STREAMS_GROUP_MEMBER_METADATA_VALUE = MessageSchema(
    name="StreamsGroupMemberMetadataValue",
    type=19,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), VersionRange(0, None)),),
    fields=(
        MessageField(name="instanceId", kind="string", is_nullable=True),
        MessageField(name="rackId", kind="string", is_nullable=True),
        MessageField(name="clientId", kind="string"),
        MessageField(name="clientHost", kind="string"),
        MessageField(name="rebalanceTimeoutMs", kind="int32"),
        MessageField(name="topologyEpoch", kind="int32"),
        MessageField(name="processId", kind="string"),
        MessageField(name="userEndpoint", kind="struct", is_nullable=True, fields=STREAMS_GROUP_MEMBER_METADATA_VALUE_ENDPOINT),
        MessageField(name="clientTags", kind="struct", is_array=True, fields=STREAMS_GROUP_MEMBER_METADATA_VALUE_KEY_VALUE),
    ),
)
"""What a member of a streams group, a thread of Kafka Streams, says of itself; written when it joins, and when anything of it changes."""

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = MessageSchema(
    name="StreamsGroupTargetAssignmentMetadataKey",
    type=20,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
    ),
)
"""Key of the target assignment of a streams group (KIP-1071)."""

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE = MessageSchema(
    name="StreamsGroupTargetAssignmentMetadataValue",
    type=20,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), VersionRange(0, None)),),
    fields=(
        MessageField(name="assignmentEpoch", kind="int32"),
        MessageField(name="assignmentTimestamp", kind="int64", releases=ReleaseRange((4, 3), None), tag=0, default=0),
    ),
)
"""Which epoch a streams group's target assignment is for; written each time one is made, after those of its members (type 21) that changed."""

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = MessageSchema(
    name="StreamsGroupTargetAssignmentMemberKey",
    type=21,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="memberId", kind="string"),
    ),
)
"""Key of the target assignment of one member of a streams group (KIP-1071)."""

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE_TASK_IDS = (
    MessageField(name="subtopologyId", kind="string"),
    MessageField(name="partitions", kind="int32", is_array=True),
)

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE = MessageSchema(
    name="StreamsGroupTargetAssignmentMemberValue",
    type=21,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), VersionRange(0, None)),),
    fields=(
        MessageField(name="activeTasks", kind="struct", is_array=True, fields=STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE_TASK_IDS),
        MessageField(name="standbyTasks", kind="struct", is_array=True, fields=STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE_TASK_IDS),
        MessageField(name="warmupTasks", kind="struct", is_array=True, fields=STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE_TASK_IDS),
    ),
)
"""Tasks that the assignor means a member of a streams group to end up with; written where they change. What it has so far is in type 22."""

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = MessageSchema(
    name="StreamsGroupCurrentMemberAssignmentKey",
    type=22,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
        MessageField(name="memberId", kind="string"),
    ),
)
"""Key of the assignment that a member of a streams group (KIP-1071) has at present."""

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TASK_IDS = (
    MessageField(name="subtopologyId", kind="string"),
    MessageField(name="partitions", kind="int32", is_array=True),
    MessageField(name="assignmentEpochs", kind="int32", is_array=True, is_nullable=True, releases=ReleaseRange((4, 2), None), tag=0),
)

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE = MessageSchema(
    name="StreamsGroupCurrentMemberAssignmentValue",
    type=22,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), VersionRange(0, None)),),
    fields=(
        MessageField(name="memberEpoch", kind="int32"),
        MessageField(name="previousMemberEpoch", kind="int32"),
        MessageField(name="state", kind="int8"),
        MessageField(name="activeTasks", kind="struct", is_array=True, fields=STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TASK_IDS),
        MessageField(name="standbyTasks", kind="struct", is_array=True, fields=STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TASK_IDS),
        MessageField(name="warmupTasks", kind="struct", is_array=True, fields=STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TASK_IDS),
        MessageField(name="activeTasksPendingRevocation", kind="struct", is_array=True, fields=STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TASK_IDS),
        MessageField(name="standbyTasksPendingRevocation", kind="struct", is_array=True, fields=STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TASK_IDS),
        MessageField(name="warmupTasksPendingRevocation", kind="struct", is_array=True, fields=STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE_TASK_IDS),
    ),
)
"""How far a member of a streams group is on its way to its target (type 21); written at every step."""

STREAMS_GROUP_TOPOLOGY_KEY = MessageSchema(
    name="StreamsGroupTopologyKey",
    type=23,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), None),),
    fields=(
        MessageField(name="groupId", kind="string"),
    ),
)
"""Key of the topology of a streams group (KIP-1071)."""

STREAMS_GROUP_TOPOLOGY_VALUE_TOPIC_CONFIG = (
    MessageField(name="key", kind="string"),
    MessageField(name="value", kind="string"),
)

STREAMS_GROUP_TOPOLOGY_VALUE_TOPIC_INFO = (
    MessageField(name="name", kind="string"),
    MessageField(name="partitions", kind="int32"),
    MessageField(name="replicationFactor", kind="int16"),
    MessageField(name="topicConfigs", kind="struct", is_array=True, fields=STREAMS_GROUP_TOPOLOGY_VALUE_TOPIC_CONFIG),
)

STREAMS_GROUP_TOPOLOGY_VALUE = MessageSchema(
    name="StreamsGroupTopologyValue",
    type=23,
    former_types=(),
    versions=(((4, 1), VersionRange(0, 0)),),
    flexible=(((4, 1), VersionRange(0, None)),),
    fields=(
        MessageField(name="epoch", kind="int32"),
        MessageField(name="subtopologies", kind="struct", is_array=True, struct="Subtopology", fields=(
            MessageField(name="subtopologyId", kind="string"),
            MessageField(name="sourceTopics", kind="string", is_array=True),
            MessageField(name="sourceTopicRegex", kind="string", is_array=True),
            MessageField(name="stateChangelogTopics", kind="struct", is_array=True, fields=STREAMS_GROUP_TOPOLOGY_VALUE_TOPIC_INFO),
            MessageField(name="repartitionSinkTopics", kind="string", is_array=True),
            MessageField(name="repartitionSourceTopics", kind="struct", is_array=True, fields=STREAMS_GROUP_TOPOLOGY_VALUE_TOPIC_INFO),
            MessageField(name="copartitionGroups", kind="struct", is_array=True, struct="CopartitionGroup", fields=(
                MessageField(name="sourceTopics", kind="int16", is_array=True),
                MessageField(name="sourceTopicRegex", kind="int16", is_array=True),
                MessageField(name="repartitionSourceTopics", kind="int16", is_array=True),
            )),
        )),
    ),
)
"""What the application of a streams group reads, writes and stores, as a member told the coordinator, which makes tasks and internal topics of it."""

MESSAGES = (
    OFFSET_COMMIT_KEY,
    OFFSET_COMMIT_VALUE,
    GROUP_METADATA_KEY,
    GROUP_METADATA_VALUE,
    LEGACY_OFFSET_COMMIT_KEY,
    LEGACY_OFFSET_COMMIT_VALUE,
    CONSUMER_GROUP_METADATA_KEY,
    CONSUMER_GROUP_METADATA_VALUE,
    CONSUMER_GROUP_PARTITION_METADATA_KEY,
    CONSUMER_GROUP_PARTITION_METADATA_VALUE,
    CONSUMER_GROUP_MEMBER_METADATA_KEY,
    CONSUMER_GROUP_MEMBER_METADATA_VALUE,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_KEY,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE,
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY,
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE,
    SHARE_GROUP_PARTITION_METADATA_KEY,
    SHARE_GROUP_PARTITION_METADATA_VALUE,
    SHARE_GROUP_MEMBER_METADATA_KEY,
    SHARE_GROUP_MEMBER_METADATA_VALUE,
    SHARE_GROUP_METADATA_KEY,
    SHARE_GROUP_METADATA_VALUE,
    SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_KEY,
    SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE,
    SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY,
    SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE,
    SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY,
    SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE,
    SHARE_GROUP_STATE_PARTITION_METADATA_KEY,
    SHARE_GROUP_STATE_PARTITION_METADATA_VALUE,
    CONSUMER_GROUP_REGULAR_EXPRESSION_KEY,
    CONSUMER_GROUP_REGULAR_EXPRESSION_VALUE,
    STREAMS_GROUP_METADATA_KEY,
    STREAMS_GROUP_METADATA_VALUE,
    STREAMS_GROUP_MEMBER_METADATA_KEY,
    STREAMS_GROUP_MEMBER_METADATA_VALUE,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_KEY,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE,
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY,
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE,
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY,
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE,
    STREAMS_GROUP_TOPOLOGY_KEY,
    STREAMS_GROUP_TOPOLOGY_VALUE,
)
