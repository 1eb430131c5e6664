"""Some consecutive segments of a partition, as a partition of their own.

A follower and a read of few offsets need not survey the whole log. The producer snapshot at the
first segment's base tells the state of producers before it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace

from magicbyte.errors import FormatError, MissingError, UnreadableError
from magicbyte.limits import MIB
from magicbyte.logdir.companions import (
    MAX_COMPANION_BYTES,
    check_below,
    read_producer_snapshot,
)
from magicbyte.logdir.log_file import LogFile, PartitionLog

MIN_SAVED_BYTES = MIB
"""Bytes that must be left unread. Below that, whole segments cost little, and damage in them is noticed."""

MIN_SAVED_PART = 2
"""The whole segments must have so many times the bytes of the range: their survey also compares
companion files."""


def from_offset(log: PartitionLog, offset: int) -> PartitionLog:
    """Return *log* from the segment that holds *offset*.

    It begins earlier where no sound snapshot tells which transactions were open there.
    """
    bases = known_bases(log)
    first = max(bisect_right(bases, offset) - 1, 0)
    while first > 0 and not _has_snapshot(log, bases[first]):
        first -= 1
    return _between(log, bases[first], None) if first else log


def before(log: PartitionLog, end_of_log: PartitionLog, count: int) -> PartitionLog:
    """Return *log* from *count* segments, at least, before the first one of *end_of_log*."""
    bases, first = known_bases(log), known_bases(end_of_log)[0]
    return from_offset(log, bases[max(bases.index(first) - count, 0)])


def up_to(log: PartitionLog, offset: int, *, more: int) -> PartitionLog:
    """Return *log* up to the segment that holds the offset before *offset*, plus *more* segments."""
    bases = known_bases(log)
    end = max(bisect_left(bases, offset), 1) + more
    return log if end >= len(bases) else _between(log, None, bases[end])


def each_segment(log: PartitionLog) -> Iterator[PartitionLog]:
    """Yield each segment of *log* as a log of its own; *log* itself if base offsets are unknown."""
    bases = known_bases(log)
    if not bases:
        yield log
        return
    for first, end in zip(bases, [*bases[1:], None], strict=True):
        yield _between(log, first, end) if len(bases) > 1 else log


def with_own_checkpoints(log: PartitionLog) -> PartitionLog:
    """Return *log* without the checkpoints of other partitions: small enough to be sent to a task."""
    if log.log_dir is None or log.topic is None or log.partition is None:
        return log
    return replace(log, log_dir=log.log_dir.of(log.topic, log.partition))


def known_bases(log: PartitionLog) -> list[int]:
    """Return the base offsets of the segments; none if one is unknown: such a log stays whole."""
    bases = [file.base_offset for file in log.logs]
    return [] if None in bases else [base for base in bases if base is not None]


def _has_snapshot(log: PartitionLog, base: int) -> bool:
    for file in log.files:
        if file.live and file.kind == "snapshot" and file.base_offset == base:
            try:
                check_below(read_producer_snapshot(file.read_small(MAX_COMPANION_BYTES)), base)
            except (FormatError, MissingError, UnreadableError):
                return False
            return True
    return False


def _between(log: PartitionLog, first: int | None, end: int | None) -> PartitionLog:
    """Return the files of *log* whose base offset is in [first, end), with checkpoints for that range."""
    files = tuple(
        file
        for file in log.files
        if file.base_offset is None
        or (
            (first is None or file.base_offset >= first) and (end is None or file.base_offset < end)
        )
    )
    return bounded(log, files, first, end)


def bounded(
    log: PartitionLog, files: tuple[LogFile, ...], first: int | None, end: int | None
) -> PartitionLog:
    """Return *log* with *files* alone, which hold the offsets in [first, end), and checkpoints for these."""
    log = with_own_checkpoints(log)
    log_dir = log.log_dir
    if log_dir is not None and log.topic is not None and log.partition is not None:
        start = max(first or 0, log.log_start_checkpoint or 0)
        own = {(log.topic, log.partition): start}
        log_dir = replace(
            log_dir,
            log_start=own if first is not None else log_dir.log_start,
            recovery_point=None if end is not None else log_dir.recovery_point,
            high_watermark=None if end is not None else log_dir.high_watermark,
        )
    return replace(
        log,
        files=files,
        log_dir=log_dir,
        first_epoch_start=log.first_epoch_start if first is None else None,
        next_base=log.next_base if end is None else end,
    )
