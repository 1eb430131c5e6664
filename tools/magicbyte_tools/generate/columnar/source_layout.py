"""Columns that an encode kernel reads, and where the value of each number comes from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from magicbyte_tools.generate.columnar.arithmetic import Expression, UnsupportedSpecError, inverse
from magicbyte_tools.generate.columnar.entry_model import (
    BytesNode,
    EntryModel,
    FieldNode,
    LoopNode,
    NumberNode,
    RegionNode,
    RowColumn,
    RowTable,
)

VALID = ["valid", "first_bit"]
READERS = {"int8": "s1", "uint8": "u1", "int16": "s2le", "uint16": "u2le"}
READERS |= {"int32": "s4le", "uint32": "u4le"}
"""Primitives that read a value of an Arrow column, by its type; those of 64 bits are read by `s8le`."""


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """Column that an encode kernel reads."""

    column: RowColumn
    struct_columns: "tuple[ReadColumn, ...]" = ()
    """Columns of the structs in a list column."""

    @property
    def buffers(self) -> list[str]:
        """Roles of the numbers in the source array that the column needs."""
        if self.column.struct_table is not None:
            return ["offsets", *VALID]
        if self.column.is_bytes:
            return ["offsets", "bytes", "end", *(VALID if self.column.is_nullable else [])]
        return ["data"]

    def slot(self, role: str) -> str:
        """Return the name of the number in the source array that says where the buffer of *role* is."""
        return f"{variable_of(self.column)}_{role}"


def variable_of(column: RowColumn) -> str:
    """Return the prefix of the variables of an encode kernel for *column*."""
    return f"from_{column.var.removeprefix('to_')}"


def value_at(column: RowColumn, row_source: str) -> str:
    """Return the Python source of the value of a *column* of fixed width at the row *row_source*."""
    reader = READERS.get(column.type, "s8le")
    return f"{reader}({variable_of(column)}_data + {column.width} * {row_source})"


class SourceLayout:
    """Order of the numbers in the source array of the encode kernel of *entry_model*."""

    def __init__(self, entry_model: EntryModel) -> None:
        self.entry = entry_model
        self.rows = entry_model.body if entry_model.rows is None else entry_model.rows.body
        """Fields of a row after the header."""
        loop = entry_model.rows
        self.derived = entry_model.derived if loop is None else loop.derived
        """Columns that readers compute."""
        self._read_columns: set[str] = set()
        self.computed = dict(self._computed_numbers())
        """Python source of the numbers that a computed column determines, by variable."""
        self.columns = self._columns(entry_model.table, self.rows)
        self.slots = list(self._slots(self.columns))
        """Names of the numbers in the source array."""

    def _computed_numbers(self) -> Iterator[tuple[str, str]]:
        """Yield each number of a row that neither the bytes nor a column of its own determine."""
        undetermined = [number for number in _numbers(self.rows) if not _is_determined(number)]
        if self.entry.is_stream:
            undetermined += [
                number for number in self.entry.variables if not _is_determined(number)
            ]
        lengths = {source.source for source in _lengths(self.rows)}
        for number in undetermined:
            for column, value in self.derived:
                if number.var in value.needs and number.var not in lengths:
                    source = inverse(value, number.var, value_at(column, "row"))
                    if source is not None:
                        self._read_columns.add(column.name)
                        yield number.var, source
                        break

    def _columns(self, table: RowTable, nodes: Sequence[FieldNode]) -> tuple[ReadColumn, ...]:
        """Return the columns of *table* that the fields *nodes* are written from."""
        fields_by_column = {
            node.column.name: node
            for node in _all(nodes)
            if isinstance(node, (BytesNode, NumberNode, LoopNode)) and node.column is not None
        }
        lists = {
            name: node.body for name, node in fields_by_column.items() if isinstance(node, LoopNode)
        }
        return tuple(
            ReadColumn(column, self._columns(column.struct_table, lists[column.name]))
            if column.struct_table is not None
            else ReadColumn(column)
            for column in table.columns
            if column.name in fields_by_column
            or (table is self.entry.table and column.name in self._read_columns)
        )

    def _slots(self, columns: Sequence[ReadColumn]) -> Iterator[str]:
        for read_column in columns:
            yield from map(read_column.slot, read_column.buffers)
            yield from self._slots(read_column.struct_columns)


def _all(nodes: Sequence[FieldNode]) -> Iterator[FieldNode]:
    """Yield the fields *nodes*, and those in regions, but not those in lists."""
    for node in nodes:
        yield node
        if isinstance(node, RegionNode):
            yield from _all(node.body)


def _numbers(nodes: Sequence[FieldNode]) -> list[NumberNode]:
    return [node for node in _all(nodes) if isinstance(node, NumberNode)]


def _is_determined(number_node: NumberNode) -> bool:
    return number_node.column is not None or number_node.constant is not None


def _lengths(nodes: Sequence[FieldNode]) -> Iterator[Expression]:
    """Yield the expressions of the sizes and counts that the fields *nodes* have."""
    for node in _all(nodes):
        if isinstance(node, (BytesNode, RegionNode)):
            length = node.size_expression
        elif isinstance(node, LoopNode):
            length = node.count
        else:
            continue
        if not length.is_name:
            message = "a size or count that is computed; an encoder cannot tell the number from it"
            raise UnsupportedSpecError(node.spec_path, message)
        yield length
