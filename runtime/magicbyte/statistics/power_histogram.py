"""A histogram of numbers by power of two, in memory that does not depend on their count."""

from typing import Any, Self

import numpy as np

from magicbyte.engines.entry_columns import Numbers

NUM_CLASSES = 65
"""Number of classes: zero, and each power of two below 2**64."""


class PowerHistogram:
    """Counts and sums of numbers >= 0 in classes: 0, 1, 2 to 3, 4 to 7, 8 to 15, and so on."""

    def __init__(self) -> None:
        self._counts = np.zeros(NUM_CLASSES, np.int64)
        self._sums = np.zeros(NUM_CLASSES, np.int64)
        self.least: int | None = None
        self.largest: int | None = None

    def count(self, values: Numbers) -> None:
        """Add *values*, integers of at least 0, to their classes."""
        if not len(values):
            return
        _, exponents = np.frexp(values)  # 0 for 0, 1 for 1, 2 for 2 and 3, 3 for 4 to 7
        self._counts += np.bincount(exponents, minlength=NUM_CLASSES)
        self._sums += np.bincount(exponents, values, NUM_CLASSES).astype(np.int64)
        self._extend(int(values.min()), int(values.max()))

    def add(self, other: Self) -> None:
        """Add the numbers of *other*."""
        self._counts += other._counts
        self._sums += other._sums
        if other.least is not None and other.largest is not None:
            self._extend(other.least, other.largest)

    def rows(self, *, with_gaps: bool = False) -> list[dict[str, Any]]:
        """Return a row per non-empty class, smallest first; *with_gaps* adds empty ones between."""
        numbers = np.flatnonzero(self._counts).tolist()
        if with_gaps and numbers:
            numbers = list(range(numbers[0], numbers[-1] + 1))
        return [
            {
                "at_least": 1 << (number - 1) if number else 0,
                "entry_count": int(self._counts[number]),
                "sum": int(self._sums[number]),
            }
            for number in numbers
        ]

    def _extend(self, least: int, largest: int) -> None:
        self.least = least if self.least is None else min(self.least, least)
        self.largest = largest if self.largest is None else max(self.largest, largest)
