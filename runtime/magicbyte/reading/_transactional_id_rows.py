"""Rows of the table of transactional ids."""

from collections.abc import Iterator

from magicbyte.internal_topics.transaction_coordinator import (
    TRANSACTION_TOPIC,
    TransactionCoordinatorState,
)
from magicbyte.reading._applied_records import coordinator_events
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.results import Report, Row


def transactional_id_rows(topic_source: TopicSource, report: Report) -> Iterator[Row]:
    """Yield the rows of `transactional_ids`, by transactional id."""
    rows: list[Row] = []
    for coordinator in transaction_coordinators(topic_source, report):
        for name, transactional_id in coordinator.by_id.items():
            row: Row = transactional_id._asdict()
            row["state"] = row.pop("state_name")
            row["partitions"] = [each._asdict() for each in row.pop("assigned_partitions")]
            rows.append(
                {"transactional_id": name, **row, "coordinator_partition": coordinator.partition}
            )
    yield from sorted(rows, key=lambda row: row["transactional_id"])


def transactional_ids_by_producer(topic_source: TopicSource, report: Report) -> dict[int, str]:
    """Return the transactional id of each producer id, as far as `__transaction_state` is below the paths."""
    by_producer: dict[int, str] = {}
    for coordinator in transaction_coordinators(topic_source, report):
        for name, transactional_id in coordinator.by_id.items():
            if transactional_id.previous_producer_id is not None:
                by_producer.setdefault(transactional_id.previous_producer_id, name)
            by_producer[transactional_id.producer_id] = name
    return by_producer


def transaction_coordinators(
    topic_source: TopicSource, report: Report
) -> Iterator[TransactionCoordinatorState]:
    """Yield the state of the coordinator of each partition of `__transaction_state` below the paths."""
    transaction_topic = topic_source.of_topics([TRANSACTION_TOPIC])
    for log in transaction_topic.logs:
        coordinator = TransactionCoordinatorState(log.partition or 0)
        for event in coordinator_events(transaction_topic, log, report):
            finding = coordinator.apply(event)
            if finding is not None:
                report.findings.append(finding)
        yield coordinator
