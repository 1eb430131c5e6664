"""Arrow types of Protobuf messages, and their values by google.protobuf.

They are the types that ptars gives, so that both decoders fill the same columns: numbers, strings and bytes as
they are, enums as names, Timestamp and Duration in nanoseconds, wrappers as the value that they wrap.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

WRAPPERS = {
    "google.protobuf.DoubleValue": pa.float64(),
    "google.protobuf.FloatValue": pa.float32(),
    "google.protobuf.Int64Value": pa.int64(),
    "google.protobuf.UInt64Value": pa.uint64(),
    "google.protobuf.Int32Value": pa.int32(),
    "google.protobuf.UInt32Value": pa.uint32(),
    "google.protobuf.BoolValue": pa.bool_(),
    "google.protobuf.StringValue": pa.string(),
    "google.protobuf.BytesValue": pa.binary(),
}
TIMESTAMP, DURATION = "google.protobuf.Timestamp", "google.protobuf.Duration"
TIMES = {TIMESTAMP: pa.timestamp("ns", tz="UTC"), DURATION: pa.duration("ns")}
"""Arrow types of times, by the full names of their messages."""

MAX_NANOSECONDS = (1 << 63) - 1
NANOSECONDS = 1_000_000_000

DOUBLE, FLOAT, INT64, UINT64, INT32, FIXED64, FIXED32, BOOL, STRING, GROUP, MESSAGE, BYTES = range(
    1, 13
)
UINT32, ENUM, SFIXED32, SFIXED64, SINT32, SINT64 = range(13, 19)

SCALARS = {
    **{DOUBLE: pa.float64(), FLOAT: pa.float32(), BOOL: pa.bool_()},
    **{STRING: pa.string(), BYTES: pa.binary(), ENUM: pa.string()},
    **dict.fromkeys((INT64, SFIXED64, SINT64), pa.int64()),
    **dict.fromkeys((UINT64, FIXED64), pa.uint64()),
    **dict.fromkeys((INT32, SFIXED32, SINT32), pa.int32()),
    **dict.fromkeys((UINT32, FIXED32), pa.uint32()),
}
"""Arrow types by the numbers of `FieldDescriptorProto.Type`."""


class TimeRangeError(ValueError):
    """A time does not fit into 64-bit nanoseconds."""


def is_recursive(descriptor: Any) -> bool:
    """Return whether a message of *descriptor* may contain itself, which has no Arrow type."""
    done: set[str] = set()

    def visit(proto: Any, above: frozenset[str]) -> bool:
        if proto.full_name in above:
            return True
        if proto.full_name in done:
            return False
        inner = above | {proto.full_name}
        if any(visit(one.message_type, inner) for one in proto.fields if one.message_type):
            return True
        done.add(proto.full_name)
        return False

    return visit(descriptor, frozenset())


def message_type(descriptor: Any) -> pa.DataType:
    """Return the struct of *descriptor*'s fields; every field may be null."""
    return pa.struct([(member.name, field_type(member)) for member in descriptor.fields])


def field_type(member: Any) -> pa.DataType:
    if _is_map(member):
        members = member.message_type.fields_by_name
        return pa.map_(_single_type(members["key"]), _single_type(members["value"]))
    single = _single_type(member)
    return pa.list_(single) if is_repeated(member) else single


def is_repeated(member: Any) -> bool:
    return bool(member.is_repeated)


def _is_map(member: Any) -> bool:
    proto = member.message_type
    return is_repeated(member) and proto is not None and proto.GetOptions().map_entry


def _single_type(member: Any) -> pa.DataType:
    if member.message_type is None:
        return SCALARS[member.type]
    name = member.message_type.full_name
    return WRAPPERS.get(name) or TIMES.get(name) or message_type(member.message_type)


def message_value(proto: Any) -> dict[str, Any]:
    """Return *proto* as Python values for an array of its `message_type`.

    Raises TimeRangeError for a time that nanoseconds cannot express.
    """
    values: dict[str, Any] = {}
    for member in proto.DESCRIPTOR.fields:
        if is_repeated(member):
            items = getattr(proto, member.name)
            if _is_map(member):
                convert = _converter(member.message_type.fields_by_name["value"])
                values[member.name] = [(one, convert(items[one])) for one in items]
            else:
                values[member.name] = [_converter(member)(item) for item in items]
        elif member.has_presence and not proto.HasField(member.name):
            values[member.name] = None
        else:
            values[member.name] = _converter(member)(getattr(proto, member.name))
    return values


def _converter(member: Any) -> Callable[[Any], Any]:
    """Return the function that converts one value of *member*."""
    if member.enum_type is not None:
        names = member.enum_type.values_by_number
        return lambda number: names[number].name if number in names else str(number)
    if member.message_type is None:
        return lambda value: value
    name = member.message_type.full_name
    if name in WRAPPERS:
        return lambda wrapper: wrapper.value
    return _nanoseconds if name in TIMES else message_value


def _nanoseconds(moment: Any) -> int:
    total = int(moment.seconds * NANOSECONDS + moment.nanos)
    if abs(total) >= MAX_NANOSECONDS:
        raise TimeRangeError
    return total
