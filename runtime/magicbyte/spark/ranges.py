"""From limits to the offsets of each partition, as Spark's Kafka source resolves them."""

import logging
from collections.abc import Callable

from magicbyte.errors import InputError
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.partial_plan import BoundedRange
from magicbyte.spark.limits import EARLIEST, LATEST, Limit, check_order
from magicbyte.spark.values import Partition

log = logging.getLogger("magicbyte.spark")

OffsetAt = Callable[[PartitionLog, int], int | None]
"""Looks up a time, in milliseconds, in a log."""


def partition_of(log: PartitionLog) -> Partition:
    return log.topic or "", log.partition or 0


def range_of(
    log: PartitionLog,
    there: BoundedRange,
    start: Limit,
    end: Limit,
    offset_at: OffsetAt,
    *,
    fails: bool,
) -> BoundedRange:
    """Return the offsets of *log* between *start* and *end*, where *there* are those of it that are.

    Raises InputError where a time has no record and must have one, where a range goes backwards,
    and, if it *fails*, where offsets are asked for that are not there; else those that are there
    are given, with a warning.
    """
    first, last = (_at(offset_of(log, there, limit, offset_at), there) for limit in (start, end))
    check_order(partition_of(log), first, last)
    if first < last and (first < there[0] or last > there[1]):
        lose(
            f"offsets from {first} to below {last} of {log.name}",
            f"some of {there[0]} to {there[1] - 1}, which are there",
            fails=fails,
        )
    return max(first, there[0]), min(last, there[1])


def offset_of(log: PartitionLog, there: BoundedRange, limit: Limit, offset_at: OffsetAt) -> int:
    """Return the offset that *limit* says for a partition, or EARLIEST or LATEST."""
    wanted = limit.of(partition_of(log))
    if not limit.is_time:
        return wanted
    offset = offset_at(log, wanted)
    if offset is not None and offset < there[1]:
        return offset
    if limit.or_latest:
        return LATEST
    raise InputError(
        f"{limit.option} {wanted}: no record of {log.name} is of that time or later",
        "an earlier time, or startingOffsetsByTimestampStrategy latest",
    )


def _at(offset: int, there: BoundedRange) -> int:
    return there[0] if offset == EARLIEST else there[1] if offset == LATEST else offset


def lose(found: str, expected: str, *, fails: bool) -> None:
    """Raise InputError if offsets that are lost are to *fail*, else warn of them."""
    if fails:
        raise InputError(found, f"{expected}; failOnDataLoss false reads what is left")
    log.warning("%s are not all there: %s are read", found, expected)


def divided(whole: BoundedRange, most: int | None) -> list[BoundedRange]:
    """Return *whole* in equal parts of *most* offsets or less; None: in one. Nothing of nothing."""
    first, last = whole
    size = last - first
    if size <= 0:
        return []
    count = 1 if most is None else -(-size // most)
    return [
        (first + size * number // count, first + size * (number + 1) // count)
        for number in range(count)
    ]
