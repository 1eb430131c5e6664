"""Values of any Arrow type as text, for results of queries: decimals, dates, lists, structs and others."""

import math
from base64 import b64encode
from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa

from magicbyte.tables.arrays import array_of
from magicbyte.tables.schemas import HEADERS
from magicbyte.tables.table_definition import TIME
from magicbyte_cli.ndjson import ENCODE, JSON_TEXT


def _is_plain(data_type: pa.DataType) -> bool:
    """Return whether all writers know *data_type*."""
    is_simple = (
        pa.types.is_integer(data_type)
        or pa.types.is_boolean(data_type)
        or pa.types.is_string(data_type)
        or pa.types.is_binary(data_type)
    )
    return bool(is_simple or data_type == TIME)


def as_json(value: Any) -> str | None:
    """Return *value* as JSON: a decimal with a fraction is a string, and so is a number that JSON does not have."""
    return None if value is None else ENCODE(_json_value(value))


def as_text(value: Any) -> str | None:
    """Return *value* as text: structs and lists as JSON, times in ISO 8601."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        return as_json(value)
    return str(_json_value(value))


def _json_value(value: Any) -> Any:
    """Return *value* as an object that JSON has."""
    match value:
        case Decimal():
            return (
                int(value)
                if value == value.to_integral_value() and _is_whole(value)
                else str(value)
            )
        case float():
            return value if math.isfinite(value) else _name_of_number(value)
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case date() | time():
            return value.isoformat()
        case pa.MonthDayNano():
            return _duration(value)
        case bytes():
            return b64encode(value).decode("ascii")
        case dict():
            return {str(name): _json_value(member) for name, member in value.items()}
        case list() | tuple():
            return [_json_value(element) for element in value]
    return value


def _duration(interval: pa.MonthDayNano) -> str:
    """Return *interval* in ISO 8601, such as `P1M2DT3.5S`."""
    seconds = Decimal(interval.nanoseconds).scaleb(-9).normalize()
    parts = (f"{interval.months}M", f"{interval.days}D", f"T{seconds:f}S")
    return "P" + ("".join(part for part in parts if part[0] != "0" and part != "T0S") or "T0S")


def _is_whole(decimal: Decimal) -> bool:
    """Return whether the type of *decimal* has no digits after the point, as the sum of integers."""
    exponent = decimal.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= 0


def _name_of_number(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


class ResultColumns:
    """Turns the columns of a result into types that the writers know.

    Times become milliseconds, as in all tables. Other types become text, by *text_of*; if that is `as_json`, their
    fields are marked by JSON_TEXT.
    """

    def __init__(
        self, schema: pa.Schema, text_of: Callable[[Any], str | None], *, keeps_headers: bool
    ) -> None:
        """*keeps_headers*: whether the writer knows record headers."""
        self._text_of = text_of
        self._keeps_headers = keeps_headers
        self.schema = pa.schema([self._field(column_field) for column_field in schema])
        self.right_aligned = [_is_number(column_field.type) for column_field in schema]
        """True for each column of numbers."""

    def _is_known(self, data_type: pa.DataType) -> bool:
        return _is_plain(data_type) or (self._keeps_headers and data_type == HEADERS)

    def _field(self, column_field: pa.Field) -> pa.Field:
        if self._is_known(column_field.type):
            return column_field
        if _is_utc(column_field.type):
            return column_field.with_type(TIME)
        is_json = self._text_of is as_json
        return pa.field(column_field.name, pa.string(), metadata=JSON_TEXT if is_json else None)

    def convert(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of *batch* with the types of `schema`."""
        arrays = [self._array(column) for column in batch.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _array(self, column: pa.Array) -> pa.Array:
        if self._is_known(column.type):
            return column
        if _is_utc(column.type):
            return column.cast(TIME, safe=False)
        return array_of(list(map(self._text_of, column.to_pylist())), pa.string())


def _is_number(data_type: pa.DataType) -> bool:
    """Return whether values of *data_type* are numbers, which text aligns on the right."""
    return bool(
        pa.types.is_integer(data_type)
        or pa.types.is_floating(data_type)
        or pa.types.is_decimal(data_type)
    )


def _is_utc(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(data_type)) and data_type.tz is not None
