"""Runs the kernel for Avro over an Arrow array of values, and provides the memory that it fills."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar import _buffers
from magicbyte.engines.columnar import avro_program as code
from magicbyte.engines.columnar._buffers import EMPTY, Bytes, address
from magicbyte.engines.columnar.avro_program import AvroProgram
from magicbyte.engines.columnar.kernel_loader import avro_decoder
from magicbyte.errors import InputError
from magicbyte.tables.arrays import MAX_ARROW_OFFSET, OFFSET_BYTES

SAMPLE_ROWS = 512
"""Values decoded first: their sizes say how much memory all values need."""
MIN_CAPACITY = 1 << 10
"""Bytes of a column of byte strings, and rows of a list's items, that are allocated first."""
MIN_OUTPUT_BYTES = 256 << 20
OUTPUT_RATIO = 32
"""Memory of items and byte strings: at most MIN_OUTPUT_BYTES, and OUTPUT_RATIO bytes for each byte of the values.
A value that needs more gets a fault: few bytes can state many items of a wide record."""
MAX_VALUES_BYTES = 4 << 30
"""Memory of the columns that have a row for each value."""

FaultCodes = np.ndarray[tuple[int], np.dtype[np.int16]]
Positions = np.ndarray[tuple[int], np.dtype[np.int32]]
Starts = np.ndarray[tuple[int], np.dtype[np.int32]]


@dataclass(slots=True)
class AvroColumnMemory:
    """Memory of one column."""

    value_bytes: Bytes
    validity: Bytes
    """A byte for each row; empty if no row can be null."""
    value_offsets: Bytes
    """Arrow's offsets of byte strings or items."""


@dataclass(slots=True)
class FilledColumns:
    """Columns that the kernel has filled."""

    columns: list[AvroColumnMemory]
    counts: list[int]
    """Rows of each space."""
    used_bytes: list[int]
    """Bytes of the byte strings of each column."""
    fault_codes: FaultCodes
    fault_positions: Positions


