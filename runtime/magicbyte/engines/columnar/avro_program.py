"""The program that a compiled kernel runs over Avro values: instructions, columns and faults as numbers.

An Avro schema becomes a list of instructions. The kernel runs them over each value, and fills the buffers of
Arrow columns. It imports no Numba.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]


class Fault(IntEnum):
    """Reasons why a value does not decode."""

    NONE = 0
    ENDS_EARLY = 1
    LEFT_OVER = 2
    LONG_VARINT = 3
    INT_RANGE = 4
    BOOLEAN = 5
    LENGTH = 6
    UTF8 = 7
    UNION_BRANCH = 8
    ENUM_INDEX = 9
    BLOCK_COUNT = 10
    EMPTY_ITEMS = 11
    OUTPUT_LIMIT = 12
    DECIMAL_DIGITS = 13
    DECIMAL_EMPTY = 14
    TIME_OF_DAY = 15
    DURATION = 16
    NO_READER_BRANCH = 17
    NO_READER_SYMBOL = 18
    DEPTH = 19
    FRAME = 20


# Instructions: OPERATION, COLUMN, then operands by operation. A column of -1 skips the field.

OPERATION, COLUMN, A, B, C = range(5)
INSTRUCTION_NUMBERS = 5
INSTRUCTION_BYTES = 8 * INSTRUCTION_NUMBERS

BOOLEAN, INT, LONG, FIXED, BYTES, ENUM, FLOAT_AS_DOUBLE = range(7)
"""INT, LONG: A is the form of the number in the column, B the number that it must be below, or 0.
FIXED: A bytes are copied, also float and double. BYTES: A is 1 for UTF-8. ENUM: A is the entry of the table
where the reader's symbol of the writer's first one is, B their number."""
DECIMAL, DECIMAL_TEXT, UUID, DURATION = range(7, 11)
"""DECIMAL, DECIMAL_TEXT: A is the size, -1 if it is in the value; B is the entry of the table where the largest
and the least number begin. Each has C words, the lowest first, or C bytes, the highest first."""
LAST_SCALAR = DURATION
END, VALID, ABSENT, NULLABLE, UNION = range(11, 16)
"""VALID: the column has a value here. ABSENT: all columns from COLUMN to before A are null here.
NULLABLE: a union of null, its branch number C, and one other; A as in ABSENT, B is the instruction after the other.
UNION: A is the entry of the table where the instructions of the branches begin, B their number."""
LIST, LIST_NEXT, JUMP, FAULT, CONSTANT, CONSTANT_END = range(16, 22)
"""LIST: A is the space of the items, B the instruction after LIST_NEXT, C the least bytes of an item.
LIST_NEXT: A is the instruction LIST. JUMP: to instruction A. FAULT: A is the fault.
CONSTANT: the instructions until CONSTANT_END read B bytes of the constants from byte A on."""

AS_INT32, AS_INT64, AS_FLOAT, AS_DOUBLE = range(4)
"""Forms of a number in a column."""

# Columns, as the kernel sees them. A space is a number of rows that columns share: the values, or the items of
# a list. The kernel writes each column once for each row of its space.

DATA, VALIDITY, OFFSETS, USED, CAPACITY, SPACE, WIDTH, KIND = range(8)
"""Addresses of the buffers, with a byte for each row in VALIDITY, or 0; bytes used and available in DATA of a
column of byte strings; the space; bytes of a row, or, of a list, the space of its items."""
COLUMN_NUMBERS = 8
COLUMN_BYTES = 8 * COLUMN_NUMBERS

NO_DATA, FIXED_WIDTH, BYTE_STRINGS, ITEMS = range(4)
"""Kinds of columns: structs and nulls, values of WIDTH bytes, byte strings, lists."""

COUNT, SPACE_CAPACITY, START = range(3)
"""Rows of a space that are written, and that there is memory for; rows when the value began."""
SPACE_NUMBERS = 3
SPACE_BYTES = 8 * SPACE_NUMBERS

FRAME_BYTES = 16
"""Bytes of the stack for each list that an instruction is in: the row of the list, and the items left."""

# Control block of a call.

OFFSET_ADDRESS, OFFSET_BYTES, CONTENT, CONTENT_END = range(4)
"""Address of the offsets of the values, bytes of an offset, addresses of the first byte and of the byte after the
last one of all values."""
VALID_BITS, FIRST_BIT, STARTS, COMMON_START = range(4, 8)
"""Address of the validity bitmap of the values, or 0, and the bit of the first one; address of the lengths of the
frames, as int32, or 0, and the length of all frames where it is 0."""
FAULT_CODES, FAULT_POSITIONS, CONSTANTS, CONSTANTS_END = range(8, 12)
"""Addresses of the faults (int16) and their positions (int32), of the constants and of the byte after them."""
NEXT_ROW, LAST_ROW, REFUSED_ROW, NUM_COLUMNS = range(12, 16)
"""Row to go on with, row to end before; row that gets the fault OUTPUT_LIMIT, or -1."""
FAULT_ADDRESS, EMPTY_ITEMS, FULL_INDEX, NEEDED = range(16, 20)
"""Address of the byte at which the last fault begins; items without bytes so far in the value; column or space
that lacks memory, and the bytes or rows that it needs."""
NUM_CONTROL_NUMBERS = 20

DONE, COLUMN_FULL, SPACE_FULL = range(3)
"""Results of the kernel."""

SLACK = 64
"""Bytes that a copy may read or write after its end."""
MAX_EMPTY_ITEMS = 1024
"""Items without bytes, such as nulls, in one value: a count of them costs nothing to state."""


DEFAULT_RATIO = 16
"""Bytes in columns for a byte of an encoded default, at most: a decimal of one byte is the largest."""


@dataclass(frozen=True, slots=True)
class AvroColumnLayout:
    """Buffers of one column."""

    kind: int
    space: int
    width: int = 0
    """Bytes of a row; for a list the space of its items."""
    is_nullable: bool = False

    @property
    def row_bytes(self) -> int:
        """Bytes of memory for each row, without the contents of byte strings."""
        content = {FIXED_WIDTH: self.width, BYTE_STRINGS: 4, ITEMS: 4}.get(self.kind, 0)
        return content + self.is_nullable


@dataclass(frozen=True, slots=True)
class AvroProgram:
    """Instructions, and the columns that they fill."""

    instructions: Numbers
    table_numbers: Numbers
    """Instructions of branches, numbers of symbols, bounds of decimals."""
    constants: bytes
    """Defaults of the reader's fields, encoded, and SLACK bytes."""
    columns: tuple[AvroColumnLayout, ...]
    """Columns, each before those that it contains. The first one is the value, and nullable."""
    num_spaces: int
    max_depth: int
    """Lists inside of lists."""
    default_bytes: int = 0
    """Bytes of the encoded defaults that each value has."""

    @property
    def value_bytes(self) -> int:
        """Bytes of memory for each value, without its list items and the contents of its byte strings."""
        rows = sum(column.row_bytes for column in self.columns if column.space == 0)
        return rows + DEFAULT_RATIO * self.default_bytes
