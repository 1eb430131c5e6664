"""The Arrow columns of a reader's type, as a tree, with the buffers that a program fills for each."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa

from magicbyte.decoding.avro._arrow_types import arrow_scalar_type
from magicbyte.decoding.avro._types import (
    AvroArray,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroScalar,
    AvroType,
    AvroUnion,
)
from magicbyte.engines.columnar.avro_program import (
    BYTE_STRINGS,
    FIXED_WIDTH,
    ITEMS,
    NO_DATA,
    AvroColumnLayout,
)
from magicbyte.errors import NotColumnarError

MAX_COLUMNS = 10_000
"""Columns of the largest schema, inner ones included. One named type that is used often counts each time."""
DURATION_BYTES = 16
"""Size of Arrow's interval of months, days and nanoseconds."""


@dataclass(eq=False, slots=True)
class AvroColumn:
    """An Arrow column, and the columns in it."""

    number: int
    avro_type: AvroType
    """Type of the values; for a union of null and one other type, the other."""
    arrow_type: pa.DataType
    layout: AvroColumnLayout
    inner_columns: "list[AvroColumn]" = field(default_factory=list)
    end: int = 0
    """Number after the last column in it."""
    branch_columns: "dict[int, AvroColumn]" = field(default_factory=dict)
    """Columns of the branches of a union of several types, by their indices."""


class ColumnTree:
    """The columns of a type. The first column is the value; it can be null, as a value may not decode."""

    def __init__(self, root: AvroType) -> None:
        """Raises NotColumnarError if there are too many columns, or *root* contains itself."""
        self.columns: list[AvroColumn] = []
        self.num_spaces = 1
        self._open_records: list[AvroRecord] = []
        self.root = self._column(root, 0, is_nullable=True)

    def _add(
        self, avro_type: AvroType, kind: int, space: int, width: int, is_nullable: bool
    ) -> AvroColumn:
        number = len(self.columns)
        if number == MAX_COLUMNS:
            raise NotColumnarError(
                f"more than {MAX_COLUMNS} fields, those of inner records included",
                "a smaller schema, or values as JSON",
            )
        layout = AvroColumnLayout(kind, space, width, is_nullable)
        column = AvroColumn(number, avro_type, pa.null(), layout)
        self.columns.append(column)
        return column

    def _column(self, avro_type: AvroType, space: int, is_nullable: bool) -> AvroColumn:
        match avro_type:
            case AvroRecord():
                column = self._record(avro_type, space, is_nullable)
            case AvroUnion():
                column = self._union(avro_type, space, is_nullable)
            case AvroArray():
                column = self._list(avro_type, space, is_nullable)
                item = self._column(avro_type.item_type, column.layout.width, is_nullable=False)
                column.inner_columns, column.arrow_type = [item], pa.list_(item.arrow_type)
            case AvroMap():
                column = self._list(avro_type, space, is_nullable)
                key = self._column(AvroPrimitive("string"), column.layout.width, is_nullable=False)
                item = self._column(avro_type.value_type, column.layout.width, is_nullable=False)
                column.inner_columns = [key, item]
                column.arrow_type = pa.map_(key.arrow_type, item.arrow_type)
            case _:
                column = self._scalar(avro_type, space, is_nullable)
        column.end = len(self.columns)
        return column

    def _scalar(self, scalar: AvroScalar, space: int, is_nullable: bool) -> AvroColumn:
        arrow_type = arrow_scalar_type(scalar)
        width = 0
        if pa.types.is_null(arrow_type):
            kind = NO_DATA
        elif pa.types.is_string(arrow_type) or pa.types.is_binary(arrow_type):
            kind = BYTE_STRINGS
        else:
            kind, width = FIXED_WIDTH, _width(arrow_type)
        column = self._add(scalar, kind, space, width, is_nullable and kind != NO_DATA)
        column.arrow_type = arrow_type
        return column

    def _list(self, avro_type: AvroArray | AvroMap, space: int, is_nullable: bool) -> AvroColumn:
        items_space = self.num_spaces
        self.num_spaces += 1
        return self._add(avro_type, ITEMS, space, items_space, is_nullable)

    def _record(self, avro_record: AvroRecord, space: int, is_nullable: bool) -> AvroColumn:
        if avro_record in self._open_records:
            raise NotColumnarError(
                f"the record {avro_record.full_name} contains itself",
                "a schema without recursion, or values as JSON",
            )
        self._open_records.append(avro_record)
        column = self._add(avro_record, NO_DATA, space, 0, is_nullable)
        column.inner_columns = [
            self._column(member.type, space, is_nullable=False) for member in avro_record.fields
        ]
        self._open_records.pop()
        names = (member.name for member in avro_record.fields)
        column.arrow_type = _struct(names, column.inner_columns)
        return column

    def _union(self, union: AvroUnion, space: int, is_nullable: bool) -> AvroColumn:
        indices = union.value_indices
        is_nullable = is_nullable or union.null_index >= 0
        if len(indices) <= 1:
            branch = union.branches[indices[0] if indices else 0]
            return self._column(branch, space, is_nullable)
        column = self._add(union, NO_DATA, space, 0, is_nullable)
        names = union.branch_names
        for index in indices:
            child = self._column(union.branches[index], space, is_nullable=True)
            column.branch_columns[index] = child
        column.inner_columns = list(column.branch_columns.values())
        column.arrow_type = _struct((names[index] for index in indices), column.inner_columns)
        return column


def _struct(names: Iterable[str], inner_columns: list[AvroColumn]) -> pa.DataType:
    types = (child.arrow_type for child in inner_columns)
    return pa.struct([pa.field(*member) for member in zip(names, types, strict=True)])


def _width(arrow_type: pa.DataType) -> int:
    """Return the bytes of a value in a column of the program; a boolean has one."""
    if pa.types.is_boolean(arrow_type):
        return 1
    if pa.types.is_dictionary(arrow_type):
        return 4
    if arrow_type == pa.month_day_nano_interval():
        return DURATION_BYTES
    return int(arrow_type.byte_width)
