"""The program that a compiled kernel runs over Protobuf messages: message types, fields, enums and columns as numbers.

The kernel walks the wire format of each message, and fills the buffers of Arrow columns as it goes. It decodes usual
messages: each field has its own wire type, fields that are not repeated occur once, of a oneof one, map entries have
key and value, and closed enums have numbers that they know. Protobuf's own library decides about all others, which
leave nothing in the columns. It imports no Numba.
"""

from dataclasses import dataclass

import numpy as np

Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]

# Message types. The first one is the type of the values.

FIRST_FIELD, END_FIELD, NUM_NEEDED = range(3)
"""Entries of the fields, by ascending number, from FIRST_FIELD to before END_FIELD; bits of SEEN that each message
needs: 2 of a map entry, else 0."""
TYPE_NUMBERS = 3
TYPE_BYTES = 8 * TYPE_NUMBERS

# Fields.

NUMBER, KIND, SEEN, INNER, INNER_END, ITEM_BYTES, FORM, COLUMN = range(8)
"""NUMBER on the wire. SEEN: bit of the field, or of its oneof; -1 if it is repeated. INNER: type of a message, or
entry of the enums where the numbers of a closed enum begin, and INNER_END where they end. ITEM_BYTES: bytes that an
item of a repeated field takes in columns, without the bytes of its text. FORM of a value in its column. COLUMN: byte
of the columns where the column begins; a repeated field has the column of its lists, and its items are in the next one."""
FIELD_NUMBERS = 8
FIELD_BYTES = 8 * FIELD_NUMBERS

VARINT, FIXED64, BYTES, GROUP, CLOSED_ENUM, FIXED32, MESSAGE, TIME = range(8)
"""Kinds of fields: those up to GROUP, and FIXED32, are the wire types themselves. TIME: a message of seconds and
nanoseconds that is one number."""

AS_INT64, AS_INT32, AS_BOOLEAN, FROM_ZIGZAG64, FROM_ZIGZAG32, AS_BINARY, AS_TEXT = range(7)
"""Forms of varints and of bytes. Other kinds have one form."""

# Columns. Their rows are the values, or the items of a list. Their memory is zero where the kernel has not written.

DATA, VALIDITY, ENDS, COUNTER, CAPACITY, WIDTH, LIST = range(7)
"""Addresses of the values, of a byte for each row, or 0, and of Arrow's offsets after the first one, or 0; address of
the counter of bytes or items, and how many there is memory for; bytes of a row; LIST: address of the counter of the
items that are the rows, or 0 where each value has a row."""
COLUMN_NUMBERS = 8  # a line of the processor's cache; the last one is not used
COLUMN_BYTES = 8 * COLUMN_NUMBERS

COUNT, START = range(2)
"""Numbers of a counter: bytes or items that are used, and how many were when the message began."""
COUNTER_NUMBERS = 2
COUNTER_BYTES = 8 * COUNTER_NUMBERS

NO_DATA, FIXED_WIDTH, BYTE_STRINGS, ITEMS = range(4)
"""Kinds of columns: structs, values of WIDTH bytes, byte strings, lists."""

# Stack: a frame for each message that the walk is in.

FRAME_END, FRAME_GROUP, FRAME_FIRST, FRAME_LAST, FRAME_CURSOR, FRAME_NEEDED = range(6)
"""Address after the last byte; number of the group, or 0; entries of the first field, after the last one, and of the
field that was found last; bits that are needed."""
FRAME_ROW, FRAME_SEEN = 6, 7
"""Row of the message in its columns; from FRAME_SEEN on the bits of fields."""
MAX_DEPTH = 100
"""Messages inside of messages: google.protobuf refuses more."""

# Control block.

OFFSET_ADDRESS, CONTENT, CONTENT_END, VALID_BITS, FIRST_BIT, STARTS, COMMON_START = range(7)
"""Address of the offsets (int32) of the values, addresses of the first byte and of the byte after the last one of all
values; address of the validity bitmap of the values, or 0, and the bit of the first one; address of the lengths of
the frames, as int32, or 0, and the length of all frames where it is 0."""
NEXT_ROW, LAST_ROW, NUM_ROWS, VERDICTS = range(7, 11)
"""Row to go on with, row to end before, rows of all values; address of a byte for each verdict."""
SPARE_BYTES, FRAME_BYTES, COMMON_VERDICT = range(11, 14)
"""Bytes that columns may take; bytes of a frame of the stack; least verdict of all messages."""
COLUMNS_END, COUNTERS, COUNTERS_END, FULL_COLUMN, NEEDED = range(14, 19)
"""Address after the columns; addresses of the first counter and after the last one; address of the column that lacks
memory, and the bytes or items that it needs."""
NUM_CONTROL_NUMBERS = 19

USUAL, UNUSUAL, TOO_LARGE, NULL = range(4)
"""Verdicts: the kernel decodes the message; Protobuf's own library decides about it; its columns would need more
memory than is left; there is no message."""
NO_MEMORY = 4
"""Verdict on a message that is decoded again once its column has more memory."""
DONE, COLUMN_FULL = range(2)
"""Results of the kernel."""
OBJECT_RATIO = 8
"""Bytes of Python objects for each byte of a column: Protobuf's own library makes objects."""
SLACK = 64
"""Bytes that a copy may read or write after its end."""


@dataclass(frozen=True, slots=True)
class ProtobufColumnLayout:
    """Buffers of one column."""

    kind: int
    list_number: int
    """Number of the column whose items are the rows; -1 for a row of each value."""
    width: int = 0
    """Bytes of a row."""
    is_nullable: bool = False

    @property
    def row_bytes(self) -> int:
        """Bytes of memory for each row, without the contents of byte strings."""
        content = {FIXED_WIDTH: self.width, BYTE_STRINGS: 4, ITEMS: 4}.get(self.kind, 0)
        return content + self.is_nullable


@dataclass(frozen=True, slots=True)
class ProtobufProgram:
    """Tables of one message type, and of the types in it."""

    types: Numbers
    fields: Numbers
    enum_numbers: Numbers
    """Numbers of closed enums, ascending in each."""
    num_seen_words: int
    """Words of the bits of SEEN of the type that has most."""
    columns: tuple[ProtobufColumnLayout, ...]
    """Columns, each before those that it contains. The first one is the value. There is none if messages become objects."""
