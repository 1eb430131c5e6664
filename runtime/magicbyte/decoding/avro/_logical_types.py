"""Logical types that are supported, and which types may have them."""

import math
from typing import Any

from magicbyte.decoding.avro._types import LogicalType

PLAIN = {
    "int": ("date", "time-millis"),
    "long": (
        *("time-micros", "timestamp-millis", "timestamp-micros", "timestamp-nanos"),
        *("local-timestamp-millis", "local-timestamp-micros", "local-timestamp-nanos"),
    ),
    "string": ("uuid",),
}
"""Logical types without attributes, by the type that has them."""

FIXED_SIZES = {"duration": 12, "uuid": 16}
"""Bytes of the fixed types that have these logical types."""

MAX_DECIMAL_DIGITS = 4096
"""Decimals of more digits are bytes: turning them into text takes time that grows with the square."""


def logical_type(kind: str, definition: dict[str, Any]) -> LogicalType | None:
    """Return the logical type of a type of *kind*; None if there is none, or the specification ignores it."""
    logical_name = definition.get("logicalType")
    if not isinstance(logical_name, str):
        return None
    if logical_name == "decimal":
        return _decimal(kind, definition)
    if kind == "fixed":
        is_valid = definition.get("size") == FIXED_SIZES.get(logical_name)
    else:
        is_valid = logical_name in PLAIN.get(kind, ())
    return LogicalType(logical_name) if is_valid else None


def _decimal(kind: str, definition: dict[str, Any]) -> LogicalType | None:
    precision, scale = definition.get("precision"), definition.get("scale", 0)
    if type(precision) is not int or type(scale) is not int:
        return None
    if not 0 < precision <= MAX_DECIMAL_DIGITS or not 0 <= scale <= precision:
        return None
    if kind == "fixed":
        size = definition.get("size")
        if type(size) is not int or precision > max_fixed_digits(size):
            return None
    elif kind != "bytes":
        return None
    return LogicalType("decimal", precision, scale)


def max_fixed_digits(size: int) -> int:
    """Return the largest count of digits whose numbers all fit in *size* bytes."""
    return max(0, math.floor((8 * size - 1) * math.log10(2)))
