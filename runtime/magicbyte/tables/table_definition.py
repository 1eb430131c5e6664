"""Definitions of tables: columns with their Arrow types and meanings."""

import re
from dataclasses import dataclass, field

import pyarrow as pa

from magicbyte.errors import InputError

TIME = pa.timestamp("ms", tz="UTC")
INT32, INT64, STRING = pa.int32(), pa.int64(), pa.string()


@dataclass(frozen=True, slots=True)
class ColumnDefinition:
    """A column: name, Arrow type and meaning."""

    name: str
    type: pa.DataType
    sentence: str


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table: its columns, and the default ones."""

    name: str
    row: str
    """Meaning of one row, in a few words."""
    columns: tuple[ColumnDefinition, ...]
    default: tuple[str, ...]
    """Columns that a read returns if none are named."""
    names: tuple[str, ...]
    fields: dict[str, pa.Field] = field(repr=False, compare=False)
    """Arrow fields by column name."""
    never_null: frozenset[str] = frozenset()
    """Columns that have a value in every row; for others a null may occur."""

    def schema(self, columns: tuple[str, ...] | None = None) -> pa.Schema:
        """Return the Arrow schema of *columns*; default: the default columns."""
        return pa.schema(list(map(self.fields.__getitem__, columns or self.default)))

    def check(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Return *columns*; InputError names the first that this table does not have."""
        for name in columns:
            if name not in self.names:
                raise InputError(
                    f"the table {self.name} has no column {name!r}",
                    f"some of {', '.join(self.names)}",
                )
        return columns


def arrow_type(text: str) -> pa.DataType:
    """Parse *text*, an Arrow type as the specification writes it."""
    if match := re.fullmatch(r"timestamp\[(\w+), tz=(\w+)\]", text):
        return pa.timestamp(match[1], tz=match[2])
    if match := re.fullmatch(r"list<struct<(.*)>>", text):
        fields = [field.split(": ") for field in match[1].split(", ")]
        return pa.list_(pa.struct([(name, arrow_type(kind)) for name, kind in fields]))
    return pa.type_for_alias(text)


def define_table(
    name: str,
    row: str,
    *columns: tuple[str, pa.DataType, str],
    num_default: int | None = None,
    never_null: str = "",
) -> TableDefinition:
    """Return a table of *columns*; by default a read returns the first *num_default* ones (None: all).

    *never_null* are the names of columns that have a value in every row, separated by blanks.
    """
    names = tuple(column for column, *_ in columns)
    assert set(never_null.split()) <= set(names)
    return TableDefinition(
        name,
        row,
        tuple(ColumnDefinition(*column) for column in columns),
        names[:num_default],
        names,
        {column: pa.field(column, type_) for column, type_, _ in columns},
        frozenset(never_null.split()),
    )


TOPIC = ("topic", STRING, "Topic; null for a file outside a partition folder.")
PARTITION = ("partition", INT32, "Partition number; null for a file outside a partition folder.")
