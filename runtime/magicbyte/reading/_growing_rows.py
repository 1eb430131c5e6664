"""A structured array that grows in place, for one row per transaction or marker of a partition."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from magicbyte.tables.arrays import StructuredRows

MIN_ROWS = 1 << 12

BLOCK_ROWS = 1 << 16
"""Rows that are compared together: temporary arrays of all would take as much memory as the rows."""


class GrowingRows:
    """A structured array that rows are added to."""

    def __init__(self, dtype: "np.dtype[Any]") -> None:
        self._rows: StructuredRows = np.zeros(0, dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def rows(self) -> StructuredRows:
        """The rows so far, without a copy."""
        return self._rows[: self._length]

    def add(self, count: int) -> StructuredRows:
        """Add *count* rows; return them, with 0 in all columns."""
        begin, self._length = self._length, self._length + count
        if self._length > len(self._rows):
            capacity = max(self._length, len(self._rows) * 17 // 16, MIN_ROWS)
            try:
                self._rows.resize(capacity)  # in place: a copy would take as much memory again
            except ValueError:  # there is a view of the rows
                larger: StructuredRows = np.zeros(capacity, self._rows.dtype)
                larger[:begin] = self._rows[:begin]
                self._rows = larger
        return self._rows[begin : self._length]


def blocks(length: int) -> Iterator[slice]:
    """Yield slices of BLOCK_ROWS, at most, that together cover *length* rows."""
    for begin in range(0, length, BLOCK_ROWS):
        yield slice(begin, min(begin + BLOCK_ROWS, length))
