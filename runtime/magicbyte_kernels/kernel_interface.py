"""Types and constants that generated kernels share with the engine that calls them. Imports no Numba.

A *descriptor* is a row of int64 numbers about one log entry: its frame, then the numbers of its
header. A *state* is an array of int64 slots: addresses and counters of the column buffers.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

ABSENT = -(1 << 63)
"""Descriptor value of a header field that the entry does not have."""

DESCRIPTOR_FIELDS = ("position", "size", "start", "end", "rows", "nested")
"""First numbers of every descriptor; the numbers of the header follow.

`position` counts from the start of the buffer, `start` and `end` are addresses of the payload,
`nested` is 1 for a decompressed message set.
"""
POSITION, SIZE, START, END, ROWS, NESTED = range(len(DESCRIPTOR_FIELDS))

COPIED, VIEWED = 1, 2
"""Modes of a requested column: values copied into one buffer, or Arrow views of the input."""

LEN_VIEW = 16
"""Bytes of an Arrow view."""

STATE_SLOTS = (
    "stop_reason",
    *("stop_row", "stop_position", "stop_element", "stop_element_position"),
    "is_lenient",
    *("num_negative", "negative_row", "negative_position", "last_negative_row", "negative_before"),
)
"""First slots of every decoder's state. `stop_reason`: why it stopped. `stop_row`, `stop_position`: valid
rows of the entry at which it stopped, and the byte of its payload after them; `stop_element` and
`stop_element_position` the same for the elements of a list in the next row, 0 if it has read none.

With `is_lenient`, which the caller sets, lengths below their sentinel are null instead of a stop; the
others count them: `num_negative`, row and position of the first, the last row that has one, and how many
are before that row. The caller resets them.
"""
STOP_REASON, STOP_ROW, STOP_POSITION, STOP_ELEMENT, STOP_ELEMENT_POSITION = range(5)
IS_LENIENT, NUM_NEGATIVE, NEGATIVE_ROW, NEGATIVE_POSITION = range(5, 9)
LAST_NEGATIVE_ROW, NEGATIVE_BEFORE = range(9, 11)

DONE, BUFFER_FULL, UNWRITABLE = range(3)
"""Stop reasons. DONE: done, or entry not supported; BUFFER_FULL: a buffer has no capacity left; UNWRITABLE:
a value does not fit the number that the format has for it."""


class KernelColumn(NamedTuple):
    """Column that a kernel fills, with the state slots of the column's buffers."""

    name: str
    type: str
    """Arrow type, as text."""
    width: int
    """Bytes per value; 0 for byte strings and lists."""
    sentinel: int | None
    """Stored number that stands for null."""
    is_nullable: bool
    """True for byte strings that can be absent."""
    slots: dict[str, int]
    """State slots by role.

    Numbers: `data`, and `nulls` if there is a sentinel. Byte strings: `offsets`, `bytes`, `capacity`,
    `used`, and if applicable `valid` (one byte per value), `nulls`, `not_ascii`. Lists: `offsets`.
    """
    members: "KernelTable | None"
    """Columns of the structs in a list column; None for other columns."""


class KernelTable(NamedTuple):
    """Columns of one table, with the state slots for its number of rows and its capacity."""

    columns: tuple[KernelColumn, ...]
    rows: int
    """Slot of the number of rows decoded so far."""
    capacity: int
    """Slot of the number of rows that the buffers can hold."""


class SourceColumn(NamedTuple):
    """Column that an encode kernel reads, with the indices of its numbers in the kernel's source array."""

    name: str
    type: str
    """Arrow type, as text."""
    sentinel: int | None
    """Number that is written for null; None if null cannot be written as a number."""
    slots: dict[str, int]
    """Indices by role.

    Numbers: `data`. Byte strings: `offsets`, `bytes`, `end` (the address after the buffer) and, if they can
    be null, `valid`, `first_bit`. Lists: `offsets`, `valid`, `first_bit`. `valid` is the address of Arrow's
    validity bitmap, 0 if no value is null; `first_bit` is the bit of the first value.
    """
    struct_columns: "tuple[SourceColumn, ...]"
    """Columns of the structs in a list column."""


class EntryColumn(NamedTuple):
    """Column with the same value for all rows of a log entry."""

    name: str
    type: str
    at: int
    """Index of the column's value in the descriptor of an entry."""
    sentinel: int | None
    is_nullable: bool
    """True if an entry may lack it; the descriptor then holds `ABSENT`."""
    words: dict[int, str]
    """Text of each number, for a text column."""


class Signature(NamedTuple):
    """Types of a kernel's results and arguments: int64 numbers and C-contiguous int64 arrays."""

    results: int
    """Number of int64 results."""
    dimensions: tuple[int, ...]
    """Dimensions of each argument; 0 for a number."""


