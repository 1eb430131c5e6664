"""Findings about timestamps that became null because 64-bit microseconds cannot hold them."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from magicbyte.findings import Finding
from magicbyte.reading.split import ChunkResult, Split
from magicbyte.tables.stored_types import is_out_of_range

LOCATION_COLUMNS = ("topic", "partition", "file", "position")
"""Columns that locate a row of a table; not every table has all of them."""


def lost_times(split: Split, timestamps: pa.Array, positions: pa.Array | None) -> Iterator[Finding]:
    """Yield findings about *timestamps*, of records of *split*, that microseconds cannot hold.

    With *positions*, the positions of the records' entries, there is one finding for each entry.
    """
    if positions is None:
        positions = pa.nulls(len(timestamps), pa.int64())
    lost_positions = positions.filter(is_out_of_range(timestamps))
    for position, count in Counter(lost_positions.to_pylist()).items():
        yield _lost(
            count,
            "timestamp",
            topic=split.topic,
            partition=split.partition,
            file=split.file.name,
            position=position,
        )


def lost_times_of_piece(split: Split, piece: ChunkResult) -> Iterator[Finding]:
    """Yield a finding for each entry of *piece* in which a delivered record's timestamp becomes null."""
    delivered = piece.delivered("timestamp", "position")
    if delivered is not None:
        yield from lost_times(split, delivered.column("timestamp"), delivered.column("position"))


def lost_times_of_rows(batch: pa.RecordBatch) -> Iterator[Finding]:
    """Yield a finding for each timestamp that becomes null in *batch*, rows of a table."""
    location = [name for name in LOCATION_COLUMNS if name in batch.schema.names]
    for field in batch.schema:
        if pa.types.is_timestamp(field.type):
            lost = batch.filter(is_out_of_range(batch.column(field.name)))
            for row in lost.select(location).to_pylist():
                yield _lost(1, field.name, **row)


def _lost(count: int, field: str, **location: Any) -> Finding:
    times = "1 time is" if count == 1 else f"{count} times are"
    return Finding(
        code="timestamp-out-of-range",
        message=f"{times} beyond what 64-bit microseconds hold and became null",
        field=field,
        **location,
    )
