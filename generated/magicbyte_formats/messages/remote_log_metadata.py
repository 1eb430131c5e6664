# Generated from spec/messages/remote_log_metadata.yaml. Do not edit: change it and `make generate`.
# spec sha256 32b1459400ae52f18c0e74ddecf3a8eb89e0df1e50a341e60982b9ddacb5160c
"""Records of __remote_log_metadata."""

from magicbyte_kernels.message_schema import (
    MessageField,
    MessageSchema,
    ReleaseRange,
    VersionRange,
)

REMOTE_LOG_SEGMENT_METADATA_RECORD = MessageSchema(
    name="RemoteLogSegmentMetadataRecord",
    type=0,
    former_types=(),
    versions=(((3, 0), VersionRange(0, 0)),),
    flexible=(((3, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="remoteLogSegmentId", kind="struct", struct="RemoteLogSegmentIdEntry", fields=(
            MessageField(name="topicIdPartition", kind="struct", struct="TopicIdPartitionEntry", fields=(
                MessageField(name="name", kind="string"),
                MessageField(name="id", kind="uuid"),
                MessageField(name="partition", kind="int32"),
            )),
            MessageField(name="id", kind="uuid"),
        )),
        MessageField(name="startOffset", kind="int64"),
        MessageField(name="endOffset", kind="int64"),
        MessageField(name="brokerId", kind="int32"),
        MessageField(name="maxTimestampMs", kind="int64"),
        MessageField(name="eventTimestampMs", kind="int64"),
        MessageField(name="segmentLeaderEpochs", kind="struct", is_array=True, struct="SegmentLeaderEpochEntry", fields=(
            MessageField(name="leaderEpoch", kind="int32"),
            MessageField(name="offset", kind="int64"),
        )),
        MessageField(name="segmentSizeInBytes", kind="int32"),
        MessageField(name="customMetadata", kind="bytes", is_nullable=True, releases=ReleaseRange((3, 6), None)),
        MessageField(name="remoteLogSegmentState", kind="int8"),
        MessageField(name="txnIndexEmpty", kind="bool", releases=ReleaseRange((4, 0), None), tag=0),
    ),
)
"""A segment is about to be copied to remote storage: all that is known of it. It is readable only once an update says that the copy has finished."""

REMOTE_LOG_SEGMENT_METADATA_UPDATE_RECORD = MessageSchema(
    name="RemoteLogSegmentMetadataUpdateRecord",
    type=1,
    former_types=(),
    versions=(((3, 0), VersionRange(0, 0)),),
    flexible=(((3, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="remoteLogSegmentId", kind="struct", struct="RemoteLogSegmentIdEntry", fields=(
            MessageField(name="topicIdPartition", kind="struct", struct="TopicIdPartitionEntry", fields=(
                MessageField(name="name", kind="string"),
                MessageField(name="id", kind="uuid"),
                MessageField(name="partition", kind="int32"),
            )),
            MessageField(name="id", kind="uuid"),
        )),
        MessageField(name="brokerId", kind="int32"),
        MessageField(name="eventTimestampMs", kind="int64"),
        MessageField(name="customMetadata", kind="bytes", is_nullable=True, releases=ReleaseRange((3, 6), None)),
        MessageField(name="remoteLogSegmentState", kind="int8", values=((0, "COPY_SEGMENT_STARTED"), (1, "COPY_SEGMENT_FINISHED"), (2, "DELETE_SEGMENT_STARTED"), (3, "DELETE_SEGMENT_FINISHED"))),
    ),
)
"""The state of a segment has changed: its copy has finished, its deletion has begun or has finished."""

REMOTE_PARTITION_DELETE_METADATA_RECORD = MessageSchema(
    name="RemotePartitionDeleteMetadataRecord",
    type=2,
    former_types=(),
    versions=(((3, 0), VersionRange(0, 0)),),
    flexible=(((3, 0), VersionRange(0, None)),),
    fields=(
        MessageField(name="topicIdPartition", kind="struct", struct="TopicIdPartitionEntry", fields=(
            MessageField(name="name", kind="string"),
            MessageField(name="id", kind="uuid"),
            MessageField(name="partition", kind="int32"),
        )),
        MessageField(name="brokerId", kind="int32"),
        MessageField(name="eventTimestampMs", kind="int64"),
        MessageField(name="remotePartitionDeleteState", kind="int8", values=((0, "DELETE_PARTITION_MARKED"), (1, "DELETE_PARTITION_STARTED"), (2, "DELETE_PARTITION_FINISHED"))),
    ),
)
"""All segments of a partition are to be deleted. Brokers up to 3.9 at least do not write it: when a topic is deleted, they write an update for each segment."""

REMOTE_LOG_SEGMENT_METADATA_SNAPSHOT_RECORD = MessageSchema(
    name="RemoteLogSegmentMetadataSnapshotRecord",
    type=3,
    former_types=(),
    versions=(((3, 1), VersionRange(0, 0)),),
    flexible=(((3, 1), VersionRange(0, None)),),
    fields=(
        MessageField(name="segmentId", kind="uuid"),
        MessageField(name="startOffset", kind="int64"),
        MessageField(name="endOffset", kind="int64"),
        MessageField(name="brokerId", kind="int32"),
        MessageField(name="maxTimestampMs", kind="int64"),
        MessageField(name="eventTimestampMs", kind="int64"),
        MessageField(name="segmentLeaderEpochs", kind="struct", is_array=True, struct="SegmentLeaderEpochEntry", fields=(
            MessageField(name="leaderEpoch", kind="int32"),
            MessageField(name="offset", kind="int64"),
        )),
        MessageField(name="segmentSizeInBytes", kind="int32"),
        MessageField(name="customMetadata", kind="bytes", is_nullable=True, releases=ReleaseRange((3, 6), None)),
        MessageField(name="remoteLogSegmentState", kind="int8"),
        MessageField(name="txnIndexEmpty", kind="bool", releases=ReleaseRange((4, 0), None), tag=0),
    ),
)
"""A segment as it stood, with its partition left out. Not in the topic: 3.1 to 3.5 kept it in a partition's file `remote_log_snapshot`, so as not to read the topic again."""

MESSAGES = (
    REMOTE_LOG_SEGMENT_METADATA_RECORD,
    REMOTE_LOG_SEGMENT_METADATA_UPDATE_RECORD,
    REMOTE_PARTITION_DELETE_METADATA_RECORD,
    REMOTE_LOG_SEGMENT_METADATA_SNAPSHOT_RECORD,
)
