"""Finds segments that time-based retention keeps too long, and the record whose time is the cause.

A broker deletes the oldest segments first, and stops at the first whose largest timestamp is not
old enough (UnifiedLog.deleteRetentionMsBreachedSegments). So a timestamp in the future keeps its
segment and all later ones. For a segment without timestamps a broker takes the modification time
of the file (LogSegment.largestTimestamp); a copy may have changed it, so it is not used here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LatestEntry:
    """The first batch or message with the largest timestamp."""

    timestamp: int
    """Milliseconds since the Unix epoch, 0 or more."""
    file: str
    """Name of the segment, in the partition's folder."""
    position: int
    offset: int
    """First record with that timestamp; the last offset if no record has it or none was read."""


@dataclass(frozen=True, slots=True)
class Retention:
    """The time that a segment is kept beyond its own timestamps, and the cause."""

    ms: int
    bytes: int
    """Size of all segments that the same entry keeps for longer."""
    by: LatestEntry


def later(left: LatestEntry | None, right: LatestEntry | None) -> LatestEntry | None:
    """Return the entry with the larger timestamp; *left* if they are equal."""
    if left is None or (right is not None and right.timestamp > left.timestamp):
        return right
    return left


def longest(left: Retention | None, right: Retention | None) -> Retention | None:
    """Return the longer retention; *left* if they are equal."""
    return right if left is None or (right is not None and right.ms > left.ms) else left


def retentions(segments: Sequence[tuple[LatestEntry | None, int]]) -> list[Retention | None]:
    """Return the retention of each of *segments*, which come in order with their sizes in bytes.

    None for a segment without timestamps.
    """
    holders: list[tuple[LatestEntry, int] | None] = []
    num_bytes: Counter[LatestEntry] = Counter()
    holder: LatestEntry | None = None
    for latest, size_bytes in segments:
        holder = later(holder, latest)
        if latest is None or holder is None:
            holders.append(None)
            continue
        ms = holder.timestamp - latest.timestamp
        holders.append((holder, ms))
        if ms:
            num_bytes[holder] += size_bytes
    return [
        None if held is None else Retention(held[1], num_bytes[held[0]], held[0])
        for held in holders
    ]
