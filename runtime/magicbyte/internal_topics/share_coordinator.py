"""The state of a share coordinator: the fold of one partition of `__share_group_state` (ShareCoordinatorShard)."""

from dataclasses import dataclass
from typing import NamedTuple

from magicbyte.findings import Finding
from magicbyte.internal_topics.coordinator_records import (
    CoordinatorRecord,
    Fields,
    TransactionMarker,
    decode_record,
)
from magicbyte.internal_topics.share_state_batches import StateBatch, merge_batches
from magicbyte_formats.messages import share_group_state

SHARE_STATE_TOPIC = "__share_group_state"

NONE = -1
"""Value of a field that an update does not change, or that is not known."""


class SharePartition(NamedTuple):
    """A partition that a share group reads."""

    group: str
    topic_id: str
    partition: int


@dataclass(slots=True)
class ShareState:
    """The state of a share group in a partition; -1 where a number is not known."""

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    state_batches: list[StateBatch]

    def lag(self, log_end_offset: int | None) -> int | None:
        """Return the number of records that are not yet acknowledged or archived; None if it is not known."""
        if log_end_offset is None or NONE in (self.start_offset, self.delivery_complete_count):
            return None
        return log_end_offset - self.start_offset - self.delivery_complete_count


class ShareCoordinatorState:
    """The state of share groups after the records so far."""

    def __init__(self) -> None:
        self.by_partition: dict[SharePartition, ShareState] = {}

    def apply(self, event: CoordinatorRecord | TransactionMarker) -> Finding | None:
        """Apply the next record; return a finding if it cannot be decoded."""
        if isinstance(event, TransactionMarker):
            return None
        record = decode_record(event, share_group_state.MESSAGES)
        if isinstance(record, Finding):
            return record
        share_partition = SharePartition(
            record.key["groupId"], record.key["topicId"], record.key["partition"]
        )
        if record.name == "ShareUpdate":
            self._update(share_partition, record.value or {})
        elif record.value is None:
            self.by_partition.pop(share_partition, None)
        else:
            self.by_partition[share_partition] = _state(record.value, _batches(record.value))
        return None

    def _update(self, share_partition: SharePartition, update: Fields) -> None:
        """Apply an update to the state that the last snapshot and later updates gave."""
        if not update:
            return
        before = self.by_partition.get(share_partition)
        if before is None:
            self.by_partition[share_partition] = _state(update, _batches(update))
            return
        if update["startOffset"] != NONE:
            before.start_offset = update["startOffset"]
        if update["leaderEpoch"] != NONE:
            before.leader_epoch = update["leaderEpoch"]
        before.delivery_complete_count = update.get("deliveryCompleteCount", NONE)
        before.state_batches = merge_batches(
            [*before.state_batches, *_batches(update)], before.start_offset
        )


def _state(fields: Fields, state_batches: list[StateBatch]) -> ShareState:
    return ShareState(
        snapshot_epoch=fields["snapshotEpoch"],
        state_epoch=fields.get("stateEpoch", NONE),
        leader_epoch=fields["leaderEpoch"],
        start_offset=fields["startOffset"],
        delivery_complete_count=fields.get("deliveryCompleteCount", NONE),
        state_batches=state_batches,
    )


def _batches(fields: Fields) -> list[StateBatch]:
    return [
        StateBatch(
            each["firstOffset"], each["lastOffset"], each["deliveryState"], each["deliveryCount"]
        )
        for each in fields["stateBatches"]
    ]
