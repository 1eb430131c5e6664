"""The columns that a kernel writes: their memory, and the Arrow arrays that are made of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar.buffers import POOL, Memory
from magicbyte.engines.columnar.scratch import learnt
from magicbyte.engines.header_keys import decode_header_key
from magicbyte_formats.columnar import Column, Kernels, Table

WHY = 0
"""The slot of the state that says why a kernel stopped."""

LEAST_ROOM = 64
"""Rows or bytes that there is always room for: kernels write where a column ends."""

MOST_BYTES = (1 << 31) - 1
"""What the offsets of Arrow's binary columns can reach."""


class Output:
    """The wanted columns of rows in the making, and the state of the kernel that makes them."""

    def __init__(self, kernels: Kernels, wanted: Sequence[bool]) -> None:
        self.kernels = kernels
        self.table = Table(
            tuple(
                column
                for column, is_wanted in zip(kernels.TABLE.columns, wanted, strict=True)
                if is_wanted
            ),
            kernels.TABLE.rows,
            kernels.TABLE.room,
        )
        self.state = np.zeros(kernels.STATE, np.int64)
        self._memory: dict[int, Memory] = {}
        """By the slot that holds its address."""
        self._learnt = learnt()

    @property
    def num_rows(self) -> int:
        return int(self.state[self.table.rows])

    # Room

    def make_room(self, num_rows: int, num_bytes: int) -> None:
        """Make room for *num_rows* more, of *num_bytes* in all.

        There is room for as many as the last time, too. More elements of lists than that can only
        be told by reading: a kernel that needs more stops and gets `more_room`.
        """
        self._rows(self.table, num_rows)
        for column in self.table.columns:
            if column.members is not None:
                self._rows(column.members, 0)
                for member in column.members.columns:
                    self._bytes(member, num_bytes)
            else:
                self._bytes(column, num_bytes)

    def more_room(self, num_rows: int, num_bytes: int) -> bool:
        """Make room for an entry that a kernel had no room for; return whether that was possible.

        It may take several calls: an element of a list has a byte at least, but most have more.
        """
        before = self.state.copy()
        self.make_room(num_rows, num_bytes)
        for column in self.table.columns:
            if column.members is not None:
                room = int(self.state[column.members.room])
                self._rows(column.members, min(2 * room, num_bytes))
        return not np.array_equal(before, self.state)

    def _learn(self, slot: int, used: int) -> None:
        self._learnt[self._use(slot)] = used + used // 8

    def _use(self, slot: int) -> tuple[str, int]:
        return self.kernels.__name__, slot

    def _rows(self, table: Table, more: int) -> None:
        used, room = int(self.state[table.rows]), int(self.state[table.room])
        if room and used + more <= room:
            return
        expected = self._learnt.get(self._use(table.rows), 0)
        room = max(used + more, room + room // 2, expected, LEAST_ROOM)
        for column in table.columns:
            if column.width:
                self._grow(column.slots["data"], used * column.width, room * column.width)
            else:
                self._grow(column.slots["offsets"], 4 * used + 4, 4 * room + 4)
            if column.is_nullable:
                self._grow(column.slots["valid"], used, room)
        self.state[table.room] = room

    def _bytes(self, column: Column, more: int) -> None:
        if "bytes" not in column.slots:
            return
        used, had = (int(self.state[column.slots[slot]]) for slot in ("used", "room"))
        if had and used + more <= had:
            return
        expected = self._learnt.get(self._use(column.slots["bytes"]), 0)
        room = min(max(used + more, had + had // 2, expected, LEAST_ROOM), MOST_BYTES)
        if room == had:
            return
        self._grow(column.slots["bytes"], used, room + self.kernels.SLACK)
        self.state[column.slots["room"]] = room

    def _grow(self, slot: int, used: int, room: int) -> None:
        """Have *room* bytes at *slot*, the first *used* of them as they are."""
        memory = POOL.take(self._use(slot), room)
        old = self._memory.get(slot)
        if old is not None:
            memory.bytes[:used] = old.bytes[:used]
            POOL.give(self._use(slot), old)
        elif used:
            memory.bytes[:used] = 0  # the first offset
        self._memory[slot] = memory
        self.state[slot] = memory.address

    # What was written

    def numbers(self, column: Column) -> "np.ndarray[Any, np.dtype[Any]]":
        """Return the values of a column of numbers, where they stand."""
        memory = self._memory[column.slots["data"]].bytes
        kind = f"u{column.width}" if column.type.startswith("u") else f"i{column.width}"
        return memory[: self.num_rows * column.width].view(kind)

    def arrays(self, types: dict[str, pa.DataType]) -> dict[str, pa.Array]:
        """Return the columns, and have nothing any more."""
        self._learn(self.table.rows, self.num_rows)
        made = {
            column.name: self._array(column, types[column.name], self.num_rows)
            for column in self.table.columns
        }
        self._memory.clear()
        return made

    def drop(self) -> None:
        """Give the memory back: there are no rows."""
        for slot, memory in self._memory.items():
            POOL.give(self._use(slot), memory)
        self._memory.clear()

    def _lent(self, slot: int, num_bytes: int) -> pa.Buffer:
        return POOL.lend(self._use(slot), self._memory[slot], num_bytes)

    def _array(self, column: Column, kind: pa.DataType, num_rows: int) -> pa.Array:
        if column.width:
            return self._numbers(column, kind, num_rows)
        offsets = self._lent(column.slots["offsets"], 4 * num_rows + 4)
        if column.members is not None:
            return self._lists(column.members, kind, num_rows, offsets)
        used = int(self.state[column.slots["used"]])
        self._learn(column.slots["bytes"], used)
        nulls = int(self.state[column.slots["nulls"]]) if column.is_nullable else 0
        valid = self._valid(column, num_rows, nulls)
        data = self._lent(column.slots["bytes"], used)
        made = pa.Array.from_buffers(kind, num_rows, [valid, offsets, data], nulls)
        if column.type == "string" and self.state[column.slots["not_ascii"]]:
            made = _text(made)
        return made

    def _valid(self, column: Column, num_rows: int, nulls: int) -> pa.Buffer | None:
        """Return the bits that say which values are there; None if all are."""
        if not column.is_nullable:
            return None
        slot = column.slots["valid"]
        memory = self._memory[slot]
        bits = np.packbits(memory.bytes[:num_rows], bitorder="little") if nulls else None
        POOL.give(self._use(slot), memory)
        return None if bits is None else pa.py_buffer(bits)

    def _lists(
        self, members: Table, kind: pa.DataType, num_rows: int, offsets: pa.Buffer
    ) -> pa.Array:
        count = int(self.state[members.rows])
        self._learn(members.rows, count)
        fields = [
            self._array(column, kind.value_type.field(column.name).type, count)
            for column in members.columns
        ]
        structs = pa.Array.from_buffers(kind.value_type, count, [None], 0, children=fields)
        return pa.Array.from_buffers(kind, num_rows, [None, offsets], 0, children=[structs])

    def _numbers(self, column: Column, kind: pa.DataType, num_rows: int) -> pa.Array:
        valid, nulls = None, 0
        if column.sentinel is not None:
            is_null = self.numbers(column)[:num_rows] == column.sentinel
            nulls = int(np.count_nonzero(is_null))
            if nulls:
                valid = pa.py_buffer(np.packbits(~is_null, bitorder="little"))
        data = self._lent(column.slots["data"], num_rows * column.width)
        return pa.Array.from_buffers(kind, num_rows, [valid, data], nulls)


def _text(made: pa.Array) -> pa.Array:
    """Return text that kernels took as bytes, with what is malformed as Java has it."""
    try:
        made.validate(full=True)
    except pa.ArrowInvalid:
        raw = made.view(pa.binary()).to_pylist()
        return pa.array([decode_header_key(key) for key in raw], made.type)
    return made
