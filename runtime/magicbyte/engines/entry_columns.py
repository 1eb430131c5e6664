"""Headers of many entries: an Entry each when asked for, and columns for who looks at all."""

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from magicbyte.engines.entry import Entry
from magicbyte.tables.arrays import Indices

Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]

NO_VALUE = -(1 << 63)
"""What stands in a column for a field that is None. As a size, a place or a count it cannot occur."""


class Entries(Sequence[Entry]):
    """Entries in their order; a slice of them is some more."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, at: int) -> Entry: ...
    @overload
    def __getitem__(self, at: slice) -> "Entries": ...
    def __getitem__(self, at: int | slice) -> "Entry | Entries":
        return Entries(self._entries[at]) if isinstance(at, slice) else self._entries[at]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def picked(self, numbers: Indices) -> "Entries":
        """Return those with these *numbers*: an Entry of each costs less than one by one."""
        return Entries([self._entries[number] for number in numbers.tolist()])

    def column(self, name: str) -> Numbers:
        """Return a field of each, or its `first_offset`; NO_VALUE where that is None."""
        values = (getattr(entry, name) for entry in self._entries)
        told = (NO_VALUE if value is None else value for value in values)
        return np.fromiter(told, np.int64, len(self))
