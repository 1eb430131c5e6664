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
    "key_length" / length_of("key", Varint),
    "key" / Data("key_length", nullable=False),
    "value_length" / length_of("value", Varint),
    "value" / Data("value_length"),
)
"""Record header. Its key can be empty but not null, and need not be UTF-8."""

FIELDS_AFTER_ATTRIBUTES = (
    "timestamp_delta" / Default(Varlong, timestamp_delta),
    "offset_delta" / Default(Varint, offset_delta),
    "key_length" / length_of("key", Varint),
    "key" / Data("key_length"),
    "value_length" / length_of("value", Varint),
    "value" / Data("value_length"),
    "headers_count" / count_of("headers", Varint),
    "headers" / Counted("headers_count", Header, min_bytes=2),
    "trailing" / LeftOver(),
)

Record = Fields(
    Sized("length", Varint, "attributes" / Default(Int8sb, 0), *FIELDS_AFTER_ATTRIBUTES)
)
"""Record with its length. Building accepts ``timestamp`` and ``offset`` instead of the deltas."""

Records = ToEnd(Record)
"""Records up to the end: the decompressed payload of a batch."""