SIGNATURES = {
    "scan": Signature(2, (0, 0, 0, 0, 0, 2)),
    "verify": Signature(1, (0, 2, 0, 0)),
    "sections": Signature(0, (2, 1)),
    "decode": Signature(1, (2, 0, 0, 1)),
    "encode": Signature(3, (1, 0, 0, 2, 0, 0, 0, 0)),
}
"""Signatures of a format's kernels, by name."""


class Description(Protocol):
    """Generated module that describes a format's kernels, so that callers need not import Numba."""

    NAMES: dict[str, int]
    """Index of each number in a descriptor, by name."""
    WIDTH: int
    """Numbers in a descriptor."""
    STATE: int
    """Slots in a state."""
    MODES: tuple[int, ...]
    """State slots with the mode of each column of TABLE."""
    SLACK: int
    """Bytes that must be readable after a payload and writable after the bytes of a column."""
    LEAST_ROW: int
    """Fewest bytes that a row has in the payload."""
    IS_STREAM: bool
    """True if an entry is one row and a compressed entry contains others (v0 and v1 messages)."""
    CODECS: dict[int, str]
    """Kafka's names of the codecs, by number."""
    TABLE: KernelTable
    ENTRY_COLUMNS: tuple[EntryColumn, ...]
    SOURCE: tuple[SourceColumn, ...]
    """Columns that the encode kernel reads."""
    SOURCE_SLOTS: int
    """Numbers in its source array."""


class Kernels(Protocol):
    """Generated module with the kernels of a format. Importing it imports Numba."""

    @staticmethod
    def scan(
        address: int, length: int, max_entries: int, max_bytes: int, verify: bool, desc: Any
    ) -> tuple[int, int]:
        """Fill descriptors of consecutive entries; return their number and their total bytes.

        Stops before the first entry that is incomplete, is not of this format, is larger than
        *max_bytes* or, with *verify*, has a wrong checksum.
        """

    @staticmethod
    def verify(address: int, desc: Any, first: int, last: int) -> int:
        """Return the first of the entries [first, last) whose checksum is wrong, or *last*.

        *address* is the address of the buffer that the descriptors' positions refer to.
        """

    @staticmethod
    def sections(desc: Any, entries: Any) -> None:
        """Narrow `start` and `size` of *entries* to their compressed bytes; size 0 if there are none."""

    @staticmethod
    def decode(desc: Any, first: int, last: int, slots: Any) -> int:
        """Fill columns of TABLE from the entries [first, last); *slots*, the state, has each column's mode.

        Each mode is 0 (column not requested), COPIED, or, for `binary` columns of TABLE itself,
        VIEWED. The `offsets` buffer of a VIEWED column receives Arrow views, whose offsets count
        from the address in slot `bytes`.

        Returns the index of the entry at which it stopped, or *last*; the state then contains the rows
        of the entries before it. Slot STOP_REASON is BUFFER_FULL if a buffer cannot hold the entry, else
        STOP_ROW and the slots after it say where it has stopped. The caller guarantees that addresses and
        sizes in descriptors and state refer to existing memory.
        """

    @staticmethod
    def encode(
        addresses: Any,
        first: int,
        last: int,
        desc: Any,
        most: int,
        is_estimated: int,
        to: int,
        end: int,
    ) -> tuple[int, int, int]:
        """Write the rows from *first* on to address *to*, as bytes of one entry's payload or as messages.

        *addresses* locate Arrow's buffers, as SOURCE numbers them. Row 0 of *desc* is the header
        that the rows belong to. A row after the first one is written only if the payload stays within
        *most* bytes by `encode_kernels.has_room`, to which *is_estimated* is passed, and if the header's
        numbers allow it. Every write ends before address *end*, SLACK included.

        Returns the row after the last one written, the address after its bytes, and why it stopped: DONE,
        BUFFER_FULL, or UNWRITABLE if the format has no number for row *first*.
        """

    @staticmethod
    def write_header(p: int, size: int, num_rows: int, desc: Any) -> None:
        """Write the header of an entry of *size* bytes at *p*, whose payload is there, with its checksum.

        The numbers are in row 0 of *desc*; size, number of rows and checksum are computed.
        """

    @staticmethod
    def decoder(*modes: int) -> Callable[[Any, int, int, Any], int]:
        """Return a `decode` for these modes alone, which does not read them from the state."""


class RowFileModule(Protocol):
    """Generated module that reads a file of fixed-width rows, such as an index."""

    TABLE: str
    """Name of the table in `magicbyte_formats.wire.COLUMNS` that the rows belong to."""
    HEADER: Any
    """NumPy type of the bytes before the rows."""
    ROW: Any
    """NumPy type of a row; a field that is a column has the column's name."""

    def rows(self, data: bytes) -> Any:
        """Return the rows of *data*, a whole file, up to the first invalid one.

        Numbers are returned as stored. Nothing is copied.
        """
