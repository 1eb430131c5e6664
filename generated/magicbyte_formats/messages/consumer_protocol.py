# Generated from spec/messages/consumer_protocol.yaml. Do not edit: change it and `make generate`.
# spec sha256 ef1cacf5741c1536f369203d78dda209fa4d1149690ca9d264991ce1fc0c53ca
"""Subscriptions and assignments of consumers in classic groups."""

from magicbyte_kernels.message_schema import (
    MessageField,
    MessageSchema,
    ReleaseRange,
    VersionRange,
)

CONSUMER_PROTOCOL_SUBSCRIPTION = MessageSchema(
    name="ConsumerProtocolSubscription",
    type=None,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 1)), ((3, 4), VersionRange(0, 3))),
    flexible=(((2, 8), None),),
    fields=(
        MessageField(name="topics", kind="string", is_array=True),
        MessageField(name="userData", kind="bytes", is_nullable=True),
        MessageField(name="ownedPartitions", kind="struct", is_array=True, versions=VersionRange(1, None), struct="TopicPartition", fields=(
            MessageField(name="topic", kind="string", versions=VersionRange(1, None)),
            MessageField(name="partitions", kind="int32", is_array=True, versions=VersionRange(1, None)),
        )),
        MessageField(name="generationId", kind="int32", versions=VersionRange(2, None)),
        MessageField(name="rackId", kind="string", is_nullable=True, versions=VersionRange(3, None)),
    ),
)
"""What a consumer wants to read and what it holds, for the leader to divide the partitions; sent each time it joins."""

CONSUMER_PROTOCOL_ASSIGNMENT = MessageSchema(
    name="ConsumerProtocolAssignment",
    type=None,
    former_types=(),
    versions=(((2, 8), VersionRange(0, 1)), ((3, 4), VersionRange(0, 3))),
    flexible=(((2, 8), None),),
    fields=(
        MessageField(name="assignedPartitions", kind="struct", is_array=True, struct="TopicPartition", fields=(
            MessageField(name="topic", kind="string"),
            MessageField(name="partitions", kind="int32", is_array=True),
        )),
        MessageField(name="userData", kind="bytes", is_nullable=True),
    ),
)
"""The partitions that the leader gave a consumer, which gets these bytes in the answer to SyncGroup."""

MESSAGES = (
    CONSUMER_PROTOCOL_SUBSCRIPTION,
    CONSUMER_PROTOCOL_ASSIGNMENT,
)
