# Generated from spec/messages/client_requests.yaml. Do not edit: change it and `make generate`.
# spec sha256 137e8ec30c3c32b8336b8deaa26f02fdb670613d5fafc3f5c81d357478147da7
"""Requests and responses that carry records."""

from magicbyte_kernels.message_schema import (
    MessageField,
    MessageSchema,
    ReleaseRange,
    VersionRange,
)

PRODUCE_REQUEST = MessageSchema(
    name="ProduceRequest",
    type=None,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 9)), ((3, 7), VersionRange(0, 10)), ((3, 8), VersionRange(0, 11)), ((4, 0), VersionRange(3, 12)), ((4, 1), VersionRange(3, 13))),
    flexible=(((2, 8), VersionRange(9, None)),),
    fields=(
        MessageField(name="transactionalId", kind="string", is_nullable=True, versions=VersionRange(3, None)),
        MessageField(name="acks", kind="int16"),
        MessageField(name="timeoutMs", kind="int32"),
        MessageField(name="topicData", kind="struct", is_array=True, struct="TopicProduceData", fields=(
            MessageField(name="name", kind="string", versions=VersionRange(0, 12)),
            MessageField(name="topicId", kind="uuid", versions=VersionRange(13, None)),
            MessageField(name="partitionData", kind="struct", is_array=True, struct="PartitionProduceData", fields=(
                MessageField(name="index", kind="int32"),
                MessageField(name="records", kind="bytes", is_nullable=True),
            )),
        )),
    ),
)
"""A producer's batches, for one or more partitions. Versions 0 to 2 may carry messages of v0 and v1; later ones carry one v2 batch for each partition."""

PRODUCE_RESPONSE = MessageSchema(
    name="ProduceResponse",
    type=None,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 9)), ((3, 7), VersionRange(0, 10)), ((3, 8), VersionRange(0, 11)), ((4, 0), VersionRange(3, 12)), ((4, 1), VersionRange(3, 13))),
    flexible=(((2, 8), VersionRange(9, None)),),
    fields=(
        MessageField(name="responses", kind="struct", is_array=True, struct="TopicProduceResponse", fields=(
            MessageField(name="name", kind="string", versions=VersionRange(0, 12)),
            MessageField(name="topicId", kind="uuid", versions=VersionRange(13, None)),
            MessageField(name="partitionResponses", kind="struct", is_array=True, struct="PartitionProduceResponse", fields=(
                MessageField(name="index", kind="int32"),
                MessageField(name="errorCode", kind="int16"),
                MessageField(name="baseOffset", kind="int64"),
                MessageField(name="logAppendTimeMs", kind="int64", versions=VersionRange(2, None)),
                MessageField(name="logStartOffset", kind="int64", versions=VersionRange(5, None)),
                MessageField(name="recordErrors", kind="struct", is_array=True, versions=VersionRange(8, None), struct="BatchIndexAndErrorMessage", fields=(
                    MessageField(name="batchIndex", kind="int32"),
                    MessageField(name="batchIndexErrorMessage", kind="string", is_nullable=True),
                )),
                MessageField(name="errorMessage", kind="string", is_nullable=True, versions=VersionRange(8, None)),
                MessageField(name="currentLeader", kind="struct", versions=VersionRange(10, None), tag=0, struct="LeaderIdAndEpoch", fields=(
                    MessageField(name="leaderId", kind="int32"),
                    MessageField(name="leaderEpoch", kind="int32"),
                )),
            )),
        )),
        MessageField(name="throttleTimeMs", kind="int32", versions=VersionRange(1, None)),
        MessageField(name="nodeEndpoints", kind="struct", is_array=True, versions=VersionRange(10, None), tag=0, struct="NodeEndpoint", fields=(
            MessageField(name="nodeId", kind="int32"),
            MessageField(name="host", kind="string"),
            MessageField(name="port", kind="int32"),
            MessageField(name="rack", kind="string", is_nullable=True),
        )),
    ),
)
"""Where the broker appended the batches of a Produce request, or why it did not."""

