"""Committed offsets of groups, as a coordinator replays them (OffsetMetadataManager)."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from magicbyte.internal_topics.coordinator_records import (
    CoordinatorRecord,
    Fields,
    TransactionMarker,
)

NO_TOPIC_ID = "A" * 22
"""Text of the topic id whose bytes are all zero."""

OFFSET_RECORDS = ("OffsetCommit", "LegacyOffsetCommit")
"""Names of the records with committed offsets; brokers before 0.9 wrote the latter."""


class GroupPartition(NamedTuple):
    """A partition that a group reads."""

    group: str
    topic: str
    partition: int


class CommittedOffset(NamedTuple):
    """The value of a record that commits an offset."""

    offset: int
    leader_epoch: int | None
    client_metadata: str
    commit_timestamp: int
    expire_timestamp: int | None
    topic_id: str | None
    record_offset: int
    """Offset of the record in its partition of `__consumer_offsets`."""


class PendingOffset(NamedTuple):
    """An offset in a transaction that has not ended."""

    committed_offset: CommittedOffset
    producer_id: int
    outcome: str | None
    """Outcome of the transaction in the whole log; None if it is not known."""


class CommittedOffsets:
    """Offsets of the groups in one partition of `__consumer_offsets`."""

    def __init__(self) -> None:
        self.current: dict[GroupPartition, CommittedOffset] = {}
        """The offset at which each group goes on."""
        self._num_current: Counter[str] = Counter()
        """Number of current offsets, by group."""
        self._pending: dict[int, dict[GroupPartition, PendingOffset]] = {}
        """Offsets in open transactions, by producer id."""

    def apply(
        self, log_record: CoordinatorRecord, key_fields: Fields, value: Fields | None
    ) -> None:
        """Apply a record with a committed offset; a tombstone removes pending offsets, too."""
        group_partition = GroupPartition(
            key_fields["group"], key_fields["topic"], key_fields["partition"]
        )
        if value is None:
            if self.current.pop(group_partition, None) is not None:
                self._num_current[group_partition.group] -= 1
            for offsets in self._pending.values():
                offsets.pop(group_partition, None)
            return
        committed_offset = _committed_offset(value, log_record.offset)
        if log_record.producer_id is None:
            self._put(group_partition, committed_offset)
            return
        pending = PendingOffset(committed_offset, log_record.producer_id, log_record.outcome)
        self._pending.setdefault(log_record.producer_id, {})[group_partition] = pending

    def end_transaction(self, marker: TransactionMarker) -> None:
        """Move the pending offsets of a committed transaction to the current ones; forget the ones of an aborted transaction.

        Of a transactional and another commit, the one with the greater record offset counts; the offset
        of the marker does not matter. The outcome of the survey goes before the marker: where markers are lost, the
        next marker of the producer is of another transaction.
        """
        for group_partition, pending in self._pending.pop(marker.producer_id, {}).items():
            is_commit = (
                marker.is_commit if pending.outcome is None else pending.outcome == "committed"
            )
            current = self.current.get(group_partition)
            committed_offset = pending.committed_offset
            if is_commit and (
                current is None or committed_offset.record_offset > current.record_offset
            ):
                self._put(group_partition, committed_offset)

    def _put(self, group_partition: GroupPartition, committed_offset: CommittedOffset) -> None:
        if group_partition not in self.current:
            self._num_current[group_partition.group] += 1
        self.current[group_partition] = committed_offset

    def has_offsets(self, group: str) -> bool:
        """Return whether the group has a current or a pending offset."""
        return self._num_current[group] > 0 or any(key.group == group for key, _ in self.pending())

    def pending(self) -> Iterator[tuple[GroupPartition, PendingOffset]]:
        """Yield the offsets in open transactions."""
        for offsets in self._pending.values():
            yield from offsets.items()


def _committed_offset(value: Fields, record_offset: int) -> CommittedOffset:
    leader_epoch = value.get("leaderEpoch", -1)
    expire_timestamp = value.get("expireTimestamp", -1)
    topic_id = value.get("topicId", NO_TOPIC_ID)
    return CommittedOffset(
        offset=value["offset"],
        leader_epoch=None if leader_epoch == -1 else leader_epoch,
        client_metadata=value["metadata"],
        commit_timestamp=value["commitTimestamp"],
        expire_timestamp=None if expire_timestamp == -1 else expire_timestamp,
        topic_id=None if topic_id == NO_TOPIC_ID else topic_id,
        record_offset=record_offset,
    )
