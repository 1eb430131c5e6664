"""Divide records by the date of their timestamps."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

DAY_MS = 24 * 60 * 60 * 1000
"""Milliseconds of a day."""

FIRST_DAY, LAST_DAY = (
    int(np.datetime64(text, "D").astype(np.int64)) for text in ("0001-01-01", "9999-12-31")
)
"""Days since the Unix epoch."""


def parts_by_date(rows: pa.RecordBatch) -> Iterator[tuple[str | None, pa.RecordBatch]]:
    """Yield the parts of *rows* of each date, such as `2024-04-24`, in UTC. They keep their order.

    The date is None where `timestamp` is null, or not in the years 1 to 9999, which other programs cannot read.
    """
    times = rows.column("timestamp")
    is_known = times.is_valid().to_numpy(zero_copy_only=False)
    numbers = pc.fill_null(times.view(pa.int64()), 0).to_numpy(zero_copy_only=False)
    days = numbers // DAY_MS
    is_known &= (days >= FIRST_DAY) & (days <= LAST_DAY)
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
