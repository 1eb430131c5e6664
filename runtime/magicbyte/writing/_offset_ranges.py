"""Offsets of erased records, as a certificate lists them."""

from collections.abc import Iterable
from typing import Any

MAX_RANGES = 10_000
"""Ranges of erased offsets that the certificate lists for a partition."""


class OffsetRanges:
    """Offsets of erased records, as ranges."""

    def __init__(self) -> None:
        self.count = 0
        self.ranges: list[list[int]] = []

    def add(self, erased_offsets: Iterable[int]) -> None:
        """Add *erased_offsets*, which rise."""
        for offset in erased_offsets:
            self.count += 1
            if self.ranges and self.ranges[-1][1] == offset:
                self.ranges[-1][1] = offset + 1
            else:
                self.ranges.append([offset, offset + 1])

    def as_row(self) -> dict[str, Any]:
        """Return the number of records, and the ranges: first offset, and the one after the last."""
        return {
            "records": self.count,
            "offset_ranges": self.ranges[:MAX_RANGES],
            "further_ranges": max(len(self.ranges) - MAX_RANGES, 0),
        }
