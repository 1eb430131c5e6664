"""Reads samples from real logs: batches with their records, to be encoded in each format."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import magicbyte as mb

PLACE = ("topic", "partition", "file", "position")
RECORD = ("offset", "timestamp", "key", "value", "headers")
PRODUCER = ("producer_id", "producer_epoch", "sequence")
COLUMNS = [*PLACE, *RECORD, *PRODUCER, "is_transactional"]


@dataclass(frozen=True, slots=True)
class BatchSample:
    """The records of one batch in a log, with the batch's producer fields."""

    records: list[dict[str, Any]]
    """`offset`, `timestamp` (milliseconds, -1 for none), `key`, `value` of each."""
    producer_id: int
    producer_epoch: int
    base_sequence: int
    is_transactional: bool

    @property
    def content_bytes(self) -> int:
        """Bytes of all keys and values."""
        return sum(len(r["key"] or b"") + len(r["value"] or b"") for r in self.records)


def samples(log_dirs: Iterable[Path]) -> Iterator[BatchSample | None]:
    """Yield the records of each data batch in *log_dirs*; None for a batch with record headers."""
    rows = mb.open(*log_dirs, isolation_level="read_uncommitted", on_damage="skip")
    table = rows.records(columns=COLUMNS).to_reader()
    in_order = (row for batch in table for row in batch.to_pylist())
    for _, group in groupby(in_order, key=lambda row: [row[name] for name in PLACE]):
        found = list(group)
        yield None if any(row["headers"] for row in found) else _sample(found)


def _sample(rows: list[dict[str, Any]]) -> BatchSample:
    records = [
        {name: row[name] for name in ("offset", "key", "value")}
        | {"timestamp": _milliseconds(row["timestamp"])}
        for row in rows
    ]
    first = rows[0]
    producer, epoch, sequence = (-1 if first[name] is None else first[name] for name in PRODUCER)
    return BatchSample(records, producer, epoch, sequence, first["is_transactional"])


def _milliseconds(timestamp: Any) -> int:
    return -1 if timestamp is None else round(timestamp.timestamp() * 1000)
