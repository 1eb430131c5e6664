"""Resolve the bounds of a read to offsets of each partition, as Spark's Kafka source does."""

import logging
from collections.abc import Callable

from magicbyte.errors import InputError
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.partial_plan import BoundedRange
from magicbyte.spark._conditions import with_condition
from magicbyte.spark._offset_bounds import EARLIEST, LATEST, OffsetBound, check_order
from magicbyte.spark._option_values import Partition

log = logging.getLogger("magicbyte.spark")

OffsetAt = Callable[[PartitionLog, int], int | None]
"""Returns a log's first offset with a time (milliseconds) or a later one; None if none has."""


def partition_of(log: PartitionLog) -> Partition:
    return log.topic or "", log.partition or 0


def resolve_range(
    log: PartitionLog,
    readable: BoundedRange,
    start: OffsetBound,
    end: OffsetBound,
    offset_at: OffsetAt,
    *,
    fails: bool,
) -> tuple[BoundedRange, bool]:
    """Return the offsets of *log* from *start* to *end* that are inside the *readable* ones.

    The second value is True if *end* is the end of the log and no given offset. Raises InputError if a
    required time has no record, if the range is reversed and, with *fails*, if some of its offsets do not
    exist. Without *fails*, that is a warning.
    """
    bounds = [resolve_offset(log, readable, bound, offset_at) for bound in (start, end)]
    first, last = (_absolute(bound, readable) for bound in bounds)
    check_order(partition_of(log), first, last)
    if first < last and (first < readable[0] or last > readable[1]):
        report_data_loss(
            f"offsets from {first} to below {last} of {log.name}",
            f"some of {readable[0]} to {readable[1] - 1}, which exist",
            fails=fails,
        )
    return (max(first, readable[0]), min(last, readable[1])), bounds[1] == LATEST


def resolve_offset(
    log: PartitionLog, readable: BoundedRange, bound: OffsetBound, offset_at: OffsetAt
) -> int:
    """Return the offset of *bound* in *log*, or EARLIEST or LATEST."""
    value = bound.of(partition_of(log))
    if not bound.is_time:
        return value
    offset = offset_at(log, value)
    if offset is not None and offset < readable[1]:
        return offset
    if bound.or_latest:
        return LATEST
    raise InputError(
        f"{bound.option} {value}: no record of {log.name} has that time or a later one",
        "an earlier time, or startingOffsetsByTimestampStrategy latest",
    )


def _absolute(offset: int, readable: BoundedRange) -> int:
    return readable[0] if offset == EARLIEST else readable[1] if offset == LATEST else offset


def report_data_loss(found: str, expected: str, *, fails: bool) -> None:
    """Raise InputError for lost offsets if the read *fails* on data loss, else log a warning."""
    if fails:
        advice = f"{expected}; failOnDataLoss false reads what is left"
        raise with_condition(InputError(found, advice), "MAGICBYTE_DATA_LOSS")
    log.warning("data loss: %s; expected %s; reading what is left", found, expected)


def divide(offsets: BoundedRange, max_offsets: int | None) -> list[BoundedRange]:
    """Divide a range of offsets into equal ranges of *max_offsets* at most (None: one range)."""
    first, last = offsets
    size = last - first
    if size <= 0:
        return []
    count = 1 if max_offsets is None else -(-size // max_offsets)
    return [
        (first + size * number // count, first + size * (number + 1) // count)
        for number in range(count)
    ]
