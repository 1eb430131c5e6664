"""Arrow's C data interface: columns as structs in memory, which Arrow takes over in one call.

From Python, an array takes an object for each of its buffers and children, and a record batch dozens
of them. Structs are numbers. They are the same for all batches of some columns but for counts and
addresses, and those are in the state of the kernel that wrote the columns.

https://arrow.apache.org/docs/format/CDataInterface.html
"""

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar.arrow_release import LEN_WORD, release
from magicbyte.engines.columnar.buffers import Bytes, Loan, address
from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.schemas import WIRE_TYPES
from magicbyte_kernels.kernel_interface import KernelColumn, KernelTable

LENGTH, NULL_COUNT, OFFSET, NUM_BUFFERS, NUM_CHILDREN = range(5)
BUFFERS, CHILDREN, DICTIONARY, RELEASE, PRIVATE_DATA = range(5, 10)
"""The words of a struct ArrowArray. Its buffers follow it here, and then its children."""
LEN_STRUCT = 10

ALL_VALID = 0
"""The address of the bits that say which values are there, where all are."""

_import = pa.RecordBatch._import_from_c
_hold = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))


class Form:
    """The structs of record batches of some of a kernel's columns, but for what is a batch's own."""

    def __init__(
        self, table: KernelTable, columns: Mapping[str, KernelColumn | None], viewed: frozenset[int]
    ) -> None:
        """*columns* are those of *table* that batches have, by name, or None: null in all rows.

        *viewed* are the slots of `offsets` of those that are views.
        """
        self._viewed = viewed
        self.schema = pa.schema([(name, self._type(name, one)) for name, one in columns.items()])
        self.release = release(RELEASE, PRIVATE_DATA)
        self._words: list[int] = []
        self._inner: list[int] = []
        """The words that are addresses of others."""
        self._told: list[tuple[int, int]] = []
        """The words that are in the state, and in which slots."""
        self.nullable: list[tuple[int, KernelColumn, int, int]] = []
        """The slots that count nulls, the columns that may have them, the slots that count their
        rows, and the words for the addresses of the bits that say which."""
        self.sizes: list[int] = []
        """The words for the bytes of what views are of."""
        self.zeros: list[int] = []
        """The words for addresses of zeros."""
        fields = [
            self._nothing(field.type, table.rows)
            if column is None
            else self._column(column, table.rows)
            for column, field in zip(columns.values(), self.schema, strict=True)
        ]
        self.root = self._struct(table.rows, None, [], fields)
        told = np.array(self._told, np.int64)
        self.told_at, self.slots = told[:, 0].copy(), told[:, 1].copy()
        self.words, self.inner = np.array(self._words, np.int64), np.array(self._inner, np.int64)
        made = [column for column in columns.values() if column is not None]
        self.not_ascii = [*_slots(made, "not_ascii")]
        """The slots that are not 0 where text is not ASCII."""

    def _type(self, name: str, column: KernelColumn | None) -> pa.DataType:
        is_viewed = column is not None and column.slots.get("offsets") in self._viewed
        return pa.binary_view() if is_viewed else WIRE_TYPES[name]

    def _column(self, column: KernelColumn, rows: int) -> int:
        slots, members = column.slots, column.members
        if members is not None:
            fields = [self._column(one, members.rows) for one in members.columns]
            elements = self._struct(members.rows, None, [], fields)
            return self._struct(rows, None, [slots["offsets"]], [elements])
        buffers = [slots["data"]] if column.width else [slots["offsets"], slots["bytes"]]
        nulls = slots.get("nulls")
        at = self._struct(rows, nulls, buffers, [], is_viewed=buffers[0] in self._viewed)
        if nulls is not None:
            self.nullable.append((nulls, column, rows, at + LEN_STRUCT))
        return at

    def _nothing(self, kind: pa.DataType, rows: int | None) -> int:
        """Add the structs of a column that is null in all rows, of which None is none."""
        fields = [self._nothing(kind.field(n).type, None) for n in range(kind.num_fields)]
        at = self._struct(rows, rows, [None] * (kind.num_buffers - 1), fields)
        self.zeros += range(at + LEN_STRUCT, at + LEN_STRUCT + kind.num_buffers)
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
        """Add a struct; return the place of its first word.

        *rows*, *nulls* and *buffers*, but for the first one of all arrays, are slots of the state,
        or None; *children* are places of others.
        """
        words, at = self._words, len(self._words)
        buffer = at + LEN_STRUCT + 1
        child = buffer + len(buffers) + 2 * is_viewed
        words += [0] * (child + len(children) - at)
        words[at + NUM_BUFFERS], words[at + NUM_CHILDREN] = 1 + len(buffers), len(children)
        words[at + RELEASE] = self.release
        told = [(at + LENGTH, rows), (at + NULL_COUNT, nulls), *enumerate(buffers, buffer)]
        self._told += [(word, slot) for word, slot in told if slot is not None]
        self._point(at + BUFFERS, buffer - 1)
        self._point(at + CHILDREN, child)
        for number, place in enumerate(children):
            self._point(child + number, place)
        if is_viewed:
            # Behind what views are of comes a buffer with the size of that, which is a word here.
            words[at + NUM_BUFFERS] += 1
            self._point(child - 2, child - 1)
            self.sizes.append(child - 1)
        return at

    def _point(self, word: int, to: int) -> None:
        self._words[word] = LEN_WORD * to
        self._inner.append(word)

    def structs(self) -> "Structs":
        """Return such structs in memory."""
        return Structs(self)


class Structs:
    """The structs of a form in memory, for one batch after another."""

    __slots__ = ("_form", "_place", "_words", "_zeros")

    def __init__(self, form: Form) -> None:
        self._form, self._words = form, form.words.copy()
        self._place = address(self._words)
        self._words[form.inner] += self._place
        self._zeros: Any = None

    def handed(
        self,
        state: Numbers,
        num_rows: int,
        valid: dict[int, pa.Buffer],
        source: Bytes | None,
        loan: Loan,
    ) -> pa.RecordBatch:
        """Return the columns that *state* describes, of *num_rows*.

        *valid* are the bits that say which values are there, by the word for their address, and
        *source* is what views are of. Arrow drops *loan* when it needs none of the columns any more.
        """
        form, words = self._form, self._words
        words[form.told_at] = state[form.slots]
        if form.zeros:
            zeros = _zeros((num_rows + 1).bit_length())
            if zeros is not self._zeros:
                words[form.zeros], self._zeros = zeros.address, zeros
        if source is not None:
            words[form.sizes] = len(source)
        for word, bits in valid.items():
            words[word] = bits.address
        loan.besides = valid, source, self._zeros
        words[form.root + RELEASE], words[form.root + PRIVATE_DATA] = form.release, id(loan)
        _hold(loan)
        try:
            return _import(self._place + LEN_WORD * form.root, form.schema)
        finally:
            for word in valid:
                words[word] = ALL_VALID


@cache
def _zeros(bits: int) -> pa.Buffer:
    """Return zeros, as many as values of 64 bits need whose number has so many *bits*."""
    return pa.py_buffer(bytes(LEN_WORD << bits))


def _slots(columns: Sequence[KernelColumn], name: str) -> Iterator[int]:
    """Yield those slots of *columns* and their members, where they have such ones."""
    for column in columns:
        if name in column.slots:
            yield column.slots[name]
        if column.members is not None:
            yield from _slots(column.members.columns, name)
