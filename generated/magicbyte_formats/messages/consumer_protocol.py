# Generated from spec/messages/consumer_protocol.yaml. Do not edit: change it and `make generate`.
# spec sha256 ef1cacf5741c1536f369203d78dda209fa4d1149690ca9d264991ce1fc0c53ca
"""Subscriptions and assignments of consumers in classic groups."""

from magicbyte_formats.messages.schema import Field, Message, Range, Releases

CONSUMER_PROTOCOL_SUBSCRIPTION = Message(
    name="ConsumerProtocolSubscription",
    type=None,
    former_types=(),
    versions=(((2, 8), Range(0, 1)), ((3, 4), Range(0, 3))),
    flexible=(((2, 8), None),),
    fields=(
        Field(name="topics", kind="string", is_array=True),
        Field(name="userData", kind="bytes", is_nullable=True),
        Field(name="ownedPartitions", kind="struct", is_array=True, versions=Range(1, None), struct="TopicPartition", fields=(
            Field(name="topic", kind="string", versions=Range(1, None)),
            Field(name="partitions", kind="int32", is_array=True, versions=Range(1, None)),
        )),
        Field(name="generationId", kind="int32", versions=Range(2, None)),
        Field(name="rackId", kind="string", is_nullable=True, versions=Range(3, None)),
    ),
)
"""What a consumer wants to read and what it holds, for the leader to divide the partitions; sent each time it joins."""

CONSUMER_PROTOCOL_ASSIGNMENT = Message(
    name="ConsumerProtocolAssignment",
    type=None,
    former_types=(),
    versions=(((2, 8), Range(0, 1)), ((3, 4), Range(0, 3))),
    flexible=(((2, 8), None),),
    fields=(
        Field(name="assignedPartitions", kind="struct", is_array=True, struct="TopicPartition", fields=(
            Field(name="topic", kind="string"),
            Field(name="partitions", kind="int32", is_array=True),
        )),
        Field(name="userData", kind="bytes", is_nullable=True),
    ),
)
"""The partitions that the leader gave a consumer, which gets these bytes in the answer to SyncGroup."""

MESSAGES = (
    CONSUMER_PROTOCOL_SUBSCRIPTION,
    CONSUMER_PROTOCOL_ASSIGNMENT,
)
