# Written by tools/magicbyte_tools/generate. Do not edit: `make generate`.
"""What turns bytes into columns, a module for each format.

Of entries, whose rows are of any width, there are kernels, whose module imports Numba, and what is to
be known of them without it. Of files whose rows are all of one width there is what a row is made of,
which takes NumPy alone.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol


ABSENT = -9223372036854775808
"""What a descriptor holds for a number that is not there."""

COPIED, VIEWED = 1, 2
"""How a column is wanted: its bytes in one place, or where they lie."""

LEN_VIEW = 16
"""Bytes of one of Arrow's views."""

WHY, SOURCE = 0, 1
"""Slots of the state of every kernel that decodes."""

FULL, UNSOUND = 1, 2
"""Why a kernel stopped, where that is not that it does not take the entry."""


class Column(NamedTuple):
    """A column of the rows, and the slots of a kernel's state that are about it."""

    name: str
    type: str
    """Arrow's type, as text."""
    width: int
    """Bytes of a value; 0 where the values are bytes or lists."""
    sentinel: int | None
    """The stored number that stands for null."""
    is_nullable: bool
    """Of bytes: whether they can be absent."""
    slots: dict[str, int]
    """Of numbers `data` and, where there is a sentinel, `nulls`; of bytes `offsets`, `bytes`, `room`,
    `used` and what applies of `valid` (a byte for each value), `nulls`, `not_ascii`; of a list
    `offsets`."""
    members: "Table | None"
    """Of a list: its structs."""


class Table(NamedTuple):
    """Rows, and the slots that count them."""

    columns: tuple[Column, ...]
    rows: int
    room: int
    """Rows that there is place for."""


class EntryColumn(NamedTuple):
    """A column that is the same for all rows of an entry."""

    name: str
    type: str
    at: int
    """The number of the descriptor that it is."""
    sentinel: int | None
    is_nullable: bool
    """Whether an entry may lack it; the descriptor then holds ABSENT, which else is a number."""
    words: dict[int, str]
    """Of text: what the numbers stand for."""


class Signature(NamedTuple):
    """What a kernel returns and takes: 64-bit integers, and arrays of them without gaps."""

    results: int
    """How many integers it returns."""
    dimensions: tuple[int, ...]
    """Those of each argument; an integer has none."""


SIGNATURES = {
    "scan": Signature(2, (0, 0, 0, 0, 0, 2)),
    "describe": Signature(0, (0, 0, 1, 2)),
    "verify": Signature(1, (0, 2, 0, 0)),
    "sections": Signature(0, (2, 1)),
    "decode": Signature(1, (2, 0, 0, 1)),
}
"""Of the kernels of a format; `decode` is what `decoder` returns."""


class Description(Protocol):
    """What the module of a format of entries has."""

    NAMES: dict[str, int]
    """The numbers of a descriptor, by name: where the entry is, and its header."""
    WIDTH: int
    """Numbers of a descriptor."""
    STATE: int
    """Numbers of a state."""
    SLACK: int
    """Bytes that must be readable behind a payload, and writable behind bytes of a column."""
    LEAST_ROW: int
    """The fewest bytes of a row."""
    IS_STREAM: bool
    """Whether an entry is a row, and a compressed one holds others."""
    CODECS: dict[int, str]
    TABLE: Table
    ENTRY_COLUMNS: tuple[EntryColumn, ...]


class Kernels(Protocol):
    """What the module of a format's kernels has, beside it: it imports Numba."""

    @staticmethod
    def scan(
        address: int, length: int, stop: int, most_bytes: int, verify: bool, desc: Any
    ) -> tuple[int, int]:
        """Describe entries that lie back to back; return how many, and the bytes of them.

        Ends before the first that is not whole, is not of this format, has over *most_bytes*
        or, where it is to *verify* that, not the checksum that it states.
        """

    @staticmethod
    def describe(address: int, length: int, positions: Any, desc: Any) -> None:
        """Describe the entries at *positions*; what is none has the size 0."""

    @staticmethod
    def verify(address: int, desc: Any, first: int, last: int) -> int:
        """Return the first of the entries [first, last) whose checksum is wrong, or *last*.

        They lie as described in the bytes at *address*.
        """

    @staticmethod
    def sections(desc: Any, chosen: Any) -> None:
        """Narrow the *chosen* entries to their compressed bytes; what has none has the size 0."""

    @staticmethod
    def decoder(*wanted: int) -> Callable[[Any, int, int, Any], int]:
        """Return the kernel that fills the *wanted* columns from the entries [first, last).

        Each is 0, COPIED, or, of `binary` columns of TABLE itself, VIEWED: then what is at
        `offsets` are Arrow's views, which count from the address at `bytes`.

        The kernel returns the entry at which it stopped, or *last*. The slot WHY of the state
        then says whether it is FULL, so that it has no room for that entry, or that one is
        UNSOUND: the slot SOURCE is the address of the bytes in which entries lie whose checksums
        are to be verified first, or 0. What is before it stands; whether sizes and places are
        those of memory that is there, the caller answers for.
        """


class Rows(Protocol):
    """What each module of a file of rows has."""

    TABLE: str
    """The table that they are rows of, whose columns `magicbyte_formats.wire` has."""
    HEADER: Any
    """NumPy's type of what precedes the rows."""
    ROW: Any
    """NumPy's type of a row. A field that is a column bears its name."""

    def rows(self, data: bytes) -> Any:
        """Return the rows of *data*, a whole file, up to the first that is none.

        Numbers are as they are stored. Nothing is copied.
        """
