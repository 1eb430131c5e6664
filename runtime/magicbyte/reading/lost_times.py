"""Findings for the times that became null because microseconds do not hold them."""

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from magicbyte.findings import Finding
from magicbyte.reading.split import Piece, Split
from magicbyte.tables.stored_types import is_out_of_range

PLACES = ("topic", "partition", "file", "position")
"""Columns that say where a row of a table is from, where it has them."""


def lost_times(split: Split, times: pa.Array, positions: pa.Array | None) -> Iterator[Finding]:
    """Yield a finding for those of *times*, of records of *split*, that become null.

    With *positions*, the byte of the entry that each is in, there is one for each entry.
    """
    if positions is None:
        positions = pa.nulls(len(times), pa.int64())
    found = positions.filter(is_out_of_range(times))
    for position, count in Counter(found.to_pylist()).items():
        yield _lost(
            count,
            "timestamp",
            topic=split.topic,
            partition=split.partition,
            file=split.file.name,
            position=position,
        )


def lost_times_of_piece(split: Split, piece: Piece) -> Iterator[Finding]:
    """Yield a finding for each entry of *piece* that has such times among what it delivers."""
    delivered = piece.delivered("timestamp", "position")
    if delivered is not None:
        yield from lost_times(split, delivered.column("timestamp"), delivered.column("position"))


def lost_times_of_rows(batch: pa.RecordBatch) -> Iterator[Finding]:
    """Yield a finding for each time of *batch*, of a table with `PLACES`, that becomes null."""
    places = [name for name in PLACES if name in batch.schema.names]
    for field in batch.schema:
        if pa.types.is_timestamp(field.type):
            lost = batch.filter(is_out_of_range(batch.column(field.name)))
            for place in lost.select(places).to_pylist():
                yield _lost(1, field.name, **place)


def _lost(
    count: int,
    field: str,
    *,
    topic: str | None,
    partition: int | None,
    file: str | None = None,
    position: int | None = None,
) -> Finding:
    times = "1 time is" if count == 1 else f"{count} times are"
    return Finding(
        code="timestamp-out-of-range",
        message=f"{times} beyond what 64-bit microseconds hold and became null",
        topic=topic,
        partition=partition,
        file=file,
        position=position,
        field=field,
    )
