"""What memory the wanted columns of a kernel take, and where its state says so."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from magicbyte.engines.columnar.c_data import Form
from magicbyte.engines.columnar.kernel_loader import described, wanted
from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import OFFSET_BYTES
from magicbyte_kernels.kernel_interface import LEN_VIEW, VIEWED, Description, KernelTable


class Layout:
    """Parts of memory, and the counts that they grow with: of rows, and of bytes.

    Names in the plural are arrays: of all parts, or of all counts.
    """

    def __init__(self, of: Description, chosen: tuple[int, ...], names: Sequence[str]) -> None:
        """*chosen* says how each column of the kernels is wanted, and *names* are of those that
        batches are to have, in their order: there may be others among them."""
        whole, columns, viewed = of.TABLE, [], set()
        self.sources = []
        """The slots for the address of what views are of."""
        for column, how in zip(whole.columns, chosen, strict=True):
            if how:
                columns.append(column)
            if how == VIEWED:
                viewed.add(column.slots["offsets"])
                self.sources.append(column.slots["bytes"])
        self.kernels = of
        self.table = KernelTable(tuple(columns), whole.rows, whole.capacity)
        self.viewed = frozenset(viewed)
        """The slots of `offsets` that are of views."""
        parts: list[tuple[int, int, int, int, int]] = []
        counts: list[tuple[int, int]] = []
        members: list[int] = []
        _add(self.table, of.SLACK, self.viewed, parts, counts, members)
        self.slots, self.count_of, self.widths, self.more, self.kept = _table(parts, 5)
        """Of each part: the slot with its address, what it grows with, the bytes for each of that
        and for none, and how many of the latter are to be kept."""
        self.used, self.room = _table(counts, 2)
        """Of each count: the slots that say how many there are, and how many there is room for."""
        self.part_at = {slot: number for number, slot in enumerate(self.slots.tolist())}
        numbers = np.arange(len(counts))
        self.is_row: Numbers = (numbers == 0).astype(np.int64)
        self.is_member: Numbers = np.isin(numbers, members).astype(np.int64)
        self.is_byte: Numbers = 1 - self.is_row - self.is_member
        by_name = {column.name: column for column in columns}
        others = {"position", *(column.name for column in of.ENTRY_COLUMNS)}
        made = {name: by_name.get(name) for name in names if name not in others}
        self.form = Form(self.table, made, self.viewed) if made else None
        """What Arrow is told of those, but for what descriptors say; None where that is all."""

    def state(self) -> Numbers:
        """Return a state of the kernel that has neither memory nor rows."""
        return np.zeros(self.kernels.STATE, np.int64)

    def sizes(self, room: Numbers) -> Numbers:
        """Return the bytes of each part, with *room* for so many of each count."""
        sizes: Numbers = room[self.count_of] * self.widths + self.more
        return sizes

    def num_kept(self, used: Numbers) -> Numbers:
        """Return the bytes at the beginning of each part that are in use."""
        kept: Numbers = used[self.count_of] * self.widths + self.kept
        return kept


def _add(
    table: KernelTable,
    slack: int,
    viewed: frozenset[int],
    parts: list[tuple[int, int, int, int, int]],
    counts: list[tuple[int, int]],
    members: list[int],
) -> None:
    rows = len(counts)
    counts.append((table.rows, table.capacity))
    for column in table.columns:
        slots = column.slots
        is_viewed = slots.get("offsets") in viewed
        if column.width:
            parts.append((slots["data"], rows, column.width, 0, 0))
        elif is_viewed:
            parts.append((slots["offsets"], rows, LEN_VIEW, 0, 0))
        else:
            parts.append((slots["offsets"], rows, OFFSET_BYTES, OFFSET_BYTES, OFFSET_BYTES))
        if column.is_nullable:
            parts.append((slots["valid"], rows, 1, 0, 0))
        if "bytes" in slots and not is_viewed:
            parts.append((slots["bytes"], len(counts), 1, slack, 0))
            counts.append((slots["used"], slots["capacity"]))
        if column.members is not None:
            members.append(len(counts))
            _add(column.members, slack, viewed, parts, counts, members)


def _table(rows: Sequence[tuple[int, ...]], width: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return *rows* of *width* numbers by column."""
    return np.array(rows, np.int64).reshape(-1, width).T


@cache
def layout(name: str, columns: tuple[str, ...], views: bool) -> Layout:
    """Return the layout of *columns*, as far as the kernels of the format *name* make them."""
    return Layout(described(name), wanted(name, columns, views), columns)
