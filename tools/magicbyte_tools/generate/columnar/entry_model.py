"""Model of a format's log entries: the fields in the order of their bytes, and the columns they fill.

An entry is a header, whose numbers have fixed positions, and a payload. Either its rows are a list
in the payload (`-table`: v2 batches), or the entry is one row and a compressed entry contains
others (v0 and v1 messages). Every field is one variable of a kernel.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from magicbyte_tools.generate.columnar.arithmetic import Expression
from magicbyte_tools.generate.columns import TIMESTAMP

WIDTHS = {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4}
WIDTHS |= {"int64": 8, TIMESTAMP["ms"]: 8}
"""Bytes per value of the Arrow types of fixed width."""


@dataclass(frozen=True, slots=True)
class RowColumn:
    """Column of the rows, filled by a kernel."""

    name: str
    type: str
    var: str
    """Prefix of the column's variables in the kernel."""
    sentinel: int | None = None
    is_nullable: bool = False
    """True for byte strings that can be absent."""
    struct_table: "RowTable | None" = None
    """Table of the structs in a list column."""

    @property
    def is_bytes(self) -> bool:
        """True if the values are byte strings."""
        return self.type in ("binary", "string")

    @property
    def width(self) -> int:
        """Width of a value of the column in bytes."""
        return WIDTHS[self.type]

    @property
    def buffers(self) -> list[str]:
        """Roles of the state slots that the column needs."""
        if self.struct_table is not None:
            return ["offsets"]
        if not self.is_bytes:
            return ["data"] if self.sentinel is None else ["data", "nulls"]
        slots = ["offsets", "bytes", "capacity", "used"]
        slots += ["valid", "nulls"] if self.is_nullable else []
        return [*slots, "not_ascii"] if self.type == "string" else slots


@dataclass(frozen=True, slots=True)
class PerEntryColumn:
    """Column with the same value for all rows of an entry."""

    name: str
    type: str
    value: Expression
    sentinel: int | None
    condition: Expression | None
    """Condition for the value to exist; None: always."""


@dataclass(frozen=True, slots=True)
class RowTable:
    """Table: columns with the same number of rows."""

    name: str
    columns: list[RowColumn] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FieldNode:
    """Field of a log entry."""

    var: str
    """Variable of the kernel that holds the field."""
    spec_path: str


@dataclass(frozen=True, slots=True)
class NumberNode(FieldNode):
    """Field that is a number of fixed or variable width."""

    reader: str
    """Name of the primitive that reads the number."""
    most: int
    """Largest width, in bytes."""
    least: int
    """Smallest width, in bytes."""
    checks: tuple[str, ...] = ()
    """Comparisons that a valid number passes."""
    sentinel: int | None = None
    """Negative number that stands for an absent byte string; readers take lower ones for it, too."""
    condition: Expression | None = None
    """Condition for the field to exist; None: always."""
    constant: int | None = None
    """The only valid number, if there is only one."""
    column: RowColumn | None = None
    bits: tuple[tuple[str, int, int], ...] = ()
    """Bit fields in the number: name, shift and mask of each."""
    enums: tuple[tuple[str, tuple[tuple[int, str], ...]], ...] = ()
    """Kafka's names of the values of bit fields."""

    @property
    def writer_checks(self) -> tuple[str, ...]:
        """Comparisons that a number passes as writers write it."""
        if self.sentinel is None:
            return self.checks
        return (*self.checks, f"{self.var} >= 0 or {self.var} == {self.sentinel}")

    @property
    def is_varint(self) -> bool:
        """True if the width of the number varies."""
        return self.most != self.least


@dataclass(frozen=True, slots=True)
class BytesNode(FieldNode):
    """Field that is a byte string with a stated size."""

    size_expression: Expression
    condition: Expression | None
    column: RowColumn | None
    is_compressed: bool = False


@dataclass(frozen=True, slots=True)
class RegionNode(FieldNode):
    """Field that is a region of a stated size, filled exactly by the fields in it."""

    size_expression: Expression
    body: list[FieldNode]


