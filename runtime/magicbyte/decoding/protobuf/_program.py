"""Compiles a descriptor into the program by which the kernel decodes its messages."""

from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding.protobuf._columns import ProtobufColumn, ProtobufColumnTree
from magicbyte.decoding.protobuf._message_types import (
    BOOL,
    BYTES,
    DOUBLE,
    ENUM,
    FIXED32,
    FIXED64,
    FLOAT,
    GROUP,
    INT64,
    MESSAGE,
    SCALARS,
    SFIXED32,
    SFIXED64,
    SINT32,
    SINT64,
    STRING,
    TIMES,
    UINT64,
    is_repeated,
    well_known_type,
)
from magicbyte.engines.columnar import protobuf_program as code
from magicbyte.engines.columnar.protobuf_program import ProtobufProgram

KINDS = {
    **dict.fromkeys((DOUBLE, FIXED64, SFIXED64), code.FIXED64),
    **dict.fromkeys((FLOAT, FIXED32, SFIXED32), code.FIXED32),
    **dict.fromkeys((STRING, BYTES), code.BYTES),
    MESSAGE: code.MESSAGE,
    GROUP: code.GROUP,
}
"""Kinds of fields in the tables, by the numbers of `FieldDescriptorProto.Type`; the others are varints."""
FORMS = {
    **dict.fromkeys((INT64, UINT64), code.AS_INT64),
    **{BOOL: code.AS_BOOLEAN, SINT64: code.FROM_ZIGZAG64, SINT32: code.FROM_ZIGZAG32},
    **{STRING: code.AS_TEXT, BYTES: code.AS_BINARY},
}
"""Forms of values in columns, by the same numbers; the others are the low 32 bits of varints."""
OFFSET_BYTES = 4
OBJECT_BYTES = 64


def compile_program(descriptor: Any, column_tree: ProtobufColumnTree | None) -> ProtobufProgram:
    """Return the program of *descriptor*, which fills the columns of *column_tree*; without them messages become objects alone."""
    return _ProgramBuilder(descriptor, column_tree).program()


class _ProgramBuilder:
    def __init__(self, descriptor: Any, column_tree: ProtobufColumnTree | None) -> None:
        self._tree = column_tree
        self._types = [(descriptor, column_tree.root if column_tree is not None else None)]
        """Messages, each with its column: a message that is in several columns is as many types."""
        self._numbers: dict[object, int] = {descriptor.full_name: 0}
        self._row_sizes: dict[str, int] = {}
        self._enum_numbers: list[int] = []
        self._enum_places: dict[str, tuple[int, int]] = {}
        self._max_bits = 0

    def program(self) -> ProtobufProgram:
        types: list[tuple[int, ...]] = []
        fields: list[tuple[int, ...]] = []
        for descriptor, protobuf_column in self._types:  # grows while its messages are added
            member_columns: dict[int, ProtobufColumn] = {}
            if protobuf_column is not None:
                members = zip(descriptor.fields, protobuf_column.field_columns, strict=True)
                member_columns = {member.number: inner for member, inner in members}
            member_list = sorted(descriptor.fields, key=lambda one: int(one.number))
            needed = 2 if descriptor.GetOptions().map_entry else 0
            types.append((len(fields), len(fields) + len(member_list), needed))
            fields += self._fields(member_list, member_columns)
        return ProtobufProgram(
            _table(types, code.TYPE_NUMBERS),
            _table(fields, code.FIELD_NUMBERS),
            np.array(self._enum_numbers or [0], np.int64),
            self._max_bits // 64 + 1,
            () if self._tree is None else tuple(one.column_layout for one in self._tree.columns),
        )

    def _fields(
        self, member_list: list[Any], member_columns: dict[int, ProtobufColumn]
    ) -> list[tuple[int, ...]]:
        bits: dict[str, int] = {}
        field_rows: list[tuple[int, ...]] = []
        for member in member_list:
            protobuf_column = member_columns.get(member.number)
            kind, inner, inner_end = KINDS.get(member.type, code.VARINT), 0, 0
            if kind == code.GROUP:
                protobuf_column = None  # messages with groups are not usual
            if protobuf_column is not None and _is_time(member):
                kind = code.TIME
            elif member.message_type is not None:
                inner = self._type_number(member.message_type, protobuf_column)
            elif member.type == ENUM and member.enum_type.is_closed:
                kind = code.CLOSED_ENUM
                inner, inner_end = self._enum_place(member.enum_type)
            bit, item_bytes = -1, 0
            if is_repeated(member):
                item_bytes = self._item_bytes(member)
            else:
                oneof = member.containing_oneof
                bit = bits.setdefault(member.name if oneof is None else f"{oneof.name}?", len(bits))
            form = FORMS.get(member.type, code.AS_INT32)
            place = 0 if protobuf_column is None else protobuf_column.number * code.COLUMN_BYTES
            row = member.number, kind, bit, inner, inner_end, item_bytes, form, place
            field_rows.append(row)
        self._max_bits = max(self._max_bits, len(bits))
        return field_rows

    def _type_number(self, descriptor: Any, protobuf_column: ProtobufColumn | None) -> int:
        name = descriptor.full_name if protobuf_column is None else protobuf_column.number
        number = self._numbers.setdefault(name, len(self._types))
        if number == len(self._types):
            self._types.append((descriptor, protobuf_column))
        return number

    def _enum_place(self, enum_type: Any) -> tuple[int, int]:
        if enum_type.full_name not in self._enum_places:
            first = len(self._enum_numbers)
            self._enum_numbers += sorted(enum_type.values_by_number)
            self._enum_places[enum_type.full_name] = first, len(self._enum_numbers)
        return self._enum_places[enum_type.full_name]

    def _item_bytes(self, member: Any) -> int:
        """Return the bytes that an item of *member* takes in columns, without its text."""
        if member.message_type is not None:
            return self._row_bytes(member.message_type)
        return _scalar_bytes(member)

    def _row_bytes(self, descriptor: Any) -> int:
        """Return the bytes that a message without content takes in columns, or as an object of its own."""
        name = descriptor.full_name
        if self._tree is None:
            return OBJECT_BYTES + 8 * len(descriptor.fields)
        if name not in self._row_sizes:
            total = 1
            for member in descriptor.fields:
                if is_repeated(member):
                    total += OFFSET_BYTES
                elif member.message_type is not None:
                    total += self._row_bytes(member.message_type)
                else:
                    total += _scalar_bytes(member)
            self._row_sizes[name] = total
        return self._row_sizes[name]


def _is_time(member: Any) -> bool:
    proto = member.message_type
    return proto is not None and well_known_type(proto) in TIMES.values()


def _scalar_bytes(member: Any) -> int:
    if member.enum_type is not None:
        return OFFSET_BYTES + max(len(one.name) for one in member.enum_type.values)
    arrow_type = SCALARS[member.type]
    is_text = pa.types.is_string(arrow_type) or pa.types.is_binary(arrow_type)
    return OFFSET_BYTES if is_text else max(arrow_type.bit_width // 8, 1)


def _table(rows: list[tuple[int, ...]], num_columns: int) -> Any:
    return np.array(rows or [(0,) * num_columns], np.int64).reshape(-1)
