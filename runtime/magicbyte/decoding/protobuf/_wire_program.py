"""Compiles a descriptor into the tables by which the kernel checks the wire format of its messages."""

from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding.protobuf._message_types import (
    BYTES,
    DOUBLE,
    ENUM,
    FIXED32,
    FIXED64,
    FLOAT,
    GROUP,
    MESSAGE,
    SCALARS,
    SFIXED32,
    SFIXED64,
    STRING,
    is_repeated,
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
OFFSET_BYTES = 4
OBJECT_BYTES = 64


def compile_program(descriptor: Any, *, has_columns: bool) -> ProtobufProgram:
    """Return the tables of *descriptor* and of all messages in it; without columns messages become objects alone."""
    return _ProgramBuilder(descriptor, has_columns).program()


class _ProgramBuilder:
    def __init__(self, descriptor: Any, has_columns: bool) -> None:
        self._has_columns = has_columns
        self._descriptors = [descriptor]
        self._numbers = {descriptor.full_name: 0}
        self._row_sizes: dict[str, int] = {}
        self._enum_numbers: list[int] = []
        self._enum_places: dict[str, tuple[int, int]] = {}
        self._max_bits = 0

    def program(self) -> ProtobufProgram:
        types: list[tuple[int, ...]] = []
        fields: list[tuple[int, ...]] = []
        for descriptor in self._descriptors:  # grows while its messages are added
            member_list = sorted(descriptor.fields, key=lambda one: int(one.number))
            needed = 2 if descriptor.GetOptions().map_entry else 0
            types.append((len(fields), len(fields) + len(member_list), needed))
            fields += self._fields(member_list)
        return ProtobufProgram(
            _table(types, code.TYPE_NUMBERS),
            _table(fields, code.FIELD_NUMBERS),
            np.array(self._enum_numbers or [0], np.int64),
            self._max_bits // 64 + 1,
        )

    def _fields(self, member_list: list[Any]) -> list[tuple[int, ...]]:
        bits: dict[str, int] = {}
        field_rows: list[tuple[int, ...]] = []
        for member in member_list:
            kind, inner, inner_end = KINDS.get(member.type, code.VARINT), 0, 0
            if member.message_type is not None:
                inner = self._type_number(member.message_type)
            elif member.type == ENUM and member.enum_type.is_closed:
                kind = code.CLOSED_ENUM
                inner, inner_end = self._enum_place(member.enum_type)
            bit, item_bytes = -1, 0
            if is_repeated(member):
                item_bytes = self._item_bytes(member)
            else:
                oneof = member.containing_oneof
                bit = bits.setdefault(member.name if oneof is None else f"{oneof.name}?", len(bits))
            field_rows.append((member.number, kind, bit, inner, inner_end, item_bytes))
        self._max_bits = max(self._max_bits, len(bits))
        return field_rows

    def _type_number(self, descriptor: Any) -> int:
        number = self._numbers.setdefault(descriptor.full_name, len(self._descriptors))
        if number == len(self._descriptors):
            self._descriptors.append(descriptor)
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
        if not self._has_columns:
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


def _scalar_bytes(member: Any) -> int:
    if member.enum_type is not None:
        return OFFSET_BYTES + max(len(one.name) for one in member.enum_type.values)
    arrow_type = SCALARS[member.type]
    is_text = pa.types.is_string(arrow_type) or pa.types.is_binary(arrow_type)
    return OFFSET_BYTES if is_text else max(arrow_type.bit_width // 8, 1)


def _table(rows: list[tuple[int, ...]], num_columns: int) -> Any:
    return np.array(rows or [(0,) * num_columns], np.int64).reshape(-1)
