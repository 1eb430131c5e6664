"""Columns of an Arrow batch: a kernel writes the records' own, NumPy repeats an entry's values."""

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines._row_columns import rows_of_nothing
from magicbyte.engines.columnar._arrow_release import PRIVATE_DATA, RELEASE
from magicbyte.engines.columnar._buffers import (
    POOL,
    Bytes,
    Descriptors,
    MemoryLease,
    address,
    size_estimates,
)
from magicbyte.engines.columnar._c_data import LEN_WORD, StructTemplate
from magicbyte.engines.columnar._layout import ColumnLayout
from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import (
    array_of,
    batch_of,
    bitmap,
    constant_array,
    distinct,
    nullable_array,
    number_array,
    string_array,
)
from magicbyte.tables.binary_views import with_binary_views
from magicbyte.tables.schemas import WIRE_TYPES
from magicbyte.text import decode_utf8
from magicbyte_kernels.kernel_interface import ABSENT, EntryColumn, KernelColumn

MIN_CAPACITY = 64
"""Smallest capacity of a column, in rows or bytes: kernels write at the end of an empty column, too."""

MAX_COLUMN_BYTES = (1 << 31) - 1
"""Largest offset in a binary column of Arrow."""


ALL_VALID = 0
"""Null pointer instead of a validity bitmap: no value is null."""

_import = pa.RecordBatch._import_from_c
_hold = ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))


