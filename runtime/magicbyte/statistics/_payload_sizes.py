"""Sizes of keys, values and headers of records, and their times."""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import pyarrow as pa

from magicbyte.tables.arrays import Array, Mask, null_mask, value_lengths, value_offsets

COLUMNS = ("timestamp", "key", "value", "headers")
"""Columns of `records` from which sizes and times are computed."""


@dataclass(slots=True)
class PayloadSums:
    """Sizes of keys, values and headers, and the range of times; attributes have columns' names."""

    key_bytes: int = 0
    value_bytes: int = 0
    header_bytes: int = 0
    null_key_count: int = 0
    tombstone_count: int = 0
    first_timestamp: int | None = None
    """Earliest time of a record, in milliseconds since the Unix epoch."""
    last_timestamp: int | None = None

    def count(self, rows: pa.RecordBatch, is_data: Mask) -> None:
        """Count the *rows* that *is_data* marks; they have `COLUMNS`."""
        keys, values = (value_lengths(rows.column(name))[is_data] for name in ("key", "value"))
        self.key_bytes += int(np.maximum(keys, 0).sum())
        self.value_bytes += int(np.maximum(values, 0).sum())
        self.null_key_count += int(np.count_nonzero(keys < 0))
        self.tombstone_count += int(np.count_nonzero(values < 0))
        self.header_bytes += _header_bytes(rows.column("headers"), is_data)
        times = times_of(rows)[is_data & ~null_mask(rows.column("timestamp"))]
        if len(times):
            self._extend(int(times.min()), int(times.max()))

    def add(self, other: Self) -> None:
        """Add the sums of *other*."""
        for name in (counter.name for counter in fields(self) if counter.type is int):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self._extend(other.first_timestamp, other.last_timestamp)

    def _extend(self, first: int | None, last: int | None) -> None:
        if first is not None and (self.first_timestamp is None or first < self.first_timestamp):
            self.first_timestamp = first
        if last is not None and (self.last_timestamp is None or last > self.last_timestamp):
            self.last_timestamp = last


def times_of(rows: pa.RecordBatch) -> Array:
    """Return the times of *rows* in milliseconds since the Unix epoch; arbitrary where null."""
    column = rows.column("timestamp")
    return np.frombuffer(column.buffers()[1], np.int64, len(column), 8 * column.offset)


def _header_bytes(headers: pa.Array, is_data: Mask) -> int:
    """Return the bytes of keys and values of the *headers* of records that *is_data* marks."""
    ends = value_offsets(headers)
    if ends[0] == ends[-1]:
        return 0
    sizes = sum(
        np.maximum(value_lengths(headers.values.field(name)), 0) for name in ("key", "value")
    )
    before = np.concatenate([[0], np.cumsum(sizes)])[ends]
    return int(np.diff(before)[is_data & ~null_mask(headers)].sum())
