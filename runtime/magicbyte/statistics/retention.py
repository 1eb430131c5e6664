"""Which record keeps segments that retention by time would delete.

A broker deletes segments from the oldest on, and stops at the first whose largest time is not old
enough (UnifiedLog.deleteRetentionMsBreachedSegments). So a time far ahead keeps its own segment and
all behind it, however old these are. A segment in which no entry has a time goes by when its file
was last modified (LogSegment.largestTimestamp): what a copy may have changed, and nothing here tells.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Largest:
    """The first entry with the largest time of some."""

    timestamp: int
    """Milliseconds since the Unix epoch, 0 or more."""
    file: str
    """The name of the segment, in its partition's folder."""
    position: int
    offset: int
    """The first record of that time in the entry; its last offset where none is, or none was read."""


@dataclass(frozen=True, slots=True)
class Held:
    """How long a segment is kept beyond its own times, and by what."""

    ms: int
    bytes: int
    """Of all segments that the same record keeps for longer."""
    by: Largest


def later(one: Largest | None, other: Largest | None) -> Largest | None:
    """Return the one of the larger time, by default the first."""
    if one is None or (other is not None and other.timestamp > one.timestamp):
        return other
    return one


def longest(one: Held | None, other: Held | None) -> Held | None:
    """Return the one that is held for longer, by default the first."""
    return other if one is None or (other is not None and other.ms > one.ms) else one


def retentions(segments: Sequence[tuple[Largest | None, int]]) -> list[Held | None]:
    """Return how long each of *segments* is held; they come in order, with their sizes in bytes.

    None for one that has no times.
    """
    holders: list[tuple[Largest, int] | None] = []
    kept: Counter[Largest] = Counter()
    holder: Largest | None = None
    for largest, size_bytes in segments:
        holder = later(holder, largest)
        if largest is None or holder is None:
            holders.append(None)
            continue
        ms = holder.timestamp - largest.timestamp
        holders.append((holder, ms))
        if ms:
            kept[holder] += size_bytes
    return [None if one is None else Held(one[1], kept[one[0]], one[0]) for one in holders]
