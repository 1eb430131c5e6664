# Generated from spec/messages/remote_log_metadata.yaml. Do not edit: change it and `make generate`.
# spec sha256 32b1459400ae52f18c0e74ddecf3a8eb89e0df1e50a341e60982b9ddacb5160c
"""Records of __remote_log_metadata."""

from magicbyte_formats.messages.schema import Field, Message, Range, Releases

REMOTE_LOG_SEGMENT_METADATA_RECORD = Message(
    name="RemoteLogSegmentMetadataRecord",
    type=0,
    former_types=(),
    versions=(((3, 0), Range(0, 0)),),
    flexible=(((3, 0), Range(0, None)),),
    fields=(
        Field(name="remoteLogSegmentId", kind="struct", struct="RemoteLogSegmentIdEntry", fields=(
            Field(name="topicIdPartition", kind="struct", struct="TopicIdPartitionEntry", fields=(
                Field(name="name", kind="string"),
                Field(name="id", kind="uuid"),
                Field(name="partition", kind="int32"),
            )),
            Field(name="id", kind="uuid"),
        )),
        Field(name="startOffset", kind="int64"),
        Field(name="endOffset", kind="int64"),
        Field(name="brokerId", kind="int32"),
        Field(name="maxTimestampMs", kind="int64"),
        Field(name="eventTimestampMs", kind="int64"),
        Field(name="segmentLeaderEpochs", kind="struct", is_array=True, struct="SegmentLeaderEpochEntry", fields=(
            Field(name="leaderEpoch", kind="int32"),
            Field(name="offset", kind="int64"),
        )),
        Field(name="segmentSizeInBytes", kind="int32"),
        Field(name="customMetadata", kind="bytes", is_nullable=True, releases=Releases((3, 6), None)),
        Field(name="remoteLogSegmentState", kind="int8"),
        Field(name="txnIndexEmpty", kind="bool", releases=Releases((4, 0), None), tag=0),
    ),
)
"""A segment is about to be copied to remote storage: all that is known of it. It is readable only once an update says that the copy has finished."""

REMOTE_LOG_SEGMENT_METADATA_UPDATE_RECORD = Message(
    name="RemoteLogSegmentMetadataUpdateRecord",
    type=1,
    former_types=(),
    versions=(((3, 0), Range(0, 0)),),
    flexible=(((3, 0), Range(0, None)),),
    fields=(
        Field(name="remoteLogSegmentId", kind="struct", struct="RemoteLogSegmentIdEntry", fields=(
            Field(name="topicIdPartition", kind="struct", struct="TopicIdPartitionEntry", fields=(
                Field(name="name", kind="string"),
                Field(name="id", kind="uuid"),
                Field(name="partition", kind="int32"),
            )),
            Field(name="id", kind="uuid"),
        )),
        Field(name="brokerId", kind="int32"),
        Field(name="eventTimestampMs", kind="int64"),
        Field(name="customMetadata", kind="bytes", is_nullable=True, releases=Releases((3, 6), None)),
        Field(name="remoteLogSegmentState", kind="int8", values=((0, "COPY_SEGMENT_STARTED"), (1, "COPY_SEGMENT_FINISHED"), (2, "DELETE_SEGMENT_STARTED"), (3, "DELETE_SEGMENT_FINISHED"))),
    ),
)
"""The state of a segment has changed: its copy has finished, its deletion has begun or has finished."""

REMOTE_PARTITION_DELETE_METADATA_RECORD = Message(
    name="RemotePartitionDeleteMetadataRecord",
    type=2,
    former_types=(),
    versions=(((3, 0), Range(0, 0)),),
    flexible=(((3, 0), Range(0, None)),),
    fields=(
        Field(name="topicIdPartition", kind="struct", struct="TopicIdPartitionEntry", fields=(
            Field(name="name", kind="string"),
            Field(name="id", kind="uuid"),
            Field(name="partition", kind="int32"),
        )),
        Field(name="brokerId", kind="int32"),
        Field(name="eventTimestampMs", kind="int64"),
        Field(name="remotePartitionDeleteState", kind="int8", values=((0, "DELETE_PARTITION_MARKED"), (1, "DELETE_PARTITION_STARTED"), (2, "DELETE_PARTITION_FINISHED"))),
    ),
)
"""All segments of a partition are to be deleted. Brokers up to 3.9 at least do not write it: when a topic is deleted, they write an update for each segment."""

REMOTE_LOG_SEGMENT_METADATA_SNAPSHOT_RECORD = Message(
    name="RemoteLogSegmentMetadataSnapshotRecord",
    type=3,
    former_types=(),
    versions=(((3, 1), Range(0, 0)),),
    flexible=(((3, 1), Range(0, None)),),
    fields=(
        Field(name="segmentId", kind="uuid"),
        Field(name="startOffset", kind="int64"),
        Field(name="endOffset", kind="int64"),
        Field(name="brokerId", kind="int32"),
        Field(name="maxTimestampMs", kind="int64"),
        Field(name="eventTimestampMs", kind="int64"),
        Field(name="segmentLeaderEpochs", kind="struct", is_array=True, struct="SegmentLeaderEpochEntry", fields=(
            Field(name="leaderEpoch", kind="int32"),
            Field(name="offset", kind="int64"),
        )),
        Field(name="segmentSizeInBytes", kind="int32"),
        Field(name="customMetadata", kind="bytes", is_nullable=True, releases=Releases((3, 6), None)),
        Field(name="remoteLogSegmentState", kind="int8"),
        Field(name="txnIndexEmpty", kind="bool", releases=Releases((4, 0), None), tag=0),
    ),
)
"""A segment as it stood, with its partition left out. Not in the topic: 3.1 to 3.5 kept it in a partition's file `remote_log_snapshot`, so as not to read the topic again."""

MESSAGES = (
    REMOTE_LOG_SEGMENT_METADATA_RECORD,
    REMOTE_LOG_SEGMENT_METADATA_UPDATE_RECORD,
    REMOTE_PARTITION_DELETE_METADATA_RECORD,
    REMOTE_LOG_SEGMENT_METADATA_SNAPSHOT_RECORD,
)
