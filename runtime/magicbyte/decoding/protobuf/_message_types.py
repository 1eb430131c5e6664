"""Arrow types of Protobuf messages.

Numbers, strings and bytes are unchanged, enums are names, Timestamp and Duration are nanoseconds, wrappers are the
value that they wrap.
"""

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

MAX_COLUMNS = 10_000
MAX_NESTING = 60
"""Columns, and messages inside of messages, of the largest type: Arrow's own files allow 64 levels."""

DOUBLE, FLOAT, INT64, UINT64, INT32, FIXED64, FIXED32, BOOL, STRING, GROUP, MESSAGE, BYTES = range(
    1, 13
)
UINT32, ENUM, SFIXED32, SFIXED64, SINT32, SINT64 = range(13, 19)

TIME_FIELDS = [("seconds", 1, INT64), ("nanos", 2, INT32)]

SCALARS = {
    **{DOUBLE: pa.float64(), FLOAT: pa.float32(), BOOL: pa.bool_()},
    **{STRING: pa.string(), BYTES: pa.binary(), ENUM: pa.string()},
    **dict.fromkeys((INT64, SFIXED64, SINT64), pa.int64()),
    **dict.fromkeys((UINT64, FIXED64), pa.uint64()),
    **dict.fromkeys((INT32, SFIXED32, SINT32), pa.int32()),
    **dict.fromkeys((UINT32, FIXED32), pa.uint32()),
}
"""Arrow types by the numbers of `FieldDescriptorProto.Type`."""


def has_columns(descriptor: Any) -> bool:
    """Return whether messages of *descriptor* become columns.

    A message that may contain itself has no Arrow type, and one of too many columns or levels is no table.
    """
    column_counts: dict[str, int] = {}

    def count(proto: Any, above: frozenset[str]) -> int:
        name = proto.full_name
        if name in above or len(above) >= MAX_NESTING:
            return MAX_COLUMNS + 1
        if name not in column_counts:
            inner = above | {name}
            total = len(proto.fields)
            for member in proto.fields:
                if member.message_type is not None and total <= MAX_COLUMNS:
                    total += count(member.message_type, inner)
            column_counts[name] = total
        return column_counts[name]

    return count(descriptor, frozenset()) <= MAX_COLUMNS


def is_repeated(member: Any) -> bool:
    return bool(member.is_repeated)


def is_map(member: Any) -> bool:
    proto = member.message_type
    return is_repeated(member) and proto is not None and bool(proto.GetOptions().map_entry)


def well_known_type(descriptor: Any) -> pa.DataType | None:
    """Return the Arrow type of a wrapper or a time; None for any other message."""
    name = descriptor.full_name
    member_list = [(one.name, one.number, one.type) for one in descriptor.fields]
    if name in TIMES:
        return TIMES[name] if member_list == TIME_FIELDS else None
    wrapped = WRAPPERS.get(name)
    is_wrapper = len(member_list) == 1 and member_list[0][:2] == ("value", 1)
    return wrapped if is_wrapper and SCALARS.get(member_list[0][2]) == wrapped else None


def enum_names(enum_type: Any) -> dict[int, str]:
    """Return the names of *enum_type* by number: the first one of aliases."""
    number_names: dict[int, str] = {}
    for one in enum_type.values:
        number_names.setdefault(one.number, str(one.name))
    return number_names
