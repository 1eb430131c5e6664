"""Log entries by the descriptors that kernels have written."""

from collections.abc import Iterator
from typing import overload

from magicbyte.engines.columnar.formats import EntryFormat, entries_of
from magicbyte.engines.columnar.thread_buffers import Descriptors
from magicbyte.engines.entry import Entry
from magicbyte.engines.entry_columns import Entries, Numbers
from magicbyte.tables.arrays import Indices


class DescriptorEntries(Entries):
    """Entries of one format, each a row of *desc*, whose positions are relative to *origin*."""

    def __init__(self, form: EntryFormat, desc: Descriptors, origin: int) -> None:
        self.format, self.desc, self.origin = form, desc, origin

    def __len__(self) -> int:
        return len(self.desc)

    @overload
    def __getitem__(self, at: int) -> Entry: ...
    @overload
    def __getitem__(self, at: slice) -> "DescriptorEntries": ...
    def __getitem__(self, at: int | slice) -> "Entry | DescriptorEntries":
        if isinstance(at, slice):
            return DescriptorEntries(self.format, self.desc[at], self.origin)
        number = range(len(self))[at]
        return entries_of(self.format, self.desc[number : number + 1], self.origin)[0]

    def __iter__(self) -> Iterator[Entry]:
        return iter(entries_of(self.format, self.desc, self.origin))

    def picked(self, numbers: Indices) -> "DescriptorEntries":
        return DescriptorEntries(self.format, self.desc[numbers], self.origin)

    def column(self, name: str) -> Numbers:
        return self.format.column(self.desc, name, self.origin)
