"""Runs the kernel for Protobuf over an Arrow array of values, and provides the memory that it fills."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar import _buffers
from magicbyte.engines.columnar import protobuf_program as code
from magicbyte.engines.columnar._buffers import EMPTY, Bytes, address
from magicbyte.engines.columnar.avro_columns import (
    MIN_CAPACITY,
    MIN_OUTPUT_BYTES,
    OUTPUT_RATIO,
    SAMPLE_ROWS,
    Starts,
)
from magicbyte.engines.columnar.kernel_loader import protobuf_decoder
from magicbyte.engines.columnar.protobuf_program import ProtobufProgram
from magicbyte.tables.arrays import OFFSET_BYTES, value_offsets

Verdicts = np.ndarray[tuple[int], np.dtype[np.uint8]]


@dataclass(slots=True)
class ProtobufColumnMemory:
    """Memory of one column: zero where the kernel has not written."""

    value_bytes: Bytes
    validity: Bytes
    """A byte for each row; empty if no row can be null."""
    value_offsets: Bytes
    """Arrow's offsets of byte strings or items."""


@dataclass(slots=True)
class FilledMessages:
    """Columns that the kernel has filled with the messages that are usual."""

    verdicts: Verdicts
    columns: list[ProtobufColumnMemory]
    row_counts: list[int]
    """Rows of each column."""
    used_counts: list[int]
    """Bytes or items of each column of byte strings or lists."""


def fill_messages(
    program: ProtobufProgram, values: pa.Array, starts: Starts | int
) -> FilledMessages:
    """Decode *values*, an array of type binary whose frames have *starts* bytes, by *program*."""
    call = _ProtobufCall(program, values, starts)
    call.run(min(len(values), SAMPLE_ROWS))
    if len(values) > SAMPLE_ROWS:
        call.reserve_for_all(SAMPLE_ROWS)
        call.run(len(values))
    return call.filled_messages()