FETCH_REQUEST = MessageSchema(
    name="FetchRequest",
    type=None,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 12)), ((3, 1), VersionRange(0, 13)), ((3, 5), VersionRange(0, 15)), ((3, 7), VersionRange(0, 16)), ((3, 9), VersionRange(0, 17)), ((4, 0), VersionRange(4, 17)), ((4, 1), VersionRange(4, 18))),
    flexible=(((2, 8), VersionRange(12, None)),),
    fields=(
        MessageField(name="clusterId", kind="string", is_nullable=True, versions=VersionRange(12, None), tag=0, is_null_by_default=True),
        MessageField(name="replicaId", kind="int32", versions=VersionRange(0, 14)),
        MessageField(name="replicaState", kind="struct", versions=VersionRange(15, None), tag=1, struct="ReplicaState", fields=(
            MessageField(name="replicaId", kind="int32"),
            MessageField(name="replicaEpoch", kind="int64"),
        )),
        MessageField(name="maxWaitMs", kind="int32"),
        MessageField(name="minBytes", kind="int32"),
        MessageField(name="maxBytes", kind="int32", versions=VersionRange(3, None)),
        MessageField(name="isolationLevel", kind="int8", versions=VersionRange(4, None), values=((0, "ReadUncommitted"), (1, "ReadCommitted"))),
        MessageField(name="sessionId", kind="int32", versions=VersionRange(7, None)),
        MessageField(name="sessionEpoch", kind="int32", versions=VersionRange(7, None)),
        MessageField(name="topics", kind="struct", is_array=True, struct="FetchTopic", fields=(
            MessageField(name="topic", kind="string", versions=VersionRange(0, 12)),
            MessageField(name="topicId", kind="uuid", versions=VersionRange(13, None)),
            MessageField(name="partitions", kind="struct", is_array=True, struct="FetchPartition", fields=(
                MessageField(name="partition", kind="int32"),
                MessageField(name="currentLeaderEpoch", kind="int32", versions=VersionRange(9, None)),
                MessageField(name="fetchOffset", kind="int64"),
                MessageField(name="lastFetchedEpoch", kind="int32", versions=VersionRange(12, None)),
                MessageField(name="logStartOffset", kind="int64", versions=VersionRange(5, None)),
                MessageField(name="partitionMaxBytes", kind="int32"),
                MessageField(name="replicaDirectoryId", kind="uuid", versions=VersionRange(17, None), tag=0),
                MessageField(name="highWatermark", kind="int64", versions=VersionRange(18, None), tag=1, default=9223372036854775807),
            )),
        )),
        MessageField(name="forgottenTopicsData", kind="struct", is_array=True, versions=VersionRange(7, None), struct="ForgottenTopic", fields=(
            MessageField(name="topic", kind="string", versions=VersionRange(7, 12)),
            MessageField(name="topicId", kind="uuid", versions=VersionRange(13, None)),
            MessageField(name="partitions", kind="int32", is_array=True),
        )),
        MessageField(name="rackId", kind="string", versions=VersionRange(11, None)),
    ),
)
"""Asks for the batches of partitions from an offset on. From version 7 on, a request of a fetch session lists only partitions that have changed since the last one (KIP-227)."""

