"""Positions of groups and share groups: committed offsets, with the members that read the partitions."""

from collections.abc import Iterator

from magicbyte.internal_topics.committed_offsets import GroupPartition
from magicbyte.internal_topics.groups import SHARE
from magicbyte.reading._group_rows import (
    GroupOffset,
    group_coordinators,
    offset_row,
    offsets_by_partition,
)
from magicbyte.reading._log_ends import LogEnds
from magicbyte.reading._member_rows import member_rows
from magicbyte.reading._share_rows import share_rows
from magicbyte.reading._topic_names import TopicNames
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.results import Report, Row
from magicbyte.reading.transactional_ids import producers_of_ids

MEMBER_COLUMNS = ("member_id", "client_host", "client_id")

NO_OFFSET = GroupOffset(None, None, None)


def group_positions(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield a row for each partition that a group has an offset in or reads, by group, topic and partition.

    The rows have the columns of `group_offsets`, and the type of the group, the member that reads the
    partition, and the transactional id of a pending offset. Of a share group, the offset is the start offset.
    """
    coordinators = group_coordinators(topic_source, report)
    type_by_group = {
        group_id: group.type
        for coordinator in coordinators
        for group_id, group in coordinator.groups.by_id.items()
    }
    member_by_partition: dict[GroupPartition, Row] = {}
    names_of_topics = TopicNames(topic_source, report)
    for member in member_rows(coordinators, names_of_topics, report):
        if type_by_group[member["group"]] == SHARE:
            continue  # several members read a partition
        for assigned in member["assignment"] or ():
            group_partition = GroupPartition(
                member["group"], assigned["topic"], assigned["partition"]
            )
            member_by_partition[group_partition] = member
    by_partition = dict.fromkeys(member_by_partition, NO_OFFSET)
    by_partition |= offsets_by_partition(coordinators)
    known_producers = producers_of_ids(topic_source, report) or {}
    log_ends = LogEnds(topic_source, {key.topic for key in by_partition})
    rows: list[Row] = []
    for key, group_offset in by_partition.items():
        row = offset_row(key, group_offset, log_ends.of(key.topic, key.partition))
        known = known_producers.get(row["pending_producer_id"])
        row["pending_transactional_id"] = None if known is None else known.transactional_id
        rows.append(row)
    empty_row = dict.fromkeys(rows[0]) if rows else {}
    for share_row in share_rows(topic_source, names_of_topics, report):
        rows.append({**empty_row, **share_row, "offset": share_row["start_offset"]})
    for row in sorted(rows, key=lambda row: (row["group"], row["topic"], row["partition"])):
        member = member_by_partition.get(
            GroupPartition(row["group"], row["topic"], row["partition"]), {}
        )
        yield {
            **row,
            "type": type_by_group.get(row["group"]),
            **{name: member.get(name) for name in MEMBER_COLUMNS},
        }