class _ProtobufCall:
    def __init__(self, program: ProtobufProgram, values: pa.Array, starts: Starts | int) -> None:
        self._layouts, self._num_values = program.columns, len(values)
        self._verdicts = _buffers.allocate(len(values))
        if not isinstance(starts, int):
            starts = np.ascontiguousarray(starts, np.int32)
        self._referenced = values, starts
        frame_bytes = 8 * (code.FRAME_SEEN + program.num_seen_words)
        self._stack = np.zeros(code.MAX_DEPTH * frame_bytes // 8, np.int64)
        self._state = np.zeros((max(len(self._layouts), 1), code.COLUMN_NUMBERS), np.int64)
        self._counters = np.zeros((max(len(self._layouts), 1), code.COUNTER_NUMBERS), np.int64)
        self._counted: dict[int, int] = {}
        """Counters of the columns that have one, by the numbers of the columns."""
        self._item_columns: dict[int, list[int]] = {}
        """Columns whose rows are the items of a list, by the number of the list."""
        self._memory = [ProtobufColumnMemory(EMPTY, EMPTY, EMPTY) for _ in self._layouts]
        for number, layout in enumerate(self._layouts):
            if layout.kind in (code.BYTE_STRINGS, code.ITEMS):
                self._counted[number] = len(self._counted)
            self._item_columns.setdefault(layout.list_number, []).append(number)
        self._set_addresses()
        self._control = np.zeros(code.NUM_CONTROL_NUMBERS, np.int64)
        self._set_control(values, starts)
        self._control[code.FRAME_BYTES] = frame_bytes
        self._control[code.COMMON_VERDICT] = code.USUAL if self._layouts else code.UNUSUAL
        tables = program.types, program.fields, program.enum_numbers
        self._tables = (*tables, self._state.reshape(-1), self._stack, self._control)
        self._decode = protobuf_decoder()
        for number in self._item_columns.get(-1, ()):
            self._resize_rows(number, len(values), 0)
        # Every column has memory, so that a message of few items needs no second decoding.
        for number in self._counted:
            self._resize(number, MIN_CAPACITY)

    def _set_addresses(self) -> None:
        counters = address(self._counters)
        for number, layout in enumerate(self._layouts):
            state = self._state[number]
            state[code.WIDTH] = layout.width
            if number in self._counted:
                state[code.COUNTER] = counters + self._counted[number] * code.COUNTER_BYTES
            if layout.list_number >= 0:
                state[code.LIST] = self._state[layout.list_number, code.COUNTER]

    def _set_control(self, values: pa.Array, starts: Starts | int) -> None:
        control, counters = self._control, address(self._counters)
        valid, offsets, content = values.buffers()
        if offsets is not None:
            control[code.OFFSET_ADDRESS] = offsets.address + OFFSET_BYTES * values.offset
        # Address 0 stands for a fault, so a column without bytes needs another one.
        control[code.CONTENT] = control[code.CONTENT_END] = address(control)
        if content is not None and content.size:
            control[code.CONTENT] = content.address
            control[code.CONTENT_END] = content.address + content.size
        if valid is not None:
            control[code.VALID_BITS], control[code.FIRST_BIT] = valid.address, values.offset
        if isinstance(starts, int):
            control[code.COMMON_START] = starts
        else:
            control[code.STARTS] = address(starts)
        bounds = value_offsets(values)
        self._content_bytes = int(bounds[-1]) - int(bounds[0])
        control[code.SPARE_BYTES] = max(MIN_OUTPUT_BYTES, OUTPUT_RATIO * self._content_bytes)
        control[code.NUM_ROWS] = len(values)
        control[code.VERDICTS] = address(self._verdicts)
        control[code.COLUMNS_END] = address(self._state) + len(self._layouts) * code.COLUMN_BYTES
        control[code.COUNTERS] = counters
        control[code.COUNTERS_END] = counters + len(self._counted) * code.COUNTER_BYTES

    def run(self, last_row: int) -> None:
        """Decode the values before *last_row* that are not decoded yet."""
        control = self._control
        control[code.LAST_ROW] = last_row
        addresses = [address(table) for table in self._tables]
        while self._decode(*addresses) == code.COLUMN_FULL:
            index = (int(control[code.FULL_COLUMN]) - addresses[3]) // code.COLUMN_BYTES
            needed = int(control[code.NEEDED])
            # The kernel counts what columns take against SPARE_BYTES before they grow.
            self._resize(index, needed + needed // 2)

    def reserve_for_all(self, num_rows: int) -> None:
        """Reserve memory for all values as the first *num_rows* have needed it, but no more than SPARE_BYTES.

        An item or a character has a byte in its message at least.
        """
        spare_bytes = max(int(self._control[code.SPARE_BYTES]), 0)
        for number, counter in self._counted.items():
            used = int(self._counters[counter, code.COUNT])
            total = used * self._num_values // num_rows * 9 // 8
            item_columns = self._item_columns.get(number, ())
            row_bytes = sum(self._layouts[one].row_bytes for one in item_columns)
            spare_rows = spare_bytes // max(row_bytes, 1)
            self._resize(number, min(total, used + spare_rows, max(used, self._content_bytes)))

    def _resize(self, number: int, capacity: int) -> None:
        """Provide memory for *capacity* bytes or items of the column *number*."""
        state, memory = self._state[number], self._memory[number]
        if capacity <= state[code.CAPACITY]:
            return
        used = int(self._counters[self._counted[number], code.COUNT])
        if self._layouts[number].kind == code.ITEMS:
            for item_column in self._item_columns[number]:
                self._resize_rows(item_column, capacity, used)
        else:
            larger = _buffers.allocate(capacity + code.SLACK)
            larger[:used] = memory.value_bytes[:used]
            memory.value_bytes = larger
            state[code.DATA] = address(larger)
        state[code.CAPACITY] = capacity

    def _resize_rows(self, number: int, num_rows: int, num_used: int) -> None:
        """Provide memory for *num_rows* of the column *number*, and keep the first *num_used*."""
        layout, memory, state = self._layouts[number], self._memory[number], self._state[number]
        if layout.kind == code.FIXED_WIDTH:
            memory.value_bytes = _zeroed(memory.value_bytes, num_rows, num_used, layout.width)
            state[code.DATA] = address(memory.value_bytes)
        elif layout.kind != code.NO_DATA:
            memory.value_offsets = _zeroed(
                memory.value_offsets, num_rows + 1, num_used + 1, OFFSET_BYTES
            )
            state[code.ENDS] = address(memory.value_offsets) + OFFSET_BYTES
        if layout.is_nullable:
            memory.validity = _zeroed(memory.validity, num_rows, num_used, 1)
            state[code.VALIDITY] = address(memory.validity)

    def filled_messages(self) -> FilledMessages:
        used = [0] * len(self._layouts)
        for number, counter in self._counted.items():
            used[number] = int(self._counters[counter, code.COUNT])
        rows = [
            self._num_values if layout.list_number < 0 else used[layout.list_number]
            for layout in self._layouts
        ]
        return FilledMessages(self._verdicts, self._memory, rows, used)


def _zeroed(memory: Bytes, num_rows: int, num_used: int, width: int) -> Bytes:
    """Return memory for *num_rows*, with SLACK after it, that begins with the first *num_used* of *memory*."""
    larger = _buffers.allocate_zeros(num_rows * width + code.SLACK)
    if len(memory):
        larger[: num_used * width] = memory[: num_used * width]
    return larger
