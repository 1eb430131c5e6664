"""Records of an internal topic as a coordinator or a controller applies them when it loads the topic.

A consumer with `read_committed` gets nothing after the last stable offset. A coordinator reads up to the log
end (CoordinatorLoaderImpl, FetchIsolation.LOG_END), and applies records without a transaction when it reads them, and
records of a transaction when it is committed. Here "now" is the end of the range of the read: a marker after
it has not been written yet. The beginning of the range does not matter, since a state needs all records.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from magicbyte.internal_topics.coordinator_records import CoordinatorRecord, TransactionMarker
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading._one_pass import record_rows
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import ReadOptions
from magicbyte.reading.results import Report

COLUMNS = ("topic", "partition", "offset", "timestamp", "key", "value")

TRANSACTION_COLUMNS = ("producer_id", "is_transactional", "outcome")

APPLIED_OUTCOMES = (None, "committed")
"""Outcomes of the transactions whose records are applied; None: the record is not transactional."""


class AppliedRecord(NamedTuple):
    """A record of an internal topic."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None
    """Milliseconds since the Unix epoch."""
    key: bytes | None
    value: bytes | None


def applied_records(topic_source: TopicSource, report: Report) -> Iterator[AppliedRecord]:
    """Yield the records of all partitions of *topic_source* that are applied, by partition and offset."""
    options = loading_options(topic_source.options)
    has_end = options.offsets[1] is not None or options.times[1] is not None
    for log in topic_source.logs:
        markers: defaultdict[int, list[int]] = defaultdict(list)
        if has_end:
            marker_columns = ("offset", "producer_id")
            for row in _rows(options, [log], marker_columns, ("control",), Report()):
                markers[row["producer_id"]].append(row["offset"])
        columns = (*COLUMNS, "outcome", "producer_id")
        for row in _rows(options, [log], columns, ("delivered",), report):
            outcome, producer_id = row.pop("outcome"), row.pop("producer_id")
            if outcome not in APPLIED_OUTCOMES:
                continue
            if outcome is not None and has_end:
                offsets = markers.get(producer_id, ())
                if bisect_right(offsets, row["offset"]) == len(offsets):
                    continue  # the marker is after the end of the range
            yield AppliedRecord(**row)


def coordinator_events(
    topic_source: TopicSource, log: PartitionLog, report: Report
) -> Iterator[CoordinatorRecord | TransactionMarker]:
    """Yield the records and transaction markers of *log* in the order in which a coordinator replays them."""
    columns = (*COLUMNS, *TRANSACTION_COLUMNS, "disposition")
    options = loading_options(topic_source.options)
    for row in _rows(options, [log], columns, ("delivered", "control"), report):
        if row["disposition"] == "control":
            yield TransactionMarker(
                row["partition"], row["offset"], row["producer_id"], row["outcome"] == "committed"
            )
            continue
        is_transactional = row["is_transactional"]
        yield CoordinatorRecord(
            **{name: row[name] for name in COLUMNS},
            producer_id=row["producer_id"] if is_transactional else None,
            outcome=row["outcome"],
        )


def loading_options(options: ReadOptions) -> ReadOptions:
    """Return the options for a load: up to the end of the range, from the beginning of the log."""
    return replace(
        options,
        isolation_level="read_uncommitted",
        offsets=(None, options.offsets[1]),
        times=(None, options.times[1]),
    )


def _rows(
    options: ReadOptions,
    logs: Sequence[PartitionLog],
    columns: tuple[str, ...],
    dispositions: tuple[str, ...],
    report: Report,
) -> Iterator[dict[str, Any]]:
    """Yield records with *dispositions* as dicts, with times in milliseconds since the Unix epoch."""
    for batch in record_rows(Planner(options), logs, columns, dispositions).read_into(report):
        position = batch.schema.get_field_index("timestamp")
        if position >= 0:
            times = batch.column("timestamp").cast(pa.int64())
            batch = batch.set_column(position, "timestamp", times)
        yield from batch.to_pylist()