@dataclass(frozen=True, slots=True)
class LoopNode(FieldNode):
    """Field that is a list with a stated number of elements."""

    count: Expression
    body: list[FieldNode]
    table: RowTable | None = None
    """Table whose rows the elements are, if they are rows."""
    column: RowColumn | None = None
    """List column that the elements fill, if they are part of a row."""
    derived: list[tuple[RowColumn, Expression]] = field(default_factory=list)
    """Columns that are computed for each row."""


@dataclass(frozen=True, slots=True)
class EntryModel:
    """Model of the log entries of one format: header, payload and columns."""

    name: str
    """Name of the specification."""
    header_numbers: list[tuple[int, NumberNode]]
    """Numbers of the header, with their positions."""
    len_header: int
    """Bytes of the header that every entry has."""
    size_expression: Expression
    """Bytes of the whole entry."""
    body: list[FieldNode]
    """Fields after the header."""
    table: RowTable
    entry_columns: list[PerEntryColumn]
    codec: Expression
    codec_names: tuple[tuple[int, str], ...]
    """Kafka's names of the codecs, by number."""
    checksum: tuple[str, str, int]
    """Algorithm, variable with the stored checksum, first covered byte. It covers the rest."""
    is_stream: bool
    """True if an entry is one row and a compressed entry contains others."""
    derived: list[tuple[RowColumn, Expression]] = field(default_factory=list)
    """Columns of a stream's rows that are computed."""

    @property
    def variables(self) -> list[NumberNode]:
        """Numbers of the header, in the order of their positions."""
        return [number for _, number in self.header_numbers]

    @property
    def rows(self) -> LoopNode | None:
        """List that contains the rows; None if the entry is a row."""
        loops = (node for node in self.body if isinstance(node, LoopNode))
        return next((loop for loop in loops if loop.table), None)

    @property
    def least_size(self) -> int:
        """Smallest size of a log entry in bytes, without its compressed bytes."""
        return self.len_header + (least(self.body) if self.is_stream else 0)

    @property
    def least_row(self) -> int:
        """Smallest size in bytes of a row in a payload."""
        return self.least_size if self.rows is None else max(1, least(self.rows.body))


def least(nodes: Sequence[FieldNode]) -> int:
    """Return the smallest size in bytes of the fields *nodes*."""
    total = 0
    for node in nodes:
        if isinstance(node, NumberNode) and node.condition is None:
            total += node.least
        elif isinstance(node, RegionNode):
            total += least(node.body)
    return total


def longest_run(nodes: Sequence[FieldNode]) -> int:
    """Return the most bytes of consecutive numbers in *nodes*; a kernel checks only their end."""
    longest = length = 0
    for node in nodes:
        if isinstance(node, NumberNode):
            length += node.most
            longest = max(longest, length)
            continue
        length = 0
        if isinstance(node, (RegionNode, LoopNode)):
            longest = max(longest, longest_run(node.body))
    return longest


def only_list(nodes: Sequence[FieldNode]) -> LoopNode | None:
    """Return the list among the fields *nodes* of a row; None if there are several or none."""
    lists: list[LoopNode] = []
    for node in nodes:
        if isinstance(node, LoopNode):
            lists.append(node)
        elif isinstance(node, RegionNode):
            lists += [node for node in node.body if isinstance(node, LoopNode)]
    return lists[0] if len(lists) == 1 else None


def condition_needs(field_node: FieldNode) -> frozenset[str]:
    """Return the variables in the condition of *field_node*."""
    condition = field_node.condition if isinstance(field_node, (NumberNode, BytesNode)) else None
    return condition.needs if condition is not None else frozenset()


def needed_variables(nodes: Sequence[FieldNode]) -> set[str]:
    """Return the kernel's variables that are needed to read *nodes* and to fill their columns."""
    needs: set[str] = set()
    for node in nodes:
        needs |= condition_needs(node)
        if isinstance(node, (BytesNode, RegionNode)):
            needs |= node.size_expression.needs
        if isinstance(node, LoopNode):
            needs |= node.count.needs
            for _, value in node.derived:
                needs |= value.needs
        if isinstance(node, (LoopNode, RegionNode)):
            needs |= needed_variables(node.body)
    return needs
