"""What producers wrote, taken from the columns of many entries."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.tables.arrays import Mask
from magicbyte.transactions import Batches, Place


class Producers:
    """Those of *entries* that producers wrote, each one's in their order."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries
        self._ids = entries.column("producer_id")
        self._is_control: Mask = entries.column("is_control") != 0
        numbers = np.flatnonzero(self._ids >= 0)
        if not len(numbers):
            self._all = self._data = numbers
            return
        self._all = numbers[np.argsort(self._ids[numbers], kind="stable")]
        self._data = self._all[~self._is_control[self._all]]

    def __len__(self) -> int:
        """Return how many entries that are."""
        return len(self._all)

    def highest_epochs(self) -> Iterator[tuple[int, int]]:
        """Yield each producer with its highest epoch."""
        starts = _starts(self._ids[self._all])
        epochs = np.maximum.reduceat(self._entries.column("producer_epoch")[self._all], starts)
        return _rows(self._ids[self._all[starts]], epochs)

    def first_data(self) -> Iterator[tuple[int, int]]:
        """Yield each producer of data with the number of its first entry of it."""
        firsts = self._data[_starts(self._ids[self._data])]
        return _rows(self._ids[firsts], firsts)

    def last_data(self) -> Iterator[tuple[int, int, int]]:
        """Yield each producer of data with the last offset and the epoch of its last entry of it."""
        lasts = self._data[_ends(_starts(self._ids[self._data]), len(self._data))]
        column = self._entries.column
        return _rows(
            self._ids[lasts], column("last_offset")[lasts], column("producer_epoch")[lasts]
        )

    def batches(self, segment: int) -> Iterator[tuple[int, Batches]]:
        """Yield what no control batch of its producer divides, with the number of its first entry.

        *segment* is the number of the segment that holds all.
        """
        column = self._entries.column
        is_data = (column("is_transactional") != 0) & ~self._is_control
        if not is_data.any():
            return
        found = self._all[(is_data | self._is_control)[self._all]]
        # A control batch counts with what comes before it.
        is_divided = _changes(self._ids[found])
        is_divided[1:] |= self._is_control[found[:-1]]
        parts = np.cumsum(is_divided)[is_data[found]]
        found = found[is_data[found]]
        starts = _starts(parts)
        firsts, lasts = found[starts], found[_ends(starts, len(found))]
        rows = _rows(
            firsts,
            self._ids[firsts],
            column("producer_epoch")[lasts],
            column("first_offset")[firsts],
            column("last_offset")[lasts],
            column("base_timestamp")[firsts],
            np.add.reduceat(column("record_count")[found], starts),
            np.add.reduceat(column("size_bytes")[found], starts),
            column("position")[firsts],
            column("position")[lasts],
        )
        for number, *told, first, last in rows:
            yield number, Batches._make([*told, Place(segment, first), Place(segment, last)])


def _changes(values: Numbers) -> Mask:
    """Return which of *values* differ from the one before, as the first does."""
    are_changes = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=are_changes[1:])
    return are_changes


def _starts(values: Numbers) -> Numbers:
    """Return where runs of equal *values* begin."""
    return np.flatnonzero(_changes(values))


def _ends(starts: Numbers, length: int) -> Numbers:
    """Return where runs that begin at *starts* have their last one, in as many as *length*."""
    ends = np.full(len(starts), length)
    ends[:-1] = starts[1:]
    return ends - 1


def _rows(*columns: Numbers) -> Iterator[Any]:
    """Return the columns' values in tuples, as plain numbers."""
    return zip(*(column.tolist() for column in columns), strict=True)
