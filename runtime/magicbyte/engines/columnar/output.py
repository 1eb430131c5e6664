"""The columns that a kernel writes: their memory, and the record batch that is made of it."""

from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar.buffers import POOL, Bytes, address
from magicbyte.engines.columnar.c_data import Form
from magicbyte.engines.columnar.layout import Layout
from magicbyte.engines.columnar.thread_buffers import learnt
from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import bitmap, string_array
from magicbyte.text import decode_utf8
from magicbyte_kernels.kernel_interface import KernelColumn

LEAST_ROOM = 64
"""Rows or bytes that there is always room for: kernels write where a column ends."""

MOST_BYTES = (1 << 31) - 1
"""What the offsets of Arrow's binary columns can reach."""


class Output:
    """The wanted columns of rows in the making, and the state of the kernel that makes them."""

    def __init__(self, layout: Layout, source: Bytes) -> None:
        """*source* is what the entries lie in, where there are columns of views into it."""
        self.layout, self.table = layout, layout.table
        self.source: Bytes | None = None
        self._memory = POOL.take(layout, len(layout.slots))
        is_fresh = self._memory.begun is None
        self.state: Numbers = layout.state() if is_fresh else self._memory.begun.copy()
        if layout.viewed:
            self.view(source)
        self._expected: Numbers | None = learnt().get(layout)
        self._largest = 0
        self._has_grown = False
        if is_fresh:
            self.make_room(0, 0, 0)

    def view(self, source: Bytes) -> None:
        """Have columns be views into *source*."""
        self.source = source
        self.state[self.layout.sources] = address(source)

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
        begun = self._memory.begun = layout.state()
        for one in begun, state:
            one[layout.slots], one[layout.room] = self._memory.addresses, room
        self._has_grown = True

    # What was written

    def numbers(self, column: KernelColumn) -> "np.ndarray[Any, np.dtype[Any]]":
        """Return the values of a column of numbers, where they stand."""
        return self._numbers(column, self.num_rows)

    def _numbers(self, column: KernelColumn, count: int) -> "np.ndarray[Any, np.dtype[Any]]":
        kind = f"u{column.width}" if column.type.startswith("u") else f"i{column.width}"
        return self.part(column.slots["data"])[: count * column.width].view(kind)

    def handed(self, form: Form) -> pa.RecordBatch:
        """Return the columns of *form*, which is the layout's, and have nothing any more."""
        layout, state, memory = self.layout, self.state, self._memory
        if self._has_grown:
            used = state[layout.used]
            learnt()[layout] = used + used // 8 + layout.is_byte * self._largest
        loan = POOL.loan(layout, memory)
        structs = memory.structs
        if structs is None:
            structs = memory.structs = form.structs()
        # A number of NumPy's takes as long to be got at as a call.
        told = state.tolist()
        valid = {
            word: self._valid(column, told[rows])
            for nulls, column, rows, word in form.nullable
            if told[nulls]
        }
        made = structs.handed(state, told[self.table.rows], valid, self.source, loan)
        return _mended(made) if any(told[slot] for slot in form.not_ascii) else made

    def _valid(self, column: KernelColumn, count: int) -> pa.Buffer:
        """Return the bits that say which of *count* values are there."""
        if column.sentinel is None:
            return bitmap(self.part(column.slots["valid"])[:count])
        return bitmap(self._numbers(column, count) != column.sentinel)

    def drop(self) -> None:
        """Give the memory back: there are no rows."""
        POOL.give(self.layout, self._memory)

    def part(self, slot: int) -> Bytes:
        """Return the memory of a slot."""
        return self._memory.parts[self.layout.part_at[slot]]


def _mended(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return *rows* with text that kernels took as bytes as Java has it, where it is malformed."""
    return pa.RecordBatch.from_arrays(
        [_text(column) for column in rows.columns], schema=rows.schema
    )


def _text(array: pa.Array) -> pa.Array:
    kind = array.type
    if pa.types.is_list(kind):
        elements = array.values
        fields = [_text(elements.field(number)) for number in range(elements.type.num_fields)]
        structs = pa.Array.from_buffers(elements.type, len(elements), [None], 0, children=fields)
        return pa.Array.from_buffers(kind, len(array), array.buffers()[:2], 0, children=[structs])
    if not pa.types.is_string(kind):
        return array
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        raw = array.view(pa.binary()).to_pylist()
        return string_array([decode_utf8(one) for one in raw])
    return array
