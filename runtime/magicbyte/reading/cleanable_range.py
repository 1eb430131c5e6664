"""The segments of a partition that the log cleaner may clean (LogCleanerManager.cleanableOffsets)."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CleanableRange:
    """The first dirty offset of a partition, and the segments that may be cleaned, by number."""

    first_dirty_offset: int
    first_dirty_segment: int
    """Number of the segment that contains the first dirty offset."""
    end_segment: int
    """Number of the first segment that may not be cleaned: the active one, or an earlier one."""

    @property
    def is_dirty(self) -> bool:
        """True if a segment may be cleaned that has dirty offsets."""
        return self.first_dirty_segment < self.end_segment


def cleanable_range(
    bases: Sequence[int],
    *,
    checkpoint: int | None,
    log_start_offset: int,
    log_end_offset: int | None,
    first_uncleanable_offset: int | None,
) -> CleanableRange:
    """Return what may be cleaned of the segments with the base offsets *bases*.

    Args:
        bases: Base offsets of the segments; the last one is the active segment.
        checkpoint: First dirty offset by `cleaner-offset-checkpoint`; None if it does not list the partition.
        first_uncleanable_offset: The last stable offset, or the offset of a segment that is too young;
            None: only the active segment may not be cleaned.
    """
    start, first = log_start_offset, checkpoint
    # The broker begins again at the log start if the checkpoint is outside of the log.
    if (
        first is None
        or first < start
        or (log_end_offset is not None and first > max(log_end_offset, start))
    ):
        first = start
    active = len(bases) - 1
    end = active
    if first_uncleanable_offset is not None:
        # A segment is cleaned as a whole, or not at all.
        limit = max(first, first_uncleanable_offset)
        if limit <= bases[active]:
            end = max(bisect_right(bases, limit) - 1, 0)
    first_segment = max(bisect_right(bases, min(first, bases[end])) - 1, 0)
    return CleanableRange(first, first_segment, end)
