"""Messages of magic 0 and 1, and sets of them (org.apache.kafka.common.record.LegacyRecord)."""

from typing import Any
from zlib import crc32

from construct import Default, If, Int8sb, Int8ub, Int32sb, Int32ub, Int64sb

from magicbyte_construct.fields import (
    Data,
    Expected,
    Fields,
    Ignored,
    Sealed,
    Sized,
    ToEnd,
    length_of,
)
from magicbyte_construct.record_batch import Attributes

MIN_MESSAGE_SIZE = 14
"""Of a message of magic 0 without key and value; Kafka checks no other minimum for magic 1."""

MessageAttributes = Attributes(Int8ub, reserved=4, timestamp_type=1, compression_type=3)


def has_timestamp(context: Any) -> bool:
    """Return whether the message is one of those with a timestamp, since KIP-32."""
    return bool(context["magic"] >= 1)


Message = Fields(
    "offset" / Default(Int64sb, 0),
    Sized(
        "message_size",
        Int32sb,
        Sealed(
            "crc",
            Int32ub,
            "CRC-32",
            crc32,
            "magic" / Expected(Int8sb, 1, 0),
            "attributes" / MessageAttributes,
            "timestamp" / If(has_timestamp, Default(Int64sb, -1)),
            "key_length" / length_of("key", Int32sb),
            "key" / Data("key_length"),
            "value_length" / length_of("value", Int32sb),
            "value" / Data("value_length"),
            "trailing" / Ignored,
        ),
        minimum=MIN_MESSAGE_SIZE,
    ),
)
"""A message behind its offset and size. ``timestamp`` is None for magic 0; ``trailing``, the bytes
behind the value, are covered by the CRC and ignored by Kafka's reader."""

MessageSet = ToEnd(Message)
"""Messages up to the end: what the value of a wrapper holds once it is decompressed.

A cut one at the end is an error, where Kafka drops it without a word; ``Log`` keeps it apart.
"""