FETCH_RESPONSE = MessageSchema(
    name="FetchResponse",
    type=None,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 12)), ((3, 1), VersionRange(0, 13)), ((3, 5), VersionRange(0, 15)), ((3, 7), VersionRange(0, 16)), ((3, 9), VersionRange(0, 17)), ((4, 0), VersionRange(4, 17)), ((4, 1), VersionRange(4, 18))),
    flexible=(((2, 8), VersionRange(12, None)),),
    fields=(
        MessageField(name="throttleTimeMs", kind="int32", versions=VersionRange(1, None)),
        MessageField(name="errorCode", kind="int16", versions=VersionRange(7, None)),
        MessageField(name="sessionId", kind="int32", versions=VersionRange(7, None)),
        MessageField(name="responses", kind="struct", is_array=True, struct="FetchableTopicResponse", fields=(
            MessageField(name="topic", kind="string", versions=VersionRange(0, 12)),
            MessageField(name="topicId", kind="uuid", versions=VersionRange(13, None)),
            MessageField(name="partitions", kind="struct", is_array=True, struct="PartitionData", fields=(
                MessageField(name="partitionIndex", kind="int32"),
                MessageField(name="errorCode", kind="int16"),
                MessageField(name="highWatermark", kind="int64"),
                MessageField(name="lastStableOffset", kind="int64", versions=VersionRange(4, None)),
                MessageField(name="logStartOffset", kind="int64", versions=VersionRange(5, None)),
                MessageField(name="divergingEpoch", kind="struct", versions=VersionRange(12, None), tag=0, struct="EpochEndOffset", fields=(
                    MessageField(name="epoch", kind="int32"),
                    MessageField(name="endOffset", kind="int64"),
                )),
                MessageField(name="currentLeader", kind="struct", versions=VersionRange(12, None), tag=1, struct="LeaderIdAndEpoch", fields=(
                    MessageField(name="leaderId", kind="int32"),
                    MessageField(name="leaderEpoch", kind="int32"),
                )),
                MessageField(name="snapshotId", kind="struct", versions=VersionRange(12, None), tag=2, struct="SnapshotId", fields=(
                    MessageField(name="endOffset", kind="int64"),
                    MessageField(name="epoch", kind="int32"),
                )),
                MessageField(name="abortedTransactions", kind="struct", is_array=True, is_nullable=True, versions=VersionRange(4, None), struct="AbortedTransaction", fields=(
                    MessageField(name="producerId", kind="int64"),
                    MessageField(name="firstOffset", kind="int64"),
                )),
                MessageField(name="preferredReadReplica", kind="int32", versions=VersionRange(11, None)),
                MessageField(name="records", kind="bytes", is_nullable=True),
            )),
        )),
        MessageField(name="nodeEndpoints", kind="struct", is_array=True, versions=VersionRange(16, None), tag=0, struct="NodeEndpoint", fields=(
            MessageField(name="nodeId", kind="int32"),
            MessageField(name="host", kind="string"),
            MessageField(name="port", kind="int32"),
            MessageField(name="rack", kind="string", is_nullable=True),
        )),
    ),
)
"""The batches that a Fetch request asked for. The last batch of a partition may be cut off by `partitionMaxBytes`; the client drops it, and asks for it again."""

METADATA_RESPONSE = MessageSchema(
    name="MetadataResponse",
    type=None,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 11)), ((3, 1), VersionRange(0, 12)), ((4, 0), VersionRange(0, 13))),
    flexible=(((2, 8), VersionRange(9, None)),),
    fields=(
        MessageField(name="throttleTimeMs", kind="int32", versions=VersionRange(3, None)),
        MessageField(name="brokers", kind="struct", is_array=True, struct="MetadataResponseBroker", fields=(
            MessageField(name="nodeId", kind="int32"),
            MessageField(name="host", kind="string"),
            MessageField(name="port", kind="int32"),
            MessageField(name="rack", kind="string", is_nullable=True, versions=VersionRange(1, None)),
        )),
        MessageField(name="clusterId", kind="string", is_nullable=True, versions=VersionRange(2, None)),
        MessageField(name="controllerId", kind="int32", versions=VersionRange(1, None)),
        MessageField(name="topics", kind="struct", is_array=True, struct="MetadataResponseTopic", fields=(
            MessageField(name="errorCode", kind="int16"),
            MessageField(name="name", kind="string", versions=VersionRange(0, 11)),
            MessageField(name="name", kind="string", is_nullable=True, versions=VersionRange(12, None)),
            MessageField(name="topicId", kind="uuid", versions=VersionRange(10, None)),
            MessageField(name="isInternal", kind="bool", versions=VersionRange(1, None)),
            MessageField(name="partitions", kind="struct", is_array=True, struct="MetadataResponsePartition", fields=(
                MessageField(name="errorCode", kind="int16"),
                MessageField(name="partitionIndex", kind="int32"),
                MessageField(name="leaderId", kind="int32"),
                MessageField(name="leaderEpoch", kind="int32", versions=VersionRange(7, None)),
                MessageField(name="replicaNodes", kind="int32", is_array=True),
                MessageField(name="isrNodes", kind="int32", is_array=True),
                MessageField(name="offlineReplicas", kind="int32", is_array=True, versions=VersionRange(5, None)),
            )),
            MessageField(name="topicAuthorizedOperations", kind="int32", versions=VersionRange(8, None)),
        )),
        MessageField(name="clusterAuthorizedOperations", kind="int32", versions=VersionRange(8, 10)),
        MessageField(name="errorCode", kind="int16", versions=VersionRange(13, None)),
    ),
)
"""The brokers of a cluster, and its topics with their ids, partitions and leaders."""

MESSAGES = (
    PRODUCE_REQUEST,
    PRODUCE_RESPONSE,
    FETCH_REQUEST,
    FETCH_RESPONSE,
    METADATA_RESPONSE,
)
