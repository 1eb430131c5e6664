"""The batches that each producer wrote, from the columns of many entries."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from magicbyte._transactions import LogPosition, TransactionData
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.tables.arrays import Mask


class ProducerBatches:
    """The entries of a run that have a producer id, grouped by it and in order within each group."""

    def __init__(self, entries: Entries, is_control: Mask) -> None:
        self._entries = entries
        self._ids = entries.column("producer_id")
        self._is_control = is_control
        if int(self._ids.max()) < 0:
            self._all = self._data = np.zeros(0, np.intp)
            return
        indices = np.flatnonzero(self._ids >= 0)
        self._all = indices[np.argsort(self._ids[indices], kind="stable")]
        self._data = self._all[~is_control[self._all]]

    def __len__(self) -> int:
        """Return the number of entries that have a producer id."""
        return len(self._all)

    def highest_epochs(self) -> Iterator[tuple[int, int]]:
        """Yield each producer with its highest epoch."""
        starts = _starts(self._ids[self._all])
        epochs = np.maximum.reduceat(self._entries.column("producer_epoch")[self._all], starts)
        return _rows(self._ids[self._all[starts]], epochs)

    def first_data(self) -> Iterator[tuple[int, int]]:
        """Yield each producer of data with the index of its first data batch."""
        firsts = self._data[_starts(self._ids[self._data])]
        return _rows(self._ids[firsts], firsts)

    def last_data(self) -> Iterator[tuple[int, int, int]]:
        """Yield each producer of data with the last offset and the epoch of its last data batch."""
        lasts = self._data[_ends(_starts(self._ids[self._data]), len(self._data))]
        column = self._entries.column
        return _rows(
            self._ids[lasts], column("last_offset")[lasts], column("producer_epoch")[lasts]
        )

    def transaction_data(self, segment_number: int) -> Iterator[tuple[int, TransactionData]]:
        """Yield data of transactions, divided by control batches, with the index of its first batch.

        *segment_number* is the number of the segment that holds the entries.
        """
        column = self._entries.column
        is_data = (column("is_transactional") != 0) & ~self._is_control
        if not is_data.any():
            return
        batches = self._all[(is_data | self._is_control)[self._all]]
        # A control batch belongs to the data before it.
        is_divided = _changes(self._ids[batches])
        is_divided[1:] |= self._is_control[batches[:-1]]
        groups = np.cumsum(is_divided)[is_data[batches]]
        batches = batches[is_data[batches]]
        starts = _starts(groups)
        firsts, lasts = batches[starts], batches[_ends(starts, len(batches))]
        rows = _rows(
            firsts,
            self._ids[firsts],
            column("producer_epoch")[lasts],
            column("first_offset")[firsts],
            column("last_offset")[lasts],
            column("base_timestamp")[firsts],
            np.add.reduceat(column("record_count")[batches], starts),
            np.add.reduceat(column("size_bytes")[batches], starts),
            column("position")[firsts],
            column("position")[lasts],
        )
        for index, *fields, first, last in rows:
            positions = [LogPosition(segment_number, first), LogPosition(segment_number, last)]
            yield index, TransactionData._make([*fields, *positions])


def _changes(values: Numbers) -> Mask:
    """Return which of *values* differ from the one before; the first one does."""
    are_changes = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=are_changes[1:])
    return are_changes


def _starts(values: Numbers) -> Numbers:
    """Return the indices at which runs of equal *values* begin."""
    return np.flatnonzero(_changes(values))


def _ends(starts: Numbers, length: int) -> Numbers:
    """Return the last index of each run that begins at *starts*, among *length* values."""
    ends = np.full(len(starts), length)
    ends[:-1] = starts[1:]
    return ends - 1


def _rows(*columns: Numbers) -> Iterator[Any]:
    """Return the values of *columns* as tuples of Python integers."""
    return zip(*(column.tolist() for column in columns), strict=True)
