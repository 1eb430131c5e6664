"""The segments that a round of the cleaner joins into one (Cleaner.groupSegmentsBySize)."""

from collections.abc import Sequence
from dataclasses import dataclass

MAX_OFFSET_RANGE = (1 << 31) - 1
"""Offsets in a segment's index are relative to its base offset, in 32 bits."""


@dataclass(frozen=True, slots=True)
class SegmentSize:
    """A segment's base offset and bytes."""

    base_offset: int
    size_bytes: int


def group_segments(
    segments: Sequence[SegmentSize], *, segment_bytes: int, upper_bound: int
) -> list[list[int]]:
    """Return the indices of *segments* in groups; each group becomes one segment.

    Kafka also limits the sizes of the indexes (`segment.index.bytes`, 10 MiB). An index of 1 GiB takes about 2 MiB,
    so that limit is not applied here.
    """
    segment_groups: list[list[int]] = []
    group_bytes = 0
    for index, segment in enumerate(segments):
        following = segments[index + 1].base_offset if index + 1 < len(segments) else upper_bound
        if segment_groups:
            first = segments[segment_groups[-1][0]].base_offset
            is_near = segment.size_bytes == 0 or following - 1 - first <= MAX_OFFSET_RANGE
            if is_near and group_bytes + segment.size_bytes <= segment_bytes:
                segment_groups[-1].append(index)
                group_bytes += segment.size_bytes
                continue
        segment_groups.append([index])
        group_bytes = segment.size_bytes
    return segment_groups
