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
"""Size of a message of magic 0 without key and value. Kafka checks the same minimum for magic 1."""

MessageAttributes = Attributes(Int8ub, reserved=4, timestamp_type=1, codec=3)


def has_timestamp(context: Any) -> bool:
    """Return whether the message has a timestamp (KIP-32)."""
    return bool(context["magic"] >= 1)


Message = Fields(
    "offset" / Default(Int64sb, 0),
    Sized(
        "len_message",
        Int32sb,
        Sealed(
            "crc",
            Int32ub,
            "CRC-32",
            crc32,
            "magic" / Expected(Int8sb, 1, 0),
            "attributes" / MessageAttributes,
            "timestamp" / If(has_timestamp, Default(Int64sb, -1)),
            "len_key" / length_of("key", Int32sb),
            "key" / Data("len_key"),
            "len_value" / length_of("value", Int32sb),
            "value" / Data("len_value"),
            "trailing" / Ignored,
        ),
        minimum=MIN_MESSAGE_SIZE,
    ),
)
"""Message with its offset and size. ``timestamp`` is None in magic 0. ``trailing`` are bytes after
the value, which the CRC covers and Kafka's reader ignores."""

MessageSet = ToEnd(Message)
"""Messages up to the end: the decompressed value of a wrapper message.

An incomplete message at the end is an error; Kafka drops it silently, ``Log`` returns it as
``partial``.
"""
