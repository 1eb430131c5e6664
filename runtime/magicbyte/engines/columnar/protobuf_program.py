"""The tables that a compiled kernel checks Protobuf messages by: message types, fields and enums as numbers.

The kernel walks the wire format of each message, and says which messages are usual: each field has its own wire
type, fields that are not repeated occur once, of a oneof one, map entries have key and value, and closed enums have
numbers that they know. Usual messages mean the same to every decoder. It imports no Numba.
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

NUMBER, KIND, SEEN, INNER, INNER_END, ITEM_BYTES = range(6)
"""NUMBER on the wire. SEEN: bit of the field, or of its oneof; -1 if it is repeated. INNER: type of a message, or
entry of the enums where the numbers of a closed enum begin, and INNER_END where they end. ITEM_BYTES: bytes that an
item of a repeated field takes in columns, without the bytes of its text."""
FIELD_NUMBERS = 6
FIELD_BYTES = 8 * FIELD_NUMBERS

VARINT, FIXED64, BYTES, GROUP, CLOSED_ENUM, FIXED32, MESSAGE = range(7)
"""Kinds of fields: those up to GROUP, and FIXED32, are the wire types themselves."""

# Stack: a frame for each message that the walk is in.

FRAME_END, FRAME_GROUP, FRAME_FIRST, FRAME_LAST, FRAME_CURSOR, FRAME_NEEDED, FRAME_SEEN = range(7)
"""Address after the last byte; number of the group, or 0; entries of the first field, after the last one, and of the
field that was found last; bits that are needed; from FRAME_SEEN on the bits of fields."""
MAX_DEPTH = 100
"""Messages inside of messages: google.protobuf refuses more."""

# Control block.

OFFSET_ADDRESS, CONTENT, NUM_ROWS, VERDICTS = range(4)
"""Addresses of the offsets (int32) and of the bytes of the messages, their number, address of a byte for each."""
SPARE_BYTES, FRAME_BYTES, COMMON_VERDICT = range(4, 7)
"""Bytes that columns may take; bytes of a frame of the stack; least verdict of all messages."""
NUM_CONTROL_NUMBERS = 7

USUAL, UNUSUAL, TOO_LARGE = range(3)
"""Verdicts: every decoder decodes the message alike; Protobuf's own library decides about it; its columns would
need more memory than is left."""
OBJECT_RATIO = 8
"""Bytes of Python objects for each byte of a column: Protobuf's own library makes objects."""


@dataclass(frozen=True, slots=True)
class ProtobufProgram:
    """Tables of one message type, and of the types in it."""

    types: Numbers
    fields: Numbers
    enum_numbers: Numbers
    """Numbers of closed enums, ascending in each."""
    num_seen_words: int
    """Words of the bits of SEEN of the type that has most."""
