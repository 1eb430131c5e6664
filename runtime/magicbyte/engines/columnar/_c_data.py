"""Arrow's C data interface: columns as C structs, which Arrow imports in one call.

Through the Python API, each buffer and child of an array costs an object, and a batch has dozens. The
structs of batches with the same columns differ in counts and addresses alone, and those are in the state
of the kernel that wrote the columns.

https://arrow.apache.org/docs/format/CDataInterface.html
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar._arrow_release import RELEASE
from magicbyte.engines.columnar.kernel_loader import release_function
from magicbyte.tables.schemas import WIRE_TYPES
from magicbyte_kernels.kernel_interface import KernelColumn, KernelTable

LENGTH, NULL_COUNT, OFFSET, NUM_BUFFERS, NUM_CHILDREN = range(5)
BUFFERS, CHILDREN, DICTIONARY = range(5, 8)
"""Words of a struct ArrowArray, before RELEASE and PRIVATE_DATA. The pointers to its buffers follow it here,
then those to its children."""
LEN_STRUCT = 10
LEN_WORD = 8


class StructTemplate:
    """The C structs of an Arrow batch as 64-bit words; counts and addresses are filled in per batch."""

    def __init__(
        self,
        kernel_table: KernelTable,
        columns: Mapping[str, KernelColumn | None],
        viewed: frozenset[int],
    ) -> None:
        """*columns* are the batch's columns of *kernel_table* by name; None stands for a column of nulls.

        *viewed* are the slots `offsets` of the columns that are views.
        """
        self._viewed = viewed
        self.schema = pa.schema(
            [(name, self._type(name, column)) for name, column in columns.items()]
        )
        self.release = release_function()
        self._words: list[int] = []
        self._pointers: list[int] = []
        self._state_words: list[tuple[int, int]] = []
        self.nullable: list[tuple[int, KernelColumn, int, int]] = []
        """Per column with a null count: the slot of that count, the column, the slot that counts its rows,
        and the word for the address of its validity bitmap."""
        self.view_sizes: list[int] = []
        """Words for the size of the buffer that views refer to."""
        self.zeros: list[int] = []
        """Words for the address of a buffer of zeros."""
        fields = [
            self._null_column(field.type, kernel_table.rows)
            if column is None
            else self._column(column, kernel_table.rows)
            for column, field in zip(columns.values(), self.schema, strict=True)
        ]
        self.root = self._struct(kernel_table.rows, None, [], fields)
        state_words = np.array(self._state_words, np.int64)
        self.state_words, self.slots = state_words[:, 0].copy(), state_words[:, 1].copy()
        """Words that are copied from the state, and the slots that they are copied from."""
        self.words, self.pointers = np.array(self._words, np.int64), np.array(self._pointers)
        """All words, and the numbers of those that point to another word."""
        present = [column for column in columns.values() if column is not None]
        self.not_ascii = [*_slots(present, "not_ascii")]
        """Slots that are not 0 where text is not ASCII."""

    def _type(self, name: str, kernel_column: KernelColumn | None) -> pa.DataType:
        is_viewed = kernel_column is not None and kernel_column.slots.get("offsets") in self._viewed
        return pa.binary_view() if is_viewed else WIRE_TYPES[name]

    def _column(self, column: KernelColumn, rows: int) -> int:
        slots, members = column.slots, column.members
        if members is not None:
            fields = [self._column(member, members.rows) for member in members.columns]
            elements = self._struct(members.rows, None, [], fields)
            return self._struct(rows, None, [slots["offsets"]], [elements])
        buffers = [slots["data"]] if column.width else [slots["offsets"], slots["bytes"]]
        nulls = slots.get("nulls")
        at = self._struct(rows, nulls, buffers, [], is_viewed=buffers[0] in self._viewed)
        if nulls is not None:
            self.nullable.append((nulls, column, rows, at + LEN_STRUCT))
        return at

    def _null_column(self, data_type: pa.DataType, rows: int | None) -> int:
        """Add the structs of a column of *rows* nulls; None stands for no rows."""
        fields = [
            self._null_column(data_type.field(n).type, None) for n in range(data_type.num_fields)
        ]
        at = self._struct(rows, rows, [None] * (data_type.num_buffers - 1), fields)
        self.zeros += range(at + LEN_STRUCT, at + LEN_STRUCT + data_type.num_buffers)
        return at

    def _struct(
        self,
        rows: int | None,
        nulls: int | None,
        buffers: Sequence[int | None],
        children: Sequence[int],
        *,
        is_viewed: bool = False,
    ) -> int:
        """Add a struct; return the number of its first word.

        *rows*, *nulls* and *buffers*, without the validity bitmap, are slots of the state or None;
        *children* are numbers of first words.
        """
        words, at = self._words, len(self._words)
        buffer = at + LEN_STRUCT + 1
        child = buffer + len(buffers) + 2 * is_viewed
        words += [0] * (child + len(children) - at)
        words[at + NUM_BUFFERS], words[at + NUM_CHILDREN] = 1 + len(buffers), len(children)
        words[at + RELEASE] = self.release
        slots = [(at + LENGTH, rows), (at + NULL_COUNT, nulls), *enumerate(buffers, buffer)]
        self._state_words += [(word, slot) for word, slot in slots if slot is not None]
        self._point(at + BUFFERS, buffer - 1)
        self._point(at + CHILDREN, child)
        for number, first_word in enumerate(children):
            self._point(child + number, first_word)
        if is_viewed:
            # The last buffer of a view array holds the sizes of the others: a word of this struct.
            words[at + NUM_BUFFERS] += 1
            self._point(child - 2, child - 1)
            self.view_sizes.append(child - 1)
        return at

    def _point(self, word: int, to: int) -> None:
        self._words[word] = LEN_WORD * to
        self._pointers.append(word)


def _slots(columns: Sequence[KernelColumn], name: str) -> Iterator[int]:
    """Yield the number of the state slot *name* of each of *columns* and of their list members."""
    for column in columns:
        if name in column.slots:
            yield column.slots[name]
        if column.members is not None:
            yield from _slots(column.members.columns, name)
