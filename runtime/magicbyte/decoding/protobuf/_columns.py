"""The Arrow columns of a Protobuf message, as a tree, with the buffers that the kernel fills for each."""

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from magicbyte.decoding.protobuf._message_types import (
    SCALARS,
    is_map,
    is_repeated,
    well_known_type,
)
from magicbyte.engines.columnar.protobuf_program import (
    BYTE_STRINGS,
    FIXED_WIDTH,
    ITEMS,
    NO_DATA,
    ProtobufColumnLayout,
)

ENUM_BYTES = 4
"""Size of an enum's number in a column of the kernel."""


@dataclass(eq=False, slots=True)
class ProtobufColumn:
    """An Arrow column, and the columns in it."""

    number: int
    arrow_type: pa.DataType
    column_layout: ProtobufColumnLayout
    enum_type: Any = None
    """Descriptor of the enum: the kernel writes its numbers, Arrow gets its names."""
    inner_columns: "list[ProtobufColumn]" = field(default_factory=list)
    """Columns of the fields of a message, in the order of the schema; of a list its items, of a map keys and values."""
    has_maps: bool = False
    """True for a map, and for a column that has one in it."""

    @property
    def field_columns(self) -> "list[ProtobufColumn]":
        """Columns of the fields of the messages that are in this column, or in the items of it.

        A message that wraps one value has the column of the value.
        """
        if self.column_layout.kind == ITEMS and not pa.types.is_map(self.arrow_type):
            return self.inner_columns[0].field_columns
        return self.inner_columns if pa.types.is_nested(self.arrow_type) else [self]


class ProtobufColumnTree:
    """The columns of the messages of *descriptor*. The first column is the message; it is null if it does not decode.

    A field that is absent is null or zero in all of them: google.protobuf refuses schemas with other defaults of fields
    without presence.
    """

    def __init__(self, descriptor: Any) -> None:
        self.columns: list[ProtobufColumn] = []
        self.root = self._struct(descriptor, -1, is_nullable=True)

    def _add(
        self,
        kind: int,
        list_number: int,
        is_nullable: bool,
        arrow_type: pa.DataType | None = None,
        width: int = 0,
    ) -> ProtobufColumn:
        """Add a column; a nested one gets its type from the columns in it, which come after it."""
        layout = ProtobufColumnLayout(kind, list_number, width, is_nullable)
        column = ProtobufColumn(len(self.columns), arrow_type or pa.null(), layout)
        self.columns.append(column)
        return column

    def _struct(self, descriptor: Any, list_number: int, is_nullable: bool) -> ProtobufColumn:
        column = self._add(NO_DATA, list_number, is_nullable)
        column.inner_columns = [self._field(member, list_number) for member in descriptor.fields]
        members = zip(descriptor.fields, column.inner_columns, strict=True)
        column.arrow_type = pa.struct(
            [(member.name, inner.arrow_type) for member, inner in members]
        )
        column.has_maps = any(inner.has_maps for inner in column.inner_columns)
        return column

    def _field(self, member: Any, list_number: int) -> ProtobufColumn:
        if not is_repeated(member):
            return self._single(member, list_number, bool(member.has_presence))
        column = self._add(ITEMS, list_number, is_nullable=False)
        item_members = member.message_type.fields if is_map(member) else [member]
        column.inner_columns = [
            self._single(one, column.number, is_nullable=False) for one in item_members
        ]
        inner_types = [inner.arrow_type for inner in column.inner_columns]
        column.arrow_type = pa.map_(*inner_types) if is_map(member) else pa.list_(*inner_types)
        column.has_maps = is_map(member) or column.inner_columns[0].has_maps
        return column

    def _single(self, member: Any, list_number: int, is_nullable: bool) -> ProtobufColumn:
        arrow_type = SCALARS.get(member.type)
        if member.message_type is not None:
            arrow_type = well_known_type(member.message_type)
        if arrow_type is None:
            return self._struct(member.message_type, list_number, is_nullable)
        kind, width = FIXED_WIDTH, 0
        if member.enum_type is not None:
            width = ENUM_BYTES
        elif pa.types.is_string(arrow_type) or pa.types.is_binary(arrow_type):
            kind = BYTE_STRINGS
        else:
            width = 1 if pa.types.is_boolean(arrow_type) else arrow_type.byte_width
        column = self._add(kind, list_number, is_nullable, arrow_type, width)
        column.enum_type = member.enum_type
        return column
