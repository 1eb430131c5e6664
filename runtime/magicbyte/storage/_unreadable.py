"""Ranges of files that the system or a store does not deliver, and the findings about them."""

import os
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
    """The known ranges of the file *path* that cannot be read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.ranges: list[UnreadableRange] = []
        """In order of position."""

    def add(self, start: int, end: int, reason: str) -> None:
        """Add a range. A range that touches it and has the same reason is joined with it."""
        separate = []
        for other in self.ranges:
            if other.reason == reason and other.start <= end and start <= other.end:
                start, end = min(start, other.start), max(end, other.end)
            else:
                separate.append(other)
        separate.append(UnreadableRange(start, end, reason))
        self.ranges = sorted(separate, key=lambda each: each.start)

    def between(self, start: int, end: int) -> list[UnreadableRange]:
        """Return the parts of the ranges that are in [start, end)."""
        return [
            UnreadableRange(max(start, each.start), min(end, each.end), each.reason)
            for each in self.ranges
            if each.start < end and start < each.end
        ]

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
