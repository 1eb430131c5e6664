"""Transactional ids and their producers, from `__transaction_state`."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from magicbyte.internal_topics.transaction_coordinator import (
    TRANSACTION_TOPIC,
    TransactionCoordinatorState,
)
from magicbyte.reading._applied_records import coordinator_events
from magicbyte.reading._topic_source import SourceWithOptions, TopicSource
from magicbyte.reading.read_options import NO_RANGE
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


class KnownProducer(NamedTuple):
    """A producer id that a transactional id has, or had until its last change."""

    transactional_id: str
    state_name: str
    """State of the present or last transaction of the transactional id."""
    timeout_ms: int
    """Milliseconds after which the coordinator aborts a transaction that is ongoing."""
    start_timestamp: int | None
    """Start of the transaction by the coordinator's clock, in milliseconds since the Unix epoch."""
    transaction_partitions: frozenset[tuple[str, int]]
    """Topic and number of the partitions in it. A transaction that is open in another one hangs."""


def producers_of_ids(topic_source: TopicSource, report: Report) -> dict[int, KnownProducer] | None:
    """Return the producers with a transactional id, by producer id; None without `__transaction_state`.

    An offset at which the range of the read ends is of another topic, and does not matter here.
    """
    options = replace(topic_source.options, offsets=NO_RANGE)
    all_topics = SourceWithOptions(topic_source, options)
    if not all_topics.of_topics([TRANSACTION_TOPIC]).logs:
        return None
    by_id: dict[int, KnownProducer] = {}
    for coordinator in transaction_coordinators(all_topics, report):
        for name, transactional_id in coordinator.by_id.items():
            partitions = frozenset(
                (each.topic, each.partition) for each in transactional_id.assigned_partitions
            )
            producer = KnownProducer(
                name,
                transactional_id.state_name,
                transactional_id.timeout_ms,
                transactional_id.start_timestamp,
                partitions,
            )
            if transactional_id.previous_producer_id is not None:
                by_id.setdefault(transactional_id.previous_producer_id, producer)
            by_id[transactional_id.producer_id] = producer
    return by_id


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
