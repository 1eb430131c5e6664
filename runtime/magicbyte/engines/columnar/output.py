"""The columns that a kernel writes: their memory, and the Arrow arrays that are made of it."""

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar.buffers import POOL, Bytes, Loan, address
from magicbyte.engines.columnar.layout import Layout
from magicbyte.engines.columnar.scratch import learnt
from magicbyte.engines.entries import Numbers
from magicbyte.tables.arrays import bits, words
from magicbyte.tables.constants import LEN_OFFSET, no_elements
from magicbyte.text import decode_utf8
from magicbyte_formats.columnar import LEN_VIEW, Column, Table

LEAST_ROOM = 64
"""Rows or bytes that there is always room for: kernels write where a column ends."""

MOST_BYTES = (1 << 31) - 1
"""What the offsets of Arrow's binary columns can reach."""


class Output:
    """The wanted columns of rows in the making, and the state of the kernel that makes them."""

    def __init__(self, layout: Layout, source: memoryview) -> None:
        """*source* is what the entries lie in, where there are columns of views into it."""
        self.layout, self.table, self.source = layout, layout.table, source
        self.state = np.zeros(layout.kernels.STATE, np.int64)
        begin = address(np.frombuffer(source, np.uint8)) if layout.viewed else 0
        for column in self.table.columns:
            if column.slots.get("offsets") in layout.viewed:
                self.state[column.slots["bytes"]] = begin
        self._memory = POOL.take(layout, len(layout.slots))
        self._expected: Numbers | None = learnt().get(self.layout)
        self._largest = 0
        if self._memory.room is None:
            self.make_room(0, 0, 0)
        else:
            self.state[layout.slots], self.state[layout.room] = (
                self._memory.addresses,
                self._memory.room,
            )

    @property
    def num_rows(self) -> int:
        return int(self.state[self.table.rows])

    # Room

    def make_room(self, num_rows: int, num_bytes: int, largest: int) -> None:
        """Make room for *num_rows* more, of *num_bytes* in all, and *largest* in one entry.

        What they come to in each column can only be told by reading: where it is known of others
        like them, there is room for as much. A kernel that needs more stops and gets `more_room`.
        So there need be none made beforehand.
        """
        self.had(largest)
        more = num_bytes if self._expected is None else largest
        self._grow(self.layout.is_row * num_rows + self.layout.is_byte * more)

    def had(self, largest: int) -> None:
        """Note the bytes of the *largest* of some entries: so much room the last one takes."""
        self._largest = max(self._largest, largest)

    def more_room(self, num_rows: int, num_bytes: int) -> bool:
        """Make room for an entry that a kernel had no room for; return whether that was possible.

        It may take several calls: an element of a list has a byte at least, but most have more.
        """
        layout, before = self.layout, self.state[self.layout.room]
        members = np.minimum(2 * before, num_bytes)
        more = layout.is_row * num_rows + layout.is_byte * num_bytes + layout.is_member * members
        self._grow(more)
        return not np.array_equal(before, self.state[layout.room])

    def _grow(self, more: Numbers) -> None:
        """Have room for *more* of each count."""
        layout, state = self.layout, self.state
        used, room = state[layout.used], state[layout.room]
        needed = used + more
        is_short = (needed > room) | (room == 0)
        if not is_short.any():
            return
        wanted = np.maximum(np.maximum(needed, room + room // 2), LEAST_ROOM)
        if self._expected is not None:
            wanted = np.maximum(wanted, self._expected)
        wanted -= layout.is_byte * np.maximum(wanted - MOST_BYTES, 0)
        room = np.where(is_short, np.maximum(wanted, room), room)
        sizes, kept = layout.sizes(room), layout.num_kept(used)
        for number in np.flatnonzero(sizes > self._memory.sizes).tolist():
            self._memory.grow(number, int(sizes[number]), int(kept[number]))
        state[layout.slots], state[layout.room] = self._memory.addresses, room
        self._memory.room = room

    # What was written

    def numbers(self, column: Column) -> "np.ndarray[Any, np.dtype[Any]]":
        """Return the values of a column of numbers, where they stand."""
        kind = f"u{column.width}" if column.type.startswith("u") else f"i{column.width}"
        return self.part(column.slots["data"])[: self.num_rows * column.width].view(kind)

    def arrays(self, types: dict[str, pa.DataType]) -> dict[str, pa.Array]:
        """Return the columns, and have nothing any more."""
        used = self.state[self.layout.used]
        learnt()[self.layout] = used + used // 8 + self.layout.is_byte * self._largest
        written = _Written(self, POOL.loan(self.layout, self._memory))
        num_rows = self.num_rows
        return {
            column.name: written.array(column, types[column.name], num_rows)
            for column in self.table.columns
        }

    def drop(self) -> None:
        """Give the memory back: there are no rows."""
        POOL.give(self.layout, self._memory)

    def part(self, slot: int) -> Bytes:
        """Return the memory of a slot."""
        return self._memory.parts[self.layout.part_at[slot]]


class _Written:
    """The columns of an output that a kernel has filled."""

    def __init__(self, output: Output, loan: Loan) -> None:
        self.output, self.layout, self.loan = output, output.layout, loan
        # A number of NumPy's takes as long to be got at as a call.
        self.state: list[int] = output.state.tolist()

    def array(self, column: Column, kind: pa.DataType, num_rows: int) -> pa.Array:
        slots = column.slots
        if column.width:
            return self._numbers(column, kind, num_rows)
        if slots["offsets"] in self.layout.viewed:
            return self._views(column, num_rows)
        if column.members is not None and not self.state[column.members.rows]:
            return no_elements(kind, num_rows)
        offsets = self._buffer(slots["offsets"], LEN_OFFSET * (num_rows + 1))
        if column.members is not None:
            return self._lists(column.members, kind, num_rows, offsets)
        nulls = self.state[slots["nulls"]] if column.is_nullable else 0
        data = self._buffer(slots["bytes"], self.state[slots["used"]])
        buffers = [self._valid(column, num_rows, nulls), offsets, data]
        made = pa.Array.from_buffers(kind, num_rows, buffers, nulls)
        if column.type == "string" and self.state[slots["not_ascii"]]:
            made = _text(made)
        return made

    def _buffer(self, slot: int, num_bytes: int) -> pa.Buffer:
        return pa.foreign_buffer(self.state[slot], num_bytes, self.loan)

    def _views(self, column: Column, num_rows: int) -> pa.Array:
        nulls = self.state[column.slots["nulls"]]
        views = self._buffer(column.slots["offsets"], LEN_VIEW * num_rows)
        buffers = [self._valid(column, num_rows, nulls), views, pa.py_buffer(self.output.source)]
        return pa.Array.from_buffers(pa.binary_view(), num_rows, buffers, nulls)

    def _valid(self, column: Column, num_rows: int, nulls: int) -> pa.Buffer | None:
        """Return the bits that say which values are there; None if all are."""
        return bits(self.output.part(column.slots["valid"])[:num_rows]) if nulls else None

    def _lists(
        self, members: Table, kind: pa.DataType, num_rows: int, offsets: pa.Buffer
    ) -> pa.Array:
        count, types = self.state[members.rows], _members(kind)
        fields = [self.array(column, types[column.name], count) for column in members.columns]
        structs = pa.Array.from_buffers(kind.value_type, count, [None], 0, children=fields)
        return pa.Array.from_buffers(kind, num_rows, [None, offsets], 0, children=[structs])

    def _numbers(self, column: Column, kind: pa.DataType, num_rows: int) -> pa.Array:
        valid, nulls = None, 0
        if column.sentinel is not None:
            is_null = self.output.numbers(column) == column.sentinel
            nulls = int(np.count_nonzero(is_null))
            if nulls:
                valid = bits(~is_null)
        data = self._buffer(column.slots["data"], num_rows * column.width)
        return pa.Array.from_buffers(kind, num_rows, [valid, data], nulls)


@cache
def _members(kind: pa.DataType) -> dict[str, pa.DataType]:
    """Return the types of what a list's elements hold, by name."""
    return {field.name: field.type for field in kind.value_type}


def _text(made: pa.Array) -> pa.Array:
    """Return text that kernels took as bytes, with what is malformed as Java has it."""
    try:
        made.validate(full=True)
    except pa.ArrowInvalid:
        raw = made.view(pa.binary()).to_pylist()
        return words([decode_utf8(key) for key in raw])
    return made
