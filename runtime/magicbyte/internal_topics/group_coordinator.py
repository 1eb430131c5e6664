"""The state of a group coordinator: the fold of one partition of `__consumer_offsets`."""

from magicbyte.findings import Finding
from magicbyte.internal_topics.committed_offsets import OFFSET_RECORDS, CommittedOffsets
from magicbyte.internal_topics.coordinator_records import (
    CoordinatorRecord,
    TransactionMarker,
    decode_record,
)
from magicbyte.internal_topics.groups import Groups
from magicbyte.messages import read_int16
from magicbyte_formats.messages import consumer_offsets

OFFSETS_TOPIC = "__consumer_offsets"


class GroupCoordinatorState:
    """Groups and committed offsets after the records so far, as a coordinator has them that loads the partition.

    A coordinator reads up to the log end. It applies each record when it reads it, except a
    committed offset in a transaction, which waits for the marker.
    """

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.committed_offsets = CommittedOffsets()
        self.groups = Groups()

    def apply(self, event: CoordinatorRecord | TransactionMarker) -> Finding | None:
        """Apply the next record or marker of the partition; return a finding if the record cannot be decoded."""
        if isinstance(event, TransactionMarker):
            self.committed_offsets.end_transaction(event)
            return None
        record = decode_record(event, consumer_offsets.MESSAGES)
        if isinstance(record, Finding):
            return record
        if record.name not in OFFSET_RECORDS:
            self.groups.apply(record.name, record.key, record.value)
            return None
        group_id = record.key["group"]
        self.committed_offsets.apply(event, record.key, record.value)
        if event.value is not None:
            self.groups.commit_offset(group_id, read_int16(event.value, "version")[0])
        elif not self.committed_offsets.has_offsets(group_id):
            self.groups.remove_last_offset(group_id)
        return None
