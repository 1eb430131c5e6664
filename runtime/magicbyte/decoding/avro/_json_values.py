"""Decoded Avro values as JSON."""

import base64
import json
import math
from typing import Any

import numpy as np

from magicbyte.decoding.avro._arrays import decimal_text
from magicbyte.decoding.avro._arrow_types import UNITS
from magicbyte.decoding.avro._types import (
    AvroArray,
    AvroEnum,
    AvroMap,
    AvroRecord,
    AvroType,
    AvroUnion,
    LogicalType,
)

SECONDS_IN_DAY_UNITS = {"time-millis": 1000, "time-micros": 1_000_000}
NO_TIME = -(1 << 63)
"""Number that NumPy takes for no time."""


class OutputLimitError(Exception):
    """The JSON text of a value is longer than its limit."""


def json_text(value: Any, avro_type: AvroType, max_chars: int) -> str | None:
    """Return *value* as JSON; None for null.

    Bytes are base64, decimals, dates and times are text, numbers that JSON lacks are `"NaN"` and `"Infinity"`;
    the value of a union of several types is an object with the name of the type.

    Raises OutputLimitError for more than about *max_chars* characters.
    """
    if value is None:
        return None
    plain = _PlainValues(max_chars).plain(value, avro_type)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


class _PlainValues:
    """Converts decoded values to those that JSON has, and counts the characters of their text."""

    def __init__(self, max_chars: int) -> None:
        self._spare_chars = max_chars

    def _count(self, num_chars: int) -> None:
        self._spare_chars -= num_chars
        if self._spare_chars < 0:
            raise OutputLimitError

    def plain(self, value: Any, avro_type: AvroType) -> Any:
        if value is None:
            self._count(len("null,"))
            return None
        match avro_type:
            case AvroUnion():
                indices = avro_type.value_indices
                if len(indices) == 1:
                    return self.plain(value, avro_type.branches[indices[0]])
                branch_name = avro_type.branch_names[value.index]
                self._count(len(branch_name))
                return {branch_name: self.plain(value.value, avro_type.branches[value.index])}
            case AvroRecord():
                self._count(sum(len(member.name) for member in avro_type.fields))
                return {
                    member.name: self.plain(one, member.type)
                    for member, one in zip(avro_type.fields, value, strict=True)
                }
            case AvroArray():
                return [self.plain(item, avro_type.item_type) for item in value]
            case AvroMap():
                return {key: self.plain(item, avro_type.value_type) for key, item in value}
        scalar = _scalar(value, avro_type)
        self._count(len(str(scalar)) + 1)
        return scalar


def _scalar(value: Any, avro_type: AvroType) -> Any:
    if isinstance(avro_type, AvroEnum):
        return avro_type.symbols[value]
    if avro_type.logical is not None:
        return _logical(value, avro_type.logical)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _logical(value: Any, logical: LogicalType) -> Any:
    prefix, _, unit = logical.name.rpartition("-")
    match logical.name:
        case "decimal":
            return decimal_text(value, logical.scale)
        case "uuid":
            return value
        case "date":
            return str(np.datetime64(value, "D"))
        case "duration":
            return dict(zip(("months", "days", "nanoseconds"), value, strict=True))
        case "time-millis" | "time-micros":
            return _time_of_day(value, SECONDS_IN_DAY_UNITS[logical.name])
    if value == NO_TIME:
        return value
    text = str(np.array(value, np.int64).view(f"datetime64[{UNITS[unit]}]"))
    return f"{text}Z" if prefix == "timestamp" else text


def _time_of_day(number: int, units: int) -> str:
    seconds, fraction = divmod(number, units)
    digits = len(str(units)) - 1
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:0{digits}}"
