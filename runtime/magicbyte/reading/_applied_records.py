"""Records of an internal topic as a coordinator or a controller applies them when it loads the topic."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa

from magicbyte.reading._one_pass import record_rows
from magicbyte.reading._topic_source import TopicSource
from magicbyte.reading.planner import Planner
from magicbyte.reading.results import Report

COLUMNS = ("topic", "partition", "offset", "timestamp", "key", "value", "outcome")

DELIVERED = ("delivered",)

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
    """Yield the records of all partitions of *topic_source* that a coordinator applies when it loads them.

    A consumer with `read_committed` gets nothing after the last stable offset. A coordinator reads up to the log end
    (CoordinatorLoaderImpl, FetchIsolation.LOG_END), and applies records without a
    transaction, and records of committed transactions.
    """
    options = replace(topic_source.options, isolation_level="read_uncommitted")
    for batch in record_rows(Planner(options), topic_source.logs, COLUMNS, DELIVERED).read_into(
        report
    ):
        position = batch.schema.get_field_index("timestamp")
        times = batch.column("timestamp").cast(pa.int64())
        rows = batch.set_column(position, "timestamp", times).to_pylist()
        for row in rows:
            if row.pop("outcome") in APPLIED_OUTCOMES:
                yield AppliedRecord(**row)
