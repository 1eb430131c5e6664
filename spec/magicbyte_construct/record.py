"""Record of magic 2 (org.apache.kafka.common.record.DefaultRecord)."""

from typing import Any

from construct import Default, Int8sb

from magicbyte_construct.fields import (
    Counted,
    Data,
    Fields,
    LeftOver,
    Sized,
    ToEnd,
    count_of,
    length_of,
)
from magicbyte_construct.varint import Varint, Varlong


def timestamp_delta(context: Any) -> int:
    """Return the record's ``timestamp`` less the batch's base timestamp; 0 if none is given."""
    if context.get("timestamp") is None:
        return 0
    return int(context["timestamp"] - context["_"].get("base_timestamp", 0))


def offset_delta(context: Any) -> int:
    """Return the record's ``offset`` less the base offset, or its index in the batch if none is given."""
    if context.get("offset") is None:
        return context["_index"] or 0
    return int(context["offset"] - context["_"].get("base_offset", 0))


Header = Fields(
    "len_key" / length_of("key", Varint),
    "key" / Data("len_key", nullable=False),
    "len_value" / length_of("value", Varint),
    "value" / Data("len_value"),
)
"""Record header. Its key can be empty but not null, and need not be UTF-8."""

FIELDS_AFTER_ATTRIBUTES = (
    "timestamp_delta" / Default(Varlong, timestamp_delta),
    "offset_delta" / Default(Varint, offset_delta),
    "len_key" / length_of("key", Varint),
    "key" / Data("len_key"),
    "len_value" / length_of("value", Varint),
    "value" / Data("len_value"),
    "num_headers" / count_of("headers", Varint),
    "headers" / Counted("num_headers", Header, min_bytes=2),
    "trailing" / LeftOver(),
)

OFFSET_AND_TIME = ("offset", "timestamp")
"""Names that a record to build can have instead of its deltas."""

Record = Fields(
    Sized("len_body", Varint, "attributes" / Default(Int8sb, 0), *FIELDS_AFTER_ATTRIBUTES),
    alternatives=OFFSET_AND_TIME,
)
"""Record with its length. Building accepts ``timestamp`` and ``offset`` instead of the deltas."""

Records = ToEnd(Record)
"""Records up to the end: the decompressed payload of a batch."""
