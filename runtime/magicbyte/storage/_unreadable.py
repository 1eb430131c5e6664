"""Ranges of files that the system or a store does not deliver, and the findings about them."""

import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from magicbyte.errors import MissingError, StoreError, UnreadableError
from magicbyte.findings import Finding


@dataclass(frozen=True, slots=True)
class UnreadableRange:
    """Bytes of a file that cannot be read, and why."""

    start: int
    end: int
    reason: str


class UnreadableBytes:
    """The known ranges of the file *path* that cannot be read, which do not overlap."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.ranges: list[UnreadableRange] = []
        """Unreadable ranges, sorted by position."""
        self._starts: list[int] = []

    def add(self, start: int, end: int, reason: str) -> None:
        """Add the parts of [start, end) that are in no range yet.

        A range that touches another one with the same reason is joined with it.
        """
        for gap_start, gap_end in list(self.gaps(start, end)):
            self._insert(gap_start, gap_end, reason)

    def _insert(self, start: int, end: int, reason: str) -> None:
        index = bisect_left(self._starts, start)
        before, after = self.ranges[max(index - 1, 0) : index], self.ranges[index : index + 1]
        first, last = index, index
        if before and before[0].end == start and before[0].reason == reason:
            first, start = index - 1, before[0].start
        if after and after[0].start == end and after[0].reason == reason:
            last, end = index + 1, after[0].end
        self.ranges[first:last] = [UnreadableRange(start, end, reason)]
        self._starts[first:last] = [start]

    def between(self, start: int, end: int) -> list[UnreadableRange]:
        """Return the parts of the ranges that are in [start, end)."""
        parts = []
        for number in range(max(bisect_right(self._starts, start) - 1, 0), len(self.ranges)):
            each = self.ranges[number]
            if each.start >= end:
                break
            if each.end > start:
                part = UnreadableRange(max(start, each.start), min(end, each.end), each.reason)
                parts.append(part)
        return parts

    def gaps(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of [start, end) that are in no range."""
        for part in self.between(start, end):
            if start < part.start:
                yield start, part.start
            start = part.end
        if start < end:
            yield start, end

    def finding(self, part: UnreadableRange) -> Finding:
        """Return the finding about *part* of a range."""
        return _finding(self.path, part.reason, part.start, part.end - part.start)


def unreadable_error(
    path: str, error: OSError, *, position: int | None = None, length: int | None = None
) -> UnreadableError:
    """Return the error that the file or folder *path*, or a range of it, cannot be read."""
    if isinstance(error, UnreadableError):
        return error
    return UnreadableError(_finding(path, reason_of(error), position, length), errno=error.errno)


def reason_of(error: OSError) -> str:
    """Return in the system's or the store's words why something cannot be read."""
    if isinstance(error, UnreadableError):
        return error.finding.found or error.found
    if isinstance(error, (MissingError, StoreError)):
        return error.found
    return os.strerror(error.errno) if error.errno else str(error)


def _finding(path: str, reason: str, position: int | None, length: int | None) -> Finding:
    subject = path if length is None else f"{length} bytes of {path}"
    return Finding(
        code="unreadable",
        message=f"{subject} cannot be read: {reason}",
        file=path.rpartition("/")[2],
        position=position,
        length=length,
        found=reason,
    )
