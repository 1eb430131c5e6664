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
    branch_names,
)

SECONDS_IN_DAY_UNITS = {"time-millis": 1000, "time-micros": 1_000_000}
NO_TIME = -(1 << 63)
"""Number that NumPy takes for no time."""


def json_text(value: Any, avro_type: AvroType) -> str:
    """Return *value* as JSON.

    Bytes are base64, decimals, dates and times are text, numbers that JSON lacks are `"NaN"` and `"Infinity"`;
    the value of a union of several types is an object with the name of the type.
    """
    return json.dumps(_plain(value, avro_type), ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any, avro_type: AvroType) -> Any:
    if value is None:
        return None
    match avro_type:
        case AvroUnion():
            indices = avro_type.value_indices
            if len(indices) == 1:
                return _plain(value, avro_type.branches[indices[0]])
            branch_name = branch_names(avro_type)[value.index]
            return {branch_name: _plain(value.value, avro_type.branches[value.index])}
        case AvroRecord():
            return {
                field.name: _plain(member, field.type)
                for field, member in zip(avro_type.fields, value, strict=True)
            }
        case AvroArray():
            return [_plain(item, avro_type.item_type) for item in value]
        case AvroMap():
            return {key: _plain(item, avro_type.value_type) for key, item in value}
        case AvroEnum():
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
