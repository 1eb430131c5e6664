"""Values of Arrow arrays of any type as values that JSON can express, in one stable form.

Integers of 64 bits stay numbers. Decimals, times and UUIDs are text, bytes are base64, and NaN and the
infinities are the texts `NaN`, `Infinity` and `-Infinity`. Python's calendar ends with the year 9999, Arrow's
does not: such a time is its number of units since the epoch.
"""

import math
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa

from magicbyte.tables.arrays import null_mask

JSON_METADATA = {"magicbyte.text": "json"}
"""Metadata of an Arrow field whose strings are JSON."""

ONE_OF_METADATA = {"magicbyte.struct": "one-of"}
"""Metadata of an Arrow field with a struct with at most one member that is set: one record of several kinds."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNITS_PER_SECOND = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}
DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def json_values(nested_column: pa.Array) -> list[Any]:
    """Return the values of *nested_column* for `json.dumps`."""
    data_type = nested_column.type
    if pa.types.is_dictionary(data_type):
        return json_values(nested_column.dictionary_decode())
    if pa.types.is_struct(data_type):
        return _structs(nested_column)
    if pa.types.is_map(data_type):
        return _maps(nested_column)
    if pa.types.is_list(data_type) or pa.types.is_large_list(data_type):
        return _lists(nested_column)
    if pa.types.is_timestamp(data_type):
        return _formatted(nested_column, pa.int64(), timestamp_format(data_type))
    if pa.types.is_time(data_type):
        number_type = pa.int32() if pa.types.is_time32(data_type) else pa.int64()
        return _formatted(nested_column, number_type, time_format(data_type.unit))
    if pa.types.is_date(data_type):
        return _formatted(nested_column.cast(pa.date32()), pa.int32(), date_text)
    if pa.types.is_duration(data_type):
        return _formatted(nested_column, pa.int64(), duration_format(data_type.unit))
    values: list[Any] = nested_column.to_pylist()
    convert = _converter(data_type)
    if convert is None:
        return values
    return [None if value is None else convert(value) for value in values]


def _converter(data_type: pa.DataType) -> Callable[[Any], Any] | None:
    """Return the function that converts values of *data_type*; None: JSON has the type."""
    if pa.types.is_floating(data_type):
        return float_value
    if pa.types.is_decimal(data_type):
        return lambda number: format(number, "f")
    if (
        pa.types.is_binary(data_type)
        or pa.types.is_fixed_size_binary(data_type)
        or pa.types.is_large_binary(data_type)
    ):
        return lambda data: b64encode(data).decode("ascii")
    if pa.types.is_interval(data_type):
        return lambda one: {"months": one[0], "days": one[1], "nanoseconds": one[2]}
    return None


def float_value(number: float) -> float | str:
    """Return *number*, or its name if JSON has no such number."""
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _formatted(
    nested_column: pa.Array, number_type: pa.DataType, convert: Callable[[int], Any]
) -> list[Any]:
    numbers = nested_column.view(number_type).to_pylist()
    return [None if number is None else convert(number) for number in numbers]


def timestamp_format(data_type: pa.DataType) -> Callable[[int], Any]:
    """Return the function that formats a number of units since the epoch in ISO 8601."""
    unit, zone = data_type.unit, "" if data_type.tz is None else "Z"

    def text(number: int) -> Any:
        seconds, rest = divmod(number, UNITS_PER_SECOND[unit])
        try:
            moment = EPOCH + timedelta(seconds=seconds)
        except OverflowError:
            return number
        return f"{moment:%Y-%m-%dT%H:%M:%S}".zfill(19) + _fraction(rest, unit) + zone

    return text


def time_format(unit: str) -> Callable[[int], Any]:
    """Return the function that formats a number of units since midnight."""

    def text(number: int) -> Any:
        seconds, rest = divmod(number, UNITS_PER_SECOND[unit])
        if not 0 <= seconds < 86400:
            return number
        hours, minutes = divmod(seconds // 60, 60)
        return f"{hours:02}:{minutes:02}:{seconds % 60:02}" + _fraction(rest, unit)

    return text


def duration_format(unit: str) -> Callable[[int], str]:
    """Return the function that formats a number of units as seconds, as Protobuf's JSON does."""

    def text(number: int) -> str:
        seconds, rest = divmod(abs(number), UNITS_PER_SECOND[unit])
        fraction = _fraction(rest, unit).rstrip("0").rstrip(".")
        return f"{'-' if number < 0 else ''}{seconds}{fraction}s"

    return text


def date_text(days: int) -> Any:
    try:
        return (date(1970, 1, 1) + timedelta(days=days)).isoformat()
    except OverflowError:
        return days


def _fraction(number: int, unit: str) -> str:
    return f".{number:0{DIGITS[unit]}}" if DIGITS[unit] else ""


def _structs(nested_column: pa.StructArray) -> list[Any]:
    names = [field.name for field in nested_column.type]
    members = [json_values(nested_column.field(number)) for number in range(len(names))]
    rows = zip(*members, strict=True) if names else ((),) * len(nested_column)
    return [
        None if is_null else dict(zip(names, row, strict=True))
        for is_null, row in zip(null_mask(nested_column), rows, strict=True)
    ]


def _lists(nested_column: pa.ListArray) -> list[Any]:
    offsets = nested_column.offsets.to_pylist()
    first = offsets[0] if offsets else 0
    elements = json_values(
        nested_column.values.slice(first, (offsets[-1] if offsets else 0) - first)
    )
    return [
        None if is_null else elements[start - first : end - first]
        for is_null, start, end in zip(
            null_mask(nested_column), offsets[:-1], offsets[1:], strict=True
        )
    ]


def _maps(nested_column: pa.MapArray) -> list[Any]:
    """Return objects for maps; the last of several equal keys counts, as in a parser of JSON."""
    offsets = nested_column.offsets.to_pylist()
    first = offsets[0] if offsets else 0
    length = (offsets[-1] if offsets else 0) - first
    keys = [_member_name(key) for key in json_values(nested_column.keys.slice(first, length))]
    items = json_values(nested_column.items.slice(first, length))
    return [
        None
        if is_null
        else dict(
            zip(keys[start - first : end - first], items[start - first : end - first], strict=True)
        )
        for is_null, start, end in zip(
            null_mask(nested_column), offsets[:-1], offsets[1:], strict=True
        )
    ]


def _member_name(map_key: Any) -> str:
    if isinstance(map_key, bool):
        return "true" if map_key else "false"
    return str(map_key)
