"""Values of Protobuf messages by Protobuf's own library, as Python objects for arrays of `message_type`."""

from collections.abc import Callable
from typing import Any

from magicbyte.decoding.faults import DecodeFault
from magicbyte.decoding.protobuf._library import library
from magicbyte.decoding.protobuf._message_types import (
    STRING,
    TIMES,
    enum_names,
    is_map,
    is_repeated,
    well_known_type,
)

MAX_NANOSECONDS = (1 << 63) - 1
NANOSECONDS = 1_000_000_000


class MessageFault(ValueError):
    """A message is sound, but no value of its column."""

    def __init__(self, reason: DecodeFault) -> None:
        self.reason = reason


class MessageReader:
    """Reads messages of one descriptor."""

    def __init__(self, descriptor: Any) -> None:
        message_class = library("google.protobuf.message_factory").GetMessageClass(descriptor)
        # Methods of the class: a field may have the name of a method.
        self._list_fields = message_class.ListFields
        self._absent: dict[str, Any] = {}
        self._fields: dict[int, tuple[str, Callable[[Any], Any]]] = {}
        for member in descriptor.fields:
            self._absent[member.name] = _absent_value(member)
            self._fields[member.number] = member.name, _converter(member)

    def value(self, proto: Any) -> dict[str, Any]:
        """Return the fields of *proto*.

        Raises MessageFault for content that is not UTF-8, and for a time that nanoseconds cannot express.
        """
        fields = dict(self._absent)
        for member, content in self._list_fields(proto):
            if not member.is_extension:
                name, convert = self._fields[member.number]
                fields[name] = convert(content)
        return fields


def _absent_value(member: Any) -> Any:
    if is_repeated(member):
        return []
    if member.has_presence:
        return None
    return _single_converter(member)(member.default_value)


def _converter(member: Any) -> Callable[[Any], Any]:
    """Return the function that converts the content of *member*."""
    if is_map(member):
        members = member.message_type.fields_by_name
        convert_key = _single_converter(members["key"])
        convert_item = _single_converter(members["value"])
        return lambda items: [(convert_key(key), convert_item(items[key])) for key in items]
    convert = _single_converter(member)
    if is_repeated(member):
        return lambda items: [convert(item) for item in items]
    return convert


def _single_converter(member: Any) -> Callable[[Any], Any]:
    """Return the function that converts one value of *member*."""
    if member.enum_type is not None:
        number_names = enum_names(member.enum_type)
        return lambda number: number_names.get(number) or str(number)
    if member.message_type is None:
        return _text if member.type == STRING else _same
    kind = well_known_type(member.message_type)
    if kind is None:
        return MessageReader(member.message_type).value
    if kind in TIMES.values():
        return _nanoseconds
    convert = _single_converter(member.message_type.fields_by_name["value"])
    return lambda wrapper: convert(wrapper.value)


def _same(value: Any) -> Any:
    return value


def _text(content: Any) -> Any:
    if isinstance(content, bytes):  # proto2 does not check that content is UTF-8
        raise MessageFault(DecodeFault.UTF8)
    return content


def _nanoseconds(moment: Any) -> int:
    total = int(moment.seconds * NANOSECONDS + moment.nanos)
    if abs(total) >= MAX_NANOSECONDS:
        raise MessageFault(DecodeFault.TIME_RANGE)
    return total