def max_values(program: AvroProgram) -> int:
    """Return the most values that one call decodes."""
    return min(MAX_VALUES_BYTES // max(program.value_bytes, 1), MAX_ARROW_OFFSET - 1)


def fill_columns(program: AvroProgram, values: pa.Array, starts: Starts | int) -> FilledColumns:
    """Decode *values*, whose frames have *starts* bytes, by *program*.

    Raises InputError if there are too many values for the number of columns.
    """
    if len(values) > max_values(program):
        raise InputError(
            f"{len(values)} values of {len(program.columns)} columns",
            f"at most {max_values(program)} values in one call",
        )
    call = _AvroCall(program, values, starts)
    call.run(min(len(values), SAMPLE_ROWS))
    if len(values) > SAMPLE_ROWS:
        call.reserve_for_all(SAMPLE_ROWS)
        call.run(len(values))
    return call.filled_columns()


class _AvroCall:
    def __init__(self, program: AvroProgram, values: pa.Array, starts: Starts | int) -> None:
        self._program, self._num_values = program, len(values)
        self._decode = avro_decoder()
        self._fault_codes = np.zeros(len(values), np.int16)
        self._fault_positions = np.zeros(len(values), np.int32)
        self._constants = np.frombuffer(program.constants, np.uint8)
        self._stack = np.zeros(program.max_depth * code.FRAME_BYTES // 8 + 1, np.int64)
        self._control = np.zeros(code.NUM_CONTROL_NUMBERS, np.int64)
        self._state = np.zeros((len(program.columns), code.COLUMN_NUMBERS), np.int64)
        self._spaces = np.zeros((program.num_spaces, code.SPACE_NUMBERS), np.int64)
        self._referenced = values, starts
        self._set_control(values, starts)
        self._memory = [AvroColumnMemory(EMPTY, EMPTY, EMPTY) for _ in program.columns]
        for number, column in enumerate(program.columns):
            self._state[number, code.SPACE] = column.space
            self._state[number, code.WIDTH] = column.width
            self._state[number, code.KIND] = column.kind
        self._space_columns: list[list[int]] = [[] for _ in range(program.num_spaces)]
        for number, column in enumerate(program.columns):
            self._space_columns[column.space].append(number)
        self._row_bytes = [
            sum(program.columns[number].row_bytes for number in numbers)
            for numbers in self._space_columns
        ]
        self._byte_strings = [
            number
            for number, column in enumerate(program.columns)
            if column.kind == code.BYTE_STRINGS
        ]
        # Every column has memory, if only for no rows; more is refused where it is too much.
        for space in range(program.num_spaces):
            self._allocate_rows(space, 0 if space else len(values))
        for number in self._byte_strings:
            self._allocate_content(number, 0)
        self._reserve(lambda needed: MIN_CAPACITY)

    def _set_control(self, values: pa.Array, starts: Starts | int) -> None:
        valid, offsets, content = values.buffers()
        control = self._control
        offset_bytes = 8 if pa.types.is_large_binary(values.type) else OFFSET_BYTES
        control[code.OFFSET_BYTES] = offset_bytes
        if offsets is not None:
            control[code.OFFSET_ADDRESS] = offsets.address + offset_bytes * values.offset
        self._content_bytes = 0
        # Address 0 stands for a fault, so a column without contents needs another one.
        control[code.CONTENT] = control[code.CONTENT_END] = address(self._control)
        if content is not None and content.size:
            self._content_bytes = content.size
            control[code.CONTENT] = content.address
            control[code.CONTENT_END] = content.address + content.size
        if valid is not None:
            control[code.VALID_BITS], control[code.FIRST_BIT] = valid.address, values.offset
        if isinstance(starts, int):
            control[code.COMMON_START] = starts
        else:
            control[code.STARTS] = address(starts)
        control[code.FAULT_CODES] = address(self._fault_codes)
        control[code.FAULT_POSITIONS] = address(self._fault_positions)
        control[code.CONSTANTS] = address(self._constants)
        control[code.CONSTANTS_END] = address(self._constants) + len(self._constants)
        control[code.REFUSED_ROW] = -1
        control[code.NUM_COLUMNS] = len(self._program.columns)
        self._spare_bytes = max(MIN_OUTPUT_BYTES, OUTPUT_RATIO * self._content_bytes)
        self._spare_bytes += len(values) * code.DEFAULT_RATIO * self._program.default_bytes

    def run(self, last_row: int) -> None:
        """Decode the values before *last_row* that are not decoded yet."""
        control = self._control
        control[code.LAST_ROW] = last_row
        arguments = [
            address(part)
            for part in (
                *(self._program.instructions, self._program.table_numbers, self._state.reshape(-1)),
                *(self._spaces.reshape(-1), self._stack, control),
            )
        ]
        while (reason := self._decode(*arguments)) != code.DONE:
            index, needed = int(control[code.FULL_INDEX]), int(control[code.NEEDED])
            is_column = reason == code.COLUMN_FULL
            resize = self._resize_content if is_column else self._resize_space
            if not resize(index, needed + needed // 2) and not resize(index, needed):
                control[code.REFUSED_ROW] = control[code.NEXT_ROW]

    def reserve_for_all(self, num_rows: int) -> None:
        """Reserve memory for all values as the first *num_rows* have needed it; less if it would be too much."""

        def estimate(needed: int) -> int:
            total = needed * self._num_values // num_rows * 9 // 8
            defaults = self._num_values * self._program.default_bytes
            return min(total, max(needed, self._content_bytes + defaults))

        self._reserve(estimate)

    def _reserve(self, capacity: Callable[[int], int]) -> None:
        """Provide memory for items and byte strings; *capacity* computes it from the used memory of a column."""
        for space in range(1, self._program.num_spaces):
            self._resize_space(space, capacity(int(self._spaces[space, code.COUNT])))
        for number in self._byte_strings:
            self._resize_content(number, capacity(int(self._state[number, code.USED])))

    def _take(self, num_bytes: int) -> bool:
        """Return whether *num_bytes* more may be allocated, and count them."""
        if num_bytes > self._spare_bytes:
            return False
        self._spare_bytes -= num_bytes
        return True

    def _resize_content(self, number: int, capacity: int) -> bool:
        """Provide memory for *capacity* bytes in a column of byte strings; return False if it is too much."""
        present = int(self._state[number, code.CAPACITY])
        if capacity <= present:
            return True
        if capacity > MAX_ARROW_OFFSET or not self._take(capacity - present):
            return False
        self._allocate_content(number, capacity)
        return True

    def _allocate_content(self, number: int, capacity: int) -> None:
        state, memory = self._state[number], self._memory[number]
        memory.value_bytes = _resized(memory.value_bytes, capacity, int(state[code.USED]))
        state[code.DATA], state[code.CAPACITY] = address(memory.value_bytes), capacity

    def _resize_space(self, space: int, capacity: int) -> bool:
        """Provide memory for *capacity* rows of *space*; return False if it is too much."""
        present = int(self._spaces[space, code.SPACE_CAPACITY])
        if capacity <= present:
            return True
        if capacity >= MAX_ARROW_OFFSET:
            return False
        if not self._take((capacity - present) * self._row_bytes[space]):
            return False
        self._allocate_rows(space, capacity)
        return True

    def _allocate_rows(self, space: int, capacity: int) -> None:
        count = int(self._spaces[space, code.COUNT])
        for number in self._space_columns[space]:
            self._resize_column(number, self._program.columns[number], capacity, count)
        self._spaces[space, code.SPACE_CAPACITY] = capacity

    def _resize_column(
        self, number: int, layout: code.AvroColumnLayout, capacity: int, count: int
    ) -> None:
        memory, state = self._memory[number], self._state[number]
        if layout.kind == code.FIXED_WIDTH:
            memory.value_bytes = _resized(
                memory.value_bytes, capacity * layout.width, count * layout.width
            )
            state[code.DATA] = address(memory.value_bytes)
        elif layout.kind != code.NO_DATA:
            is_first = not len(memory.value_offsets)
            memory.value_offsets = _resized(
                memory.value_offsets, (capacity + 1) * OFFSET_BYTES, (count + 1) * OFFSET_BYTES
            )
            if is_first:
                memory.value_offsets[:OFFSET_BYTES] = 0
            state[code.OFFSETS] = address(memory.value_offsets)
        if layout.is_nullable:
            memory.validity = _resized(memory.validity, capacity, count)
            state[code.VALIDITY] = address(memory.validity)

    def filled_columns(self) -> FilledColumns:
        counts = self._spaces[:, code.COUNT].tolist()
        counts[0] = self._num_values
        return FilledColumns(
            self._memory,
            counts,
            self._state[:, code.USED].tolist(),
            self._fault_codes,
            self._fault_positions,
        )


def _resized(memory: Bytes, num_bytes: int, num_used: int) -> Bytes:
    """Return memory of *num_bytes*, with SLACK after it, that begins with the first *num_used* of *memory*."""
    larger = _buffers.allocate(num_bytes + code.SLACK)
    if len(memory):
        larger[:num_used] = memory[:num_used]
    return larger