class OutputColumns:
    """Columns of an Arrow batch in the making, and the state of the kernel that writes them."""

    def __init__(self, layout: ColumnLayout, source: Bytes) -> None:
        """*source* is the buffer that views refer to."""
        self.layout, self.table = layout, layout.table
        self.source: Bytes | None = None
        self._memory = POOL.acquire(layout, len(layout.slots))
        is_new = self._memory.initial_state is None
        self.state: Numbers = layout.empty_state() if is_new else self._memory.initial_state.copy()
        if layout.viewed:
            self.view(source)
        self._estimate: Numbers | None = size_estimates().get(layout)
        """Capacities that earlier batches needed."""
        self.largest = 0
        """Most decompressed bytes of a call: a kernel needs that much capacity for the last one."""
        self._has_grown = False
        if is_new:
            self._grow(0 * layout.is_row)

    def view(self, source: Bytes) -> None:
        """Let views in the columns refer to the buffer *source*."""
        self.source = source
        self.state[self.layout.source_slots] = address(source)

    @property
    def num_rows(self) -> int:
        return int(self.state[self.table.rows])

    # Capacity

    def grow(self, num_rows: int, num_bytes: int) -> bool:
        """Add capacity for entries that did not fit; return whether that was possible.

        Elements of lists may need several calls: an element has at least one byte, but most have more.
        """
        layout, before = self.layout, self.state[self.layout.capacity_slots]
        members = np.minimum(2 * before, num_bytes)
        more = layout.is_row * num_rows + layout.is_byte * num_bytes + layout.is_member * members
        self._grow(more)
        return not np.array_equal(before, self.state[layout.capacity_slots])

    def _grow(self, more: Numbers) -> None:
        """Provide capacity for *more* of each counter."""
        layout, state = self.layout, self.state
        used, capacity = state[layout.used_slots], state[layout.capacity_slots]
        needed = used + more
        is_short = (needed > capacity) | (capacity == 0)
        if not is_short.any():
            return
        larger = np.maximum(np.maximum(needed, capacity + capacity // 2), MIN_CAPACITY)
        if self._estimate is not None:
            larger = np.maximum(larger, self._estimate)
        larger -= layout.is_byte * np.maximum(larger - MAX_COLUMN_BYTES, 0)
        capacity = np.where(is_short, np.maximum(larger, capacity), capacity)
        sizes, num_kept = layout.sizes(capacity), layout.num_kept(used)
        for number in np.flatnonzero(sizes > self._memory.sizes).tolist():
            self._memory.grow(number, int(sizes[number]), int(num_kept[number]))
        initial_state = self._memory.initial_state = layout.empty_state()
        for numbers in initial_state, state:
            numbers[layout.slots] = self._memory.addresses
            numbers[layout.capacity_slots] = capacity
        self._has_grown = True

    # Results

    def numbers(self, column: KernelColumn) -> "np.ndarray[Any, np.dtype[Any]]":
        """Return the values of a column of numbers, without a copy."""
        return self._numbers(column, self.num_rows)

    def _numbers(self, column: KernelColumn, count: int) -> "np.ndarray[Any, np.dtype[Any]]":
        kind = f"u{column.width}" if column.type.startswith("u") else f"i{column.width}"
        return self._part(column.slots["data"])[: count * column.width].view(kind)

    def to_batch(
        self,
        columns: tuple[str, ...],
        desc: Descriptors,
        num_rows: Numbers,
        *,
        origin: int,
        views: bool,
    ) -> pa.RecordBatch:
        """Return all rows as an Arrow batch, which owns their memory from now on.

        *desc* describes their entries, of *num_rows* each; with *views*, binary columns are views.
        """
        types, schema = _types(columns, views)
        count = self.num_rows
        if not count or not types:
            self.release()
            return batch_of([], schema) if types else rows_of_nothing(count)
        kernels, template = self.layout.kernels, self.layout.template
        is_viewed = bool(self.layout.viewed)
        arrays: dict[str, pa.Array] = {}
        if template is None:
            self.release()
        else:
            of_records = self._of_records(template)
            if of_records.num_columns == len(types):
                return of_records.cast(schema) if views and not is_viewed else of_records
            arrays = dict(zip(template.schema.names, of_records.columns, strict=True))
        for column in kernels.ENTRY_COLUMNS:
            if column.name in types:
                arrays[column.name] = _entry_column(column, desc[:, column.at], num_rows)
        if "position" in types:
            positions = desc[:, kernels.NAMES["position"]] + origin
            arrays["position"] = number_array(types["position"], np.repeat(positions, num_rows))
        chosen = list(map(arrays.__getitem__, types))
        if not views:
            return pa.RecordBatch.from_arrays(chosen, schema=schema)
        rows = pa.RecordBatch.from_arrays(chosen, names=schema.names)
        return rows if is_viewed else rows.cast(schema)

    def _of_records(self, template: StructTemplate) -> pa.RecordBatch:
        """Return the columns that the kernel wrote; Arrow owns their memory from now on."""
        layout, state, memory = self.layout, self.state, self._memory
        if self._has_grown:
            used = state[layout.used_slots]
            size_estimates()[layout] = used + used // 8 + layout.is_byte * self.largest
        lease = MemoryLease(POOL, layout, memory)
        structs = memory.structs
        if structs is None:
            structs = memory.structs = ArrowStructs(template)
        # Reading a single number of a NumPy array takes as long as a function call.
        slots = state.tolist()
        valid = {
            word: self._valid(column, slots[rows])
            for nulls, column, rows, word in template.nullable
            if slots[nulls]
        }
        rows = structs.to_batch(state, slots[self.table.rows], valid, self.source, lease)
        return _as_java(rows) if any(slots[slot] for slot in template.not_ascii) else rows

    def _valid(self, column: KernelColumn, count: int) -> pa.Buffer:
        """Return the validity bitmap of *count* values."""
        if column.sentinel is None:
            return bitmap(self._part(column.slots["valid"])[:count])
        return bitmap(self._numbers(column, count) != column.sentinel)

    def release(self) -> None:
        """Release the memory, if no Arrow batch has taken it over."""
        POOL.release(self.layout, self._memory)

    def _part(self, slot: int) -> Bytes:
        """Return the buffer whose address is in the state slot *slot*."""
        return self._memory.parts[self.layout.part_at[slot]]


class ArrowStructs:
    """The structs of a template in memory, used for one batch after another."""

    __slots__ = ("_address", "_template", "_words", "_zeros")

    def __init__(self, template: StructTemplate) -> None:
        self._template, self._words = template, template.words.copy()
        self._address = address(self._words)
        self._words[template.pointers] += self._address
        self._zeros: Any = None

    def to_batch(
        self,
        state: Numbers,
        num_rows: int,
        valid: dict[int, pa.Buffer],
        source: Bytes | None,
        lease: MemoryLease,
    ) -> pa.RecordBatch:
        """Return the columns of *state*, of *num_rows*, as an Arrow batch.

        *valid* are the validity bitmaps by the word for their address, *source* is the buffer that views
        refer to. Arrow drops *lease* once it needs none of the columns.
        """
        template, words = self._template, self._words
        words[template.state_words] = state[template.slots]
        if template.zeros:
            zeros = _zeros((num_rows + 1).bit_length())
            if zeros is not self._zeros:
                words[template.zeros], self._zeros = zeros.address, zeros
        if source is not None:
            words[template.view_sizes] = len(source)
        for word, bits in valid.items():
            words[word] = bits.address
        lease.referenced = valid, source, self._zeros
        words[template.root + RELEASE] = template.release
        words[template.root + PRIVATE_DATA] = id(lease)
        _hold(lease)
        try:
            return _import(self._address + LEN_WORD * template.root, template.schema)
        finally:
            for word in valid:
                words[word] = ALL_VALID


@cache
def _zeros(bits: int) -> pa.Buffer:
    """Return a buffer of 2 to the power of *bits* 64-bit zeros."""
    return pa.py_buffer(bytes(LEN_WORD << bits))


@cache
def _types(columns: tuple[str, ...], views: bool) -> tuple[dict[str, pa.DataType], pa.Schema]:
    types = {name: WIRE_TYPES[name] for name in columns}
    schema = pa.schema(types.items())
    return types, with_binary_views(schema) if views else schema


def joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the rows of one or more *batches* in a single batch."""
    with_rows = [batch for batch in batches if batch.num_rows]
    if len(with_rows) < 2:
        return (with_rows or batches)[0]
    if not batches[0].num_columns:
        return rows_of_nothing(sum(batch.num_rows for batch in with_rows))
    return pa.concat_batches(with_rows)


def _entry_column(entry_column: EntryColumn, values: Numbers, num_rows: Numbers) -> pa.Array:
    """Return *values*, one per entry, each repeated *num_rows* times."""
    kind = WIRE_TYPES[entry_column.name]
    nulls = {ABSENT} if entry_column.is_nullable else set()
    if entry_column.sentinel is not None:
        nulls.add(entry_column.sentinel)
    values, num_rows = values[num_rows > 0], num_rows[num_rows > 0]
    if len(values) and (values == values[0]).all():
        value = _value(entry_column, int(values[0]), nulls)
        return constant_array(kind, value, int(num_rows.sum()))
    if entry_column.words:
        # A column of text has few different values: encode each once.
        numbers, indices = distinct(values)
        words = array_of([_value(entry_column, number, nulls) for number in numbers], kind)
        return words.take(number_array(pa.int64(), np.repeat(indices, num_rows)))
    is_null = np.isin(values, list(nulls))
    rows = np.repeat(np.where(is_null, 0, values), num_rows)
    numpy_type = np.bool_ if pa.types.is_boolean(kind) else kind.to_pandas_dtype()
    return nullable_array(kind, rows.astype(numpy_type), np.repeat(is_null, num_rows))


def _value(entry_column: EntryColumn, number: int, nulls: set[int]) -> Any:
    """Return the column's value for a stored *number*; None for null."""
    if number in nulls:
        return None
    if entry_column.type == "bool":
        return bool(number)
    return entry_column.words.get(number) if entry_column.words else number


def _as_java(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return *rows* with malformed UTF-8 in text, which kernels copy unchecked, decoded as Java does."""
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
        return string_array([decode_utf8(value) for value in raw])
    return array
