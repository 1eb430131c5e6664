"""Rows of the tables of groups: committed offsets, groups and members."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from magicbyte.internal_topics.committed_offsets import (
    CommittedOffset,
    GroupPartition,
    PendingOffset,
)
from magicbyte.internal_topics.group_coordinator import OFFSETS_TOPIC, GroupCoordinatorState
from magicbyte.internal_topics.groups import ClassicGroup, Group
from magicbyte.reading._applied_records import coordinator_events
from magicbyte.reading._log_ends import LogEnds
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.results import Report, Row
from magicbyte.reading.table_rows import int64_or_null


def group_coordinators(topic_source: TopicSource, report: Report) -> list[GroupCoordinatorState]:
    """Return the state of the coordinator of each partition of `__consumer_offsets` below the paths."""
    coordinators = []
    offsets_topic = topic_source.of_topics([OFFSETS_TOPIC])
    for log in offsets_topic.logs:
        coordinator = GroupCoordinatorState(log.partition or 0)
        for event in coordinator_events(offsets_topic, log, report):
            finding = coordinator.apply(event)
            if finding is not None:
                report.findings.append(finding)
        coordinators.append(coordinator)
    return coordinators


def group_offset_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `group_offsets`, by group, topic and partition."""
    by_partition = offsets_by_partition(group_coordinators(topic_source, report))
    log_ends = LogEnds(topic_source, {key.topic for key in by_partition})
    for key in sorted(by_partition):
        yield offset_row(key, by_partition[key], log_ends.of(key.topic, key.partition))


class GroupOffset(NamedTuple):
    """The offsets of a group in a partition."""

    committed: CommittedOffset | None
    pending: PendingOffset | None
    offsets_partition: int | None
    """Partition of `__consumer_offsets` that has them."""


def offsets_by_partition(
    coordinators: Iterable[GroupCoordinatorState],
) -> dict[GroupPartition, GroupOffset]:
    """Return the committed and pending offsets of all groups."""
    by_partition: dict[GroupPartition, GroupOffset] = {}
    for coordinator in coordinators:
        committed_offsets = coordinator.committed_offsets
        pending = last_pending(committed_offsets.pending())
        for key in {*committed_offsets.current, *pending}:
            by_partition[key] = GroupOffset(
                committed_offsets.current.get(key), pending.get(key), coordinator.partition
            )
    return by_partition


def offset_row(group_partition: GroupPartition, group_offset: GroupOffset, end: int | None) -> Row:
    """Return a row of `group_offsets`; *end* is the log end offset of the partition."""
    pending = group_offset.pending
    return {
        **group_partition._asdict(),
        **_offset_columns(group_offset.committed, end),
        "pending_offset": None if pending is None else pending.committed_offset.offset,
        "pending_producer_id": None if pending is None else pending.producer_id,
        "offsets_partition": group_offset.offsets_partition,
    }


def last_pending(
    pending_offsets: Iterator[tuple[GroupPartition, PendingOffset]],
) -> dict[GroupPartition, PendingOffset]:
    """Return the pending offset of each partition; of several producers, the last that was written."""
    by_key: dict[GroupPartition, PendingOffset] = {}
    for key, pending in pending_offsets:
        before = by_key.get(key)
        record_offset = pending.committed_offset.record_offset
        if before is None or before.committed_offset.record_offset < record_offset:
            by_key[key] = pending
    return by_key


def _offset_columns(committed: CommittedOffset | None, end: int | None) -> Row:
    row: Row = dict.fromkeys(CommittedOffset._fields)
    lag = None
    if committed is not None:
        row |= committed._asdict()
        lag = None if end is None else int64_or_null(end - committed.offset)
    return row | {
        "metadata": row.pop("client_metadata"),
        "log_end_offset": int64_or_null(end),
        "lag": lag,
    }


def group_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `groups`, by group."""
    rows = [
        {"group": group_id, **_group_columns(group), "offsets_partition": coordinator.partition}
        for coordinator in group_coordinators(topic_source, report)
        for group_id, group in coordinator.groups.by_id.items()
    ]
    yield from sorted(rows, key=lambda row: row["group"])


def _group_columns(group: Group) -> Row:
    shared: Row = {"type": group.type, "state": group.state}
    if isinstance(group, ClassicGroup):
        fields = group.fields or {}
        return shared | {
            "protocol_type": fields.get("protocolType") or None,
            "protocol": fields.get("protocol"),
            "generation": fields.get("generation"),
            "group_epoch": None,
            "assignment_epoch": None,
            "leader": fields.get("leader"),
            "member_count": group.member_count,
        }
    return shared | {
        "protocol_type": group.type.lower(),
        "protocol": group.assignor,
        "generation": None,
        "group_epoch": group.epoch,
        "assignment_epoch": group.assignment_epoch,
        "leader": None,
        "member_count": group.member_count,
    }
