"""From limits to the offsets of each partition, as Spark's Kafka source resolves them."""

import logging
from collections.abc import Iterator, Mapping, Sequence

from magicbyte.errors import InputError
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.survey import Survey
from magicbyte.spark.limits import EARLIEST, LATEST, Limit, check_order
from magicbyte.spark.values import Partition

log = logging.getLogger("magicbyte.spark")

Range = tuple[int, int]
"""Offsets, half-open."""


def partition_of(log: PartitionLog) -> Partition:
    return log.topic or "", log.partition or 0


def available(found: Survey, isolation_level: str) -> Range:
    """Return what a consumer of *isolation_level* finds: from the log start to where it may read."""
    first = found.log_start_offset or 0
    return first, max(first, end_of(found, isolation_level))


def end_of(found: Survey, isolation_level: str) -> int:
    """Return up to where a consumer of *isolation_level* may read."""
    if isolation_level == "read_committed" and found.last_stable_offset is not None:
        return found.last_stable_offset
    return found.log_end_offset or 0


def ranges(
    dataset: Dataset, surveys: Sequence[Survey], start: Limit, end: Limit, *, fails: bool
) -> dict[Partition, Range]:
    """Return the offsets between *start* and *end* of each partition.

    Raises InputError where a limit does not name the partitions that there are, where a time has
    no record and must have one, where a range goes backwards, and, if it *fails*, where offsets
    are asked for that are not there; else those that are there are given, with a warning.
    """
    by_partition = {partition_of(found.log): found for found in surveys}
    for limit in (start, end):
        limit.check_names(by_partition)
    return {
        partition: _range(dataset, found, partition, start, end, fails=fails)
        for partition, found in by_partition.items()
    }


def _range(
    dataset: Dataset, found: Survey, partition: Partition, start: Limit, end: Limit, *, fails: bool
) -> Range:
    there = available(found, dataset.options.isolation_level)
    first, last = (offset_of(dataset, found, limit) for limit in (start, end))
    first, last = (_at(offset, there) for offset in (first, last))
    check_order(partition, first, last)
    if first < last and (first < there[0] or last > there[1]):
        lose(
            f"offsets from {first} to below {last} of {found.log.name}",
            f"some of {there[0]} to {there[1] - 1}, which are there",
            fails=fails,
        )
    return max(first, there[0]), min(last, there[1])


def offset_of(dataset: Dataset, found: Survey, limit: Limit) -> int:
    """Return the offset that *limit* says for a partition, or EARLIEST or LATEST."""
    wanted = limit.of(partition_of(found.log))
    if not limit.is_time:
        return wanted
    offset = dataset.offset_at(found, wanted)
    if offset is not None and offset < available(found, dataset.options.isolation_level)[1]:
        return offset
    if limit.or_latest:
        return LATEST
    raise InputError(
        f"{limit.option} {wanted}: no record of {found.log.name} is of that time or later",
        "an earlier time, or startingOffsetsByTimestampStrategy latest",
    )


def _at(offset: int, there: Range) -> int:
    return there[0] if offset == EARLIEST else there[1] if offset == LATEST else offset


def lose(found: str, expected: str, *, fails: bool) -> None:
    """Raise InputError if offsets that are lost are to *fail*, else warn of them."""
    if fails:
        raise InputError(found, f"{expected}; failOnDataLoss false reads what is left")
    log.warning("%s are not all there: %s are read", found, expected)


def divided(
    of_partitions: Mapping[Partition, Range], most: int | None
) -> dict[Partition, list[Range]]:
    """Return each range in equal parts of *most* offsets or less; None: whole. Empty ones go."""
    return {partition: list(_parts(*one, most)) for partition, one in of_partitions.items()}


def _parts(first: int, last: int, most: int | None) -> Iterator[Range]:
    size = last - first
    if size <= 0:
        return
    count = 1 if most is None else -(-size // most)
    for number in range(count):
        yield first + size * number // count, first + size * (number + 1) // count
