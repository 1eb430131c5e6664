"""Protobuf messages as JSON, for messages that have no columns: Protobuf's own mapping, with the fields' names of the schema."""

import base64
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.protobuf._library import library
from magicbyte.decoding.protobuf._message_types import (
    BOOL,
    BYTES,
    DOUBLE,
    FIXED64,
    FLOAT,
    INT64,
    SFIXED64,
    SINT64,
    STRING,
    UINT64,
    WRAPPERS,
    enum_names,
    is_map,
    is_repeated,
    well_known_type,
)
from magicbyte.decoding.protobuf._message_values import MessageFault

Convert = Callable[[Any], Any]

OWN_FORMS = frozenset(
    f"google.protobuf.{name}"
    for name in ("Any", "Duration", "FieldMask", "ListValue", "Struct", "Timestamp", "Value")
)
"""Messages whose JSON is not an object of their fields."""
LONG_INTEGERS = (INT64, UINT64, FIXED64, SFIXED64, SINT64)


class JsonReader:
    """Converts messages of one descriptor, and of those in it.

    A message without a JSON form of its own, such as an Any of an unknown type, a time beyond the year 9999 or a NaN
    in a Struct, is an object of its fields.
    """

    def __init__(self, descriptor: Any) -> None:
        self._descriptor = descriptor
        self._pool = descriptor.file.pool
        self._json_format = library("google.protobuf.json_format")
        self._classes = library("google.protobuf.message_factory").GetMessageClass
        self._plans: dict[str, tuple[Convert, dict[int, tuple[str, Convert]]]] = {}

    def text(self, proto: Any) -> str:
        """Return *proto* as one line of JSON.

        Raises MessageFault for content that is not UTF-8.
        """
        fields = self._single(self._descriptor)(proto)
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    def _object(self, descriptor: Any, proto: Any) -> dict[str, Any]:
        list_fields, fields = self._plan(descriptor)
        values: dict[str, Any] = {}
        for member, content in list_fields(proto):
            if member.is_extension:
                values[f"[{member.full_name}]"] = self._converter(member)(content)
            else:
                name, convert = fields[member.number]
                values[name] = convert(content)
        return values

    def _plan(self, descriptor: Any) -> tuple[Convert, dict[int, tuple[str, Convert]]]:
        plan = self._plans.get(descriptor.full_name)
        if plan is None:
            fields = {
                one.number: (str(one.name), self._converter(one)) for one in descriptor.fields
            }
            plan = self._classes(descriptor).ListFields, fields
            self._plans[descriptor.full_name] = plan
        return plan

    def _converter(self, member: Any) -> Convert:
        if is_map(member):
            members = member.message_type.fields_by_name
            convert = self._field(members["value"])
            return lambda items: {_map_key(map_key): convert(items[map_key]) for map_key in items}
        convert_one = self._field(member)
        if is_repeated(member):
            return lambda items: [convert_one(item) for item in items]
        return convert_one

    def _field(self, member: Any) -> Convert:
        """Return the function that converts one value of *member*."""
        if member.message_type is not None:
            return self._single(member.message_type)
        if member.enum_type is not None:
            if member.enum_type.full_name == "google.protobuf.NullValue":
                return lambda number: None
            number_names = enum_names(member.enum_type)
            return lambda number: number_names.get(number, number)
        return SCALARS.get(member.type, _same)

    def _single(self, descriptor: Any) -> Convert:
        """Return the function that converts one message of *descriptor*."""
        if descriptor.full_name in OWN_FORMS:
            return lambda proto: self._own_form(descriptor, proto)
        if descriptor.full_name in WRAPPERS and well_known_type(descriptor) is not None:
            convert = self._field(descriptor.fields_by_name["value"])
            return lambda wrapper: convert(wrapper.value)
        return lambda proto: self._object(descriptor, proto)

    def _own_form(self, descriptor: Any, proto: Any) -> Any:
        try:
            return self._json_format.MessageToDict(
                proto, preserving_proto_field_name=True, descriptor_pool=self._pool
            )
        except Exception:  # of many kinds: the library's own, of Python's numbers, of recursion
            return self._object(descriptor, proto)


def _same(value: Any) -> Any:
    return value


def _text(content: Any) -> str:
    if isinstance(content, bytes):  # proto2 does not check that content is UTF-8
        raise MessageFault(DecodeFault.UTF8)
    return str(content)


def _map_key(map_key: Any) -> str:
    if isinstance(map_key, bool):
        return "true" if map_key else "false"
    return _text(map_key)


def _number(number: float) -> float | str:
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _short_number(number: float) -> float | str:
    """Return a number of 32 bits with the fewest digits that tell it from others."""
    return float(str(np.float32(number))) if math.isfinite(number) else _number(number)


SCALARS: dict[int, Convert] = {
    **dict.fromkeys(LONG_INTEGERS, str),
    BOOL: bool,
    BYTES: lambda content: base64.b64encode(content).decode(),
    DOUBLE: _number,
    FLOAT: _short_number,
    STRING: _text,
}
