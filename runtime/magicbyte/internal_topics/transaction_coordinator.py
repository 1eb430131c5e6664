"""The state of a transaction coordinator: the fold of one partition of `__transaction_state` (TransactionStateManager)."""

from typing import NamedTuple

from magicbyte.findings import Finding
from magicbyte.internal_topics.consumer_protocol import AssignedPartition
from magicbyte.internal_topics.coordinator_records import (
    CoordinatorRecord,
    Fields,
    TransactionMarker,
    decode_record,
)
from magicbyte_formats.messages import transaction_state

TRANSACTION_TOPIC = "__transaction_state"

_STATUS = transaction_state.TRANSACTION_LOG_VALUE.field("transactionStatus")


class TransactionalId(NamedTuple):
    """A transactional id: its producer, and its present or last transaction."""

    producer_id: int
    previous_producer_id: int | None
    """Producer id before the last record, if that gave it another one because its epochs were used up."""
    producer_epoch: int
    state_name: str
    timeout_ms: int
    start_timestamp: int | None
    last_update_timestamp: int
    assigned_partitions: list[AssignedPartition]


class TransactionCoordinatorState:
    """The transactional ids of one partition of `__transaction_state` after the records so far."""

    def __init__(self, partition: int) -> None:
        self.partition = partition
        self.by_id: dict[str, TransactionalId] = {}

    def apply(self, event: CoordinatorRecord | TransactionMarker) -> Finding | None:
        """Apply the next record; return a finding if it cannot be decoded."""
        if isinstance(event, TransactionMarker):
            return None
        record = decode_record(event, transaction_state.MESSAGES)
        if isinstance(record, Finding):
            return record
        transactional_id = record.key["transactionalId"]
        if record.value is None:
            self.by_id.pop(transactional_id, None)
        else:
            self.by_id[transactional_id] = _transactional_id(record.value)
        return None


def _transactional_id(fields: Fields) -> TransactionalId:
    status, start = fields["transactionStatus"], fields["transactionStartTimestampMs"]
    previous = fields.get("previousProducerId", -1)
    return TransactionalId(
        producer_id=fields["producerId"],
        previous_producer_id=None if previous in (-1, fields["producerId"]) else previous,
        producer_epoch=fields["producerEpoch"],
        state_name=_STATUS.name_of(status) or str(status),
        timeout_ms=fields["transactionTimeoutMs"],
        start_timestamp=None if start == -1 else start,
        last_update_timestamp=fields["transactionLastUpdateTimestampMs"],
        assigned_partitions=sorted(
            AssignedPartition(each["topic"], number)
            for each in fields["transactionPartitions"] or ()
            for number in each["partitionIds"]
        ),
    )
