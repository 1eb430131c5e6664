"""A sequence of log entries that also gives a header field of all of them as a NumPy array."""

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from magicbyte.engines.entry import Entry
from magicbyte.tables.arrays import Indices

Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]

NO_VALUE = -(1 << 63)
"""Column value for a field that is None. No size, position or count has this value."""


class Entries(Sequence[Entry]):
    """Log entries in order. A slice is an Entries, too."""

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, entry_index: int) -> Entry: ...
    @overload
    def __getitem__(self, entry_index: slice) -> "Entries": ...
    def __getitem__(self, entry_index: int | slice) -> "Entry | Entries":
        return (
            Entries(self._entries[entry_index])
            if isinstance(entry_index, slice)
            else self._entries[entry_index]
        )

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    @property
    def are_messages(self) -> bool:
        """True if none of the entries is a v2 batch."""
        return all(entry.magic < 2 for entry in self._entries)

    def picked(self, numbers: Indices) -> "Entries":
        """Return the entries at the indices *numbers*; faster than indexing one entry at a time."""
        return Entries([self._entries[number] for number in numbers.tolist()])

    def moved(self, positions: Numbers) -> "Entries":
        """Return the entries at other *positions* of the file."""
        return Entries(
            [
                entry._replace(position=position)
                for entry, position in zip(self._entries, positions.tolist(), strict=True)
            ]
        )

    def followed_by(self, following: Sequence["Entries"]) -> "Entries":
        """Return these entries, followed by the entries of all *following*."""
        return Entries([entry for entries in (self, *following) for entry in entries])

    def column(self, name: str) -> Numbers:
        """Return the field *name*, or `first_offset`, of each entry; NO_VALUE where that is None."""
        values = (getattr(entry, name) for entry in self._entries)
        numbers = (NO_VALUE if value is None else value for value in values)
        return np.fromiter(numbers, np.int64, len(self))
