"""Entries that a kernel has described."""

from collections.abc import Iterator
from typing import overload

from magicbyte.engines.columnar.formats import Format, entries
from magicbyte.engines.columnar.thread_buffers import Numbers as Descriptors
from magicbyte.engines.entry import Entry
from magicbyte.engines.entry_columns import Entries, Numbers
from magicbyte.tables.arrays import Indices


class DescriptorEntries(Entries):
    """Entries of one format in the bytes at *address*, which is byte *origin* of the file.

    *desc* holds a descriptor of each; its positions count from *address*.
    """

    def __init__(self, chosen: Format, desc: Descriptors, address: int, origin: int) -> None:
        self.format, self.desc, self.address, self.origin = chosen, desc, address, origin

    def __len__(self) -> int:
        return len(self.desc)

    @overload
    def __getitem__(self, entry_index: int) -> Entry: ...
    @overload
    def __getitem__(self, entry_index: slice) -> "DescriptorEntries": ...
    def __getitem__(self, entry_index: int | slice) -> "Entry | DescriptorEntries":
        if isinstance(entry_index, slice):
            return DescriptorEntries(self.format, self.desc[entry_index], self.address, self.origin)
        number = range(len(self))[entry_index]
        return entries(self.format, self.desc[number : number + 1], self.origin)[0]

    def __iter__(self) -> Iterator[Entry]:
        return iter(entries(self.format, self.desc, self.origin))

    def picked(self, numbers: Indices) -> "DescriptorEntries":
        return DescriptorEntries(self.format, self.desc[numbers], self.address, self.origin)

    def column(self, name: str) -> Numbers:
        return self.format.column(self.desc, name, self.origin)
