"""Subscriptions and assignments of consumers in classic groups: bytes that clients have written."""

from typing import NamedTuple

from magicbyte.internal_topics.coordinator_records import RELEASES, Fields
from magicbyte.messages import read, read_int16
from magicbyte_formats.messages import consumer_protocol
from magicbyte_kernels.message_schema import MessageSchema

PROTOCOL_TYPE = "consumer"
"""Protocol type of groups whose members are consumers."""

NEWEST_VERSION = 3
"""Version as which later versions are read: they only add fields at the end."""


class AssignedPartition(NamedTuple):
    """A partition that a member of a group reads."""

    topic: str
    partition: int


class Subscription(NamedTuple):
    """Topics to which a consumer subscribes, and its rack."""

    subscribed_topics: list[str]
    rack_id: str | None


def read_assignment(data: bytes) -> list[AssignedPartition]:
    """Return the partitions of an assignment, in order. Raises MessageError if *data* is none."""
    fields = _read(consumer_protocol.CONSUMER_PROTOCOL_ASSIGNMENT, data)
    return sorted(
        AssignedPartition(assigned["topic"], number)
        for assigned in fields["assignedPartitions"]
        for number in assigned["partitions"]
    )


def read_subscription(data: bytes) -> Subscription:
    """Return the subscription in *data*. Raises MessageError if it is none."""
    fields = _read(consumer_protocol.CONSUMER_PROTOCOL_SUBSCRIPTION, data)
    return Subscription(fields["topics"], fields.get("rackId"))


def _read(schema: MessageSchema, data: bytes) -> Fields:
    version, begin = read_int16(data, "version")
    return read(schema, data, min(version, NEWEST_VERSION), RELEASES[0], begin).fields
