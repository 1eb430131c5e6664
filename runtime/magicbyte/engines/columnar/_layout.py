"""Layout of the buffers to which a kernel writes the requested columns."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from magicbyte.engines.columnar._c_data import StructTemplate
from magicbyte.engines.columnar._kernel_list import column_modes, description
from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import OFFSET_BYTES
from magicbyte_kernels.kernel_interface import LEN_VIEW, VIEWED, Description, KernelTable


class ColumnLayout:
    """Buffers of the chosen columns, and the counters of rows and bytes that determine their sizes.

    Attributes in the plural are arrays: an item for each buffer, or for each counter.
    """

    def __init__(self, kernels: Description, modes: tuple[int, ...], names: Sequence[str]) -> None:
        """*modes* are the modes of all columns of the kernels, as `column_modes` returns them; *names* are
        the columns of the Arrow batch, in order, with those that descriptors determine.
        """
        table, columns, viewed = kernels.TABLE, [], set()
        self.source_slots = []
        """State slots for the address of the buffer that views refer to."""
        for column, mode in zip(table.columns, modes, strict=True):
            if mode:
                columns.append(column)
            if mode == VIEWED:
                viewed.add(column.slots["offsets"])
                self.source_slots.append(column.slots["bytes"])
        self.kernels = kernels
        self._empty_state = np.zeros(kernels.STATE, np.int64)
        self._empty_state[list(kernels.MODES)] = modes
        self.table = KernelTable(tuple(columns), table.rows, table.capacity)
        self.viewed = frozenset(viewed)
        """Slots `offsets` of the columns that are views."""
        buffer_parts: list[tuple[int, int, int, int, int]] = []
        counters: list[tuple[int, int]] = []
        members: list[int] = []
        _add(self.table, kernels.SLACK, self.viewed, buffer_parts, counters, members)
        self.slots, self.counters, self.widths, self.fixed_sizes, self.fixed_kept = _by_column(
            buffer_parts, 5
        )
        """Per buffer: state slot of its address, counter it scales with, bytes per count, fixed bytes, fixed
        bytes to preserve on growth."""
        self.used_slots, self.capacity_slots = _by_column(counters, 2)
        """Per counter: state slots of its value and of its capacity."""
        self.part_at = {slot: number for number, slot in enumerate(self.slots.tolist())}
        numbers = np.arange(len(counters))
        self.is_row: Numbers = (numbers == 0).astype(np.int64)
        self.is_member: Numbers = np.isin(numbers, members).astype(np.int64)
        self.is_byte: Numbers = 1 - self.is_row - self.is_member
        by_name = {column.name: column for column in columns}
        in_descriptors = {"position", *(column.name for column in kernels.ENTRY_COLUMNS)}
        batch = {name: by_name.get(name) for name in names if name not in in_descriptors}
        self.template = StructTemplate(self.table, batch, self.viewed) if batch else None
        """Arrow's structs of the columns of records; None where all columns are of entries."""

    def empty_state(self) -> Numbers:
        """Return a kernel state with neither memory nor rows."""
        return self._empty_state.copy()

    def sizes(self, capacities: Numbers) -> Numbers:
        """Return the bytes of each buffer for the *capacities* of the counters."""
        sizes: Numbers = capacities[self.counters] * self.widths + self.fixed_sizes
        return sizes

    def num_kept(self, used: Numbers) -> Numbers:
        """Return the bytes in use at the beginning of each buffer, for the values *used* of the counters."""
        num_kept: Numbers = used[self.counters] * self.widths + self.fixed_kept
        return num_kept


def _add(
    kernel_table: KernelTable,
    slack: int,
    viewed: frozenset[int],
    buffer_parts: list[tuple[int, int, int, int, int]],
    counters: list[tuple[int, int]],
    members: list[int],
) -> None:
    """Add the buffers and counters of *kernel_table*, and of the lists in it."""
    rows = len(counters)
    counters.append((kernel_table.rows, kernel_table.capacity))
    for column in kernel_table.columns:
        slots = column.slots
        is_viewed = slots.get("offsets") in viewed
        if column.width:
            buffer_parts.append((slots["data"], rows, column.width, 0, 0))
        elif is_viewed:
            buffer_parts.append((slots["offsets"], rows, LEN_VIEW, 0, 0))
        else:
            buffer_parts.append((slots["offsets"], rows, OFFSET_BYTES, OFFSET_BYTES, OFFSET_BYTES))
        if column.is_nullable:
            buffer_parts.append((slots["valid"], rows, 1, 0, 0))
        if "bytes" in slots and not is_viewed:
            buffer_parts.append((slots["bytes"], len(counters), 1, slack, 0))
            counters.append((slots["used"], slots["capacity"]))
        if column.members is not None:
            members.append(len(counters))
            _add(column.members, slack, viewed, buffer_parts, counters, members)


def _by_column(rows: Sequence[tuple[int, ...]], width: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return *rows* of *width* numbers as an array for each column."""
    return np.array(rows, np.int64).reshape(-1, width).T


@cache
def column_layout(name: str, columns: tuple[str, ...], views: bool) -> ColumnLayout:
    """Return the layout of *columns* for the kernels of the format *name*."""
    return ColumnLayout(description(name), column_modes(name, columns, views), columns)
