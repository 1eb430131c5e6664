"""Parts of Arrow batches that are small enough to become Python objects, which take much more memory."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from magicbyte.tables.arrays import value_offsets

MAX_ELEMENTS = 1 << 15
"""Headers that are Python objects at a time, about 10 MB. A record may have a hundred million."""


def row_chunks(batch: pa.RecordBatch, max_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows of *batch*, at most *max_rows* and MAX_ELEMENTS headers at a time.

    A row with more headers is yielded by itself.
    """
    for start in range(0, batch.num_rows, max_rows):
        yield from _parts(batch.slice(start, max_rows))


def _parts(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if rows.num_rows < 2 or not has_long_list(rows):
        yield rows
        return
    half = rows.num_rows // 2
    yield from _parts(rows.slice(0, half))
    yield from _parts(rows.slice(half))


def has_long_list(rows: pa.RecordBatch) -> bool:
    """Return whether a list column of *rows* has more than MAX_ELEMENTS elements."""
    lists = (column for column in rows.columns if pa.types.is_list(column.type))
    return any(num_elements(column) > MAX_ELEMENTS for column in lists)


def num_elements(column: pa.Array) -> int:
    """Return the number of elements in the lists of *column*."""
    offsets = value_offsets(column)
    return int(offsets[-1] - offsets[0])


def element_chunks(column: pa.Array) -> Iterator[list[dict[str, Any]]]:
    """Yield the elements of the lists of *column*, at most MAX_ELEMENTS at a time."""
    elements = column.flatten()
    for start in range(0, len(elements), MAX_ELEMENTS):
        yield elements.slice(start, MAX_ELEMENTS).to_pylist()
