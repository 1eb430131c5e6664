"""Divide records by the date of their timestamps."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.tables.stored_types import is_out_of_range

DAY_MS = 24 * 60 * 60 * 1000
"""Milliseconds of a day."""


def parts_by_date(rows: pa.RecordBatch) -> Iterator[tuple[str | None, pa.RecordBatch]]:
    """Yield the parts of *rows* of each date, such as `2024-04-24`, in UTC. They keep their order.

    The date is None where `timestamp` is null, or is written as null because it does not fit into 64-bit
    microseconds.
    """
    times = rows.column("timestamp")
    milliseconds = times.view(pa.int64())
    is_known = pc.and_not(times.is_valid(), is_out_of_range(times)).to_numpy(zero_copy_only=False)
    days = pc.fill_null(milliseconds, 0).to_numpy(zero_copy_only=False) // DAY_MS
    if not is_known.all():
        missing = pa.array(~is_known)
        yield None, rows.filter(missing)
    distinct = np.unique(days[is_known])
    if len(distinct) == 1 and is_known.all():
        yield _text_of(distinct[0]), rows
        return
    for day in distinct:
        yield _text_of(day), rows.filter(pa.array((days == day) & is_known))


def _text_of(day: np.int64) -> str:
    """Return the date that is *day* days after the Unix epoch."""
    return str(np.datetime64(int(day), "D"))
