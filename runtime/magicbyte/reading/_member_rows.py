"""Rows of the table of group members."""

from collections.abc import Callable, Iterator
from typing import Any

from magicbyte.errors import FormatError
from magicbyte.findings import Finding
from magicbyte.internal_topics.consumer_protocol import (
    PROTOCOL_TYPE,
    AssignedPartition,
    read_assignment,
    read_subscription,
)
from magicbyte.internal_topics.coordinator_records import Fields
from magicbyte.internal_topics.group_coordinator import OFFSETS_TOPIC, GroupCoordinatorState
from magicbyte.internal_topics.groups import STREAMS, ClassicGroup, ModernGroup
from magicbyte.reading._group_rows import group_coordinators
from magicbyte.reading._topic_names import TopicNames
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.results import Report, Row
from magicbyte.tables.schemas import INTERNAL_TABLES

TASKS = {
    "active_tasks": "activeTasks",
    "standby_tasks": "standbyTasks",
    "warmup_tasks": "warmupTasks",
}
"""Fields of a member of a streams group, by column."""


def group_member_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `group_members`, by group and member id."""
    coordinators = group_coordinators(topic_source, report)
    yield from member_rows(coordinators, TopicNames(topic_source, report), report)


def member_rows(
    coordinators: list[GroupCoordinatorState], names_of_topics: TopicNames, report: Report
) -> list[Row]:
    """Return the rows of `group_members`, by group and member id."""
    rows: list[Row] = []
    for coordinator in coordinators:
        for key, committed in coordinator.committed_offsets.current.items():
            if committed.topic_id is not None:
                names_of_topics.add({committed.topic_id: key.topic})
        for group_id, group in coordinator.groups.by_id.items():
            if isinstance(group, ClassicGroup):
                rows += _classic_members(coordinator, group_id, group, report)
            else:
                names_of_topics.add(group.name_by_topic_id)
                rows += _modern_members(group_id, group, names_of_topics)
    return sorted(rows, key=lambda row: (row["group"], row["member_id"]))


def _classic_members(
    coordinator: GroupCoordinatorState, group_id: str, group: ClassicGroup, report: Report
) -> Iterator[Row]:
    fields = group.fields or {}
    for member in group.members:

        def decode(name: str, read_bytes: Callable[[bytes], Any], member: Fields = member) -> Any:
            """Return the field *name*; None, with a finding, if it is not of the consumer protocol."""
            if fields["protocolType"] != PROTOCOL_TYPE or not member[name]:
                return None
            try:
                return read_bytes(member[name])
            except FormatError as error:
                finding = Finding(
                    code="internal-record-invalid",
                    message=f"the {name} of the member {member['memberId']} of group {group_id} cannot be decoded: "
                    f"{error.finding.message}",
                    topic=OFFSETS_TOPIC,
                    partition=coordinator.partition,
                )
                report.findings.append(finding)
                return None

        subscription = decode("subscription", read_subscription)
        assignment = decode("assignment", read_assignment)
        yield _row(
            group_id,
            member["memberId"],
            group_instance_id=member.get("groupInstanceId"),
            client_id=member["clientId"],
            client_host=member["clientHost"],
            rack_id=None if subscription is None else subscription.rack_id or None,
            subscribed_topics=None
            if subscription is None
            else sorted(subscription.subscribed_topics),
            assignor=fields["protocol"],
            assignment=None if assignment is None else _structs(assignment),
        )


def _modern_members(
    group_id: str, group: ModernGroup, names_of_topics: TopicNames
) -> Iterator[Row]:
    for member_id in group.member_ids:
        subscription = group.subscriptions.get(member_id, {})
        current, target = group.current.get(member_id, {}), group.targets.get(member_id, {})
        assigned: Row = {}
        if group.type == STREAMS:
            assigned = {column: _tasks(current.get(name)) for column, name in TASKS.items()}
        else:
            assigned["assignment"] = _partitions(current.get("assignedPartitions"), names_of_topics)
            assigned["target_assignment"] = _partitions(
                target.get("topicPartitions"), names_of_topics
            )
        yield _row(
            group_id,
            member_id,
            group_instance_id=subscription.get("instanceId"),
            client_id=subscription.get("clientId"),
            client_host=subscription.get("clientHost"),
            rack_id=subscription.get("rackId"),
            member_epoch=current.get("memberEpoch"),
            subscribed_topics=subscription.get("subscribedTopicNames"),
            subscribed_topic_regex=subscription.get("subscribedTopicRegex") or None,
            assignor=subscription.get("serverAssignor"),
            **assigned,
        )


def _row(group_id: str, member_id: str, **values: Any) -> Row:
    """Return a row; columns that are not given are null."""
    return (
        dict.fromkeys(INTERNAL_TABLES["group_members"].names)
        | {"group": group_id, "member_id": member_id}
        | values
    )


def _partitions(assigned: list[Fields] | None, names_of_topics: TopicNames) -> list[Row] | None:
    if assigned is None:
        return None
    return _structs(
        sorted(
            AssignedPartition(names_of_topics[topic["topicId"]], number)
            for topic in assigned
            for number in topic["partitions"]
        )
    )


def _structs(assigned_partitions: list[AssignedPartition]) -> list[Row]:
    return [partition._asdict() for partition in assigned_partitions]


def _tasks(stored_tasks: list[Fields] | None) -> list[Row] | None:
    if stored_tasks is None:
        return None
    return [
        {"subtopology": task["subtopologyId"], "partition": number}
        for task in stored_tasks
        for number in sorted(task["partitions"])
    ]
