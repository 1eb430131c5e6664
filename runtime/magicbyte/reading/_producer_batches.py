"""The batches that each producer wrote, from the columns of many entries."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.tables.arrays import Indices, Mask


class ProducerBatches:
    """The entries of a run that have a producer id, grouped by it and in order within each group."""

    def __init__(self, entries: Entries, is_control: Mask) -> None:
        self.entries = entries
        self._ids = entries.column("producer_id")
        self.is_control = is_control
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
        epochs = np.maximum.reduceat(self.entries.column("producer_epoch")[self._all], starts)
        return _rows(self._ids[self._all[starts]], epochs)

    def first_data(self) -> Iterator[tuple[int, int]]:
        """Yield each producer of data with the index of its first data batch."""
        firsts = self._data[_starts(self._ids[self._data])]
        return _rows(self._ids[firsts], firsts)

    def last_data(self) -> Iterator[tuple[int, int, int]]:
        """Yield each producer of data with the last offset and the epoch of its last data batch."""
        lasts = self._data[_ends(_starts(self._ids[self._data]), len(self._data))]
        column = self.entries.column
        return _rows(
            self._ids[lasts], column("last_offset")[lasts], column("producer_epoch")[lasts]
        )

    def transaction_parts(self, is_end: Mask) -> "TransactionParts":
        """Return the parts of transactions, which the control batches of *is_end* end."""
        column = self.entries.column
        is_data = (column("is_transactional") != 0) & ~self.is_control
        events = self._all[(is_data | is_end)[self._all]]
        ids, ends_part = self._ids[events], is_end[events]
        begins_part = _changes(ids)
        begins_part[1:] |= ends_part[:-1]
        starts = np.flatnonzero(begins_part)
        stops = _ends(starts, len(events))
        has_end = ends_part[stops]
        return TransactionParts(
            entries=self.entries,
            producer_ids=ids[starts],
            is_first=_changes(ids[starts]),
            has_data=~has_end | (stops > starts),
            first_batch=events[starts],
            last_batch=events[np.maximum(stops - has_end, starts)],
            end_control=np.where(has_end, events[stops], len(self.entries)),
            is_data=is_data[events],
            events=events,
            first_events=starts,
        )


@dataclass(frozen=True)
class TransactionParts:
    """Parts of transactions in a run of entries, as columns by producer, and by position within each.

    A part is a producer's data up to the control batch that ends it, or to the run's end. Without data it
    is that control batch alone.
    """

    entries: Entries
    """The entries of the run."""
    producer_ids: Numbers
    is_first: Mask
    """True for the first part of its producer in the run."""
    has_data: Mask
    first_batch: Indices
    """Index in the run of the first data batch, if there is one."""
    last_batch: Indices
    """Index of the last data batch, if there is one."""
    end_control: Indices
    """Index of the control batch that ends the part; the number of entries if the run's end does."""
    is_data: Mask
    events: Indices
    first_events: Indices

    def __len__(self) -> int:
        return len(self.producer_ids)

    @cached_property
    def record_counts(self) -> Numbers:
        """Records of the data batches of each part."""
        return self._sums("record_count")

    @cached_property
    def sizes(self) -> Numbers:
        """Bytes of the data batches of each part."""
        return self._sums("size_bytes")

    def _sums(self, name: str) -> Numbers:
        numbers = np.where(self.is_data, self.entries.column(name)[self.events], 0)
        sums: Numbers = np.add.reduceat(numbers, self.first_events)
        return sums


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
