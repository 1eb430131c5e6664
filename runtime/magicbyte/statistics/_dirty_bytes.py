"""Bytes of compacted partitions that the log cleaner has not cleaned yet, by Kafka's own sums.

The cleaner takes the partition with the highest ratio of dirty bytes, and leaves one alone whose ratio
is below `min.cleanable.dirty.ratio` (LogToClean, LogCleanerManager.calculateCleanableBytes).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.cleanable_range import cleanable_range


@dataclass(frozen=True, slots=True)
class DirtyBytes:
    """Clean and dirty bytes of segments of compacted partitions."""

    clean: int
    dirty: int
    folder: str | None
    """The partition's folder; None for several partitions."""
    first_offset: int | None
    """The first dirty offset; None for several partitions."""

    @property
    def ratio(self) -> float | None:
        total = self.clean + self.dirty
        return self.dirty / total if total else None

    def plus(self, addend: "DirtyBytes | None") -> "DirtyBytes":
        """Return the sums of both."""
        if addend is None:
            return self
        is_same = self.folder is not None and self.folder == addend.folder
        return DirtyBytes(
            self.clean + addend.clean,
            self.dirty + addend.dirty,
            self.folder if is_same else None,
            self.first_offset if is_same else None,
        )


def dirty_bytes(
    log: PartitionLog, last_stable_offset: int | None, log_end_offset: int | None
) -> Sequence[DirtyBytes | None]:
    """Return the dirty bytes of each segment of *log*; None if the cleaner has no checkpoint of it."""
    cleaner = None if log.log_dir is None else log.log_dir.cleaner
    stored = None
    if cleaner is not None and log.topic is not None and log.partition is not None:
        stored = cleaner.get((log.topic, log.partition))
    if stored is None or not log.logs:
        return [None] * len(log.logs)
    bases = [file.base_offset or 0 for file in log.logs]
    cleanable = cleanable_range(
        bases,
        checkpoint=stored,
        log_start_offset=log.log_start_offset or 0,
        log_end_offset=log_end_offset,
        first_uncleanable_offset=last_stable_offset,
    )
    first, begin, end = (
        cleanable.first_dirty_offset,
        cleanable.first_dirty_segment,
        cleanable.end_segment,
    )
    return [
        DirtyBytes(
            clean=file.size_bytes if base < first else 0,
            dirty=file.size_bytes if begin <= number < end else 0,
            folder=log.folder,
            first_offset=first,
        )
        for number, (file, base) in enumerate(zip(log.logs, bases, strict=True))
    ]


def sum_of(augend: DirtyBytes | None, addend: DirtyBytes | None) -> DirtyBytes | None:
    """Return the sum of both; None if both are None."""
    return addend if augend is None else augend.plus(addend)
