"""Arrow types of Avro types."""

from functools import cache

import pyarrow as pa

from magicbyte.decoding.avro._types import AvroEnum, AvroFixed, AvroScalar

UNITS = {"millis": "ms", "micros": "us", "nanos": "ns"}

MAX_DECIMAL128, MAX_DECIMAL256 = 38, 76
"""Digits of the widest decimals of both types; wider ones become text."""


@cache
def _primitives() -> dict[str, pa.DataType]:
    return {
        "null": pa.null(),
        "boolean": pa.bool_(),
        "int": pa.int32(),
        "long": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "bytes": pa.binary(),
        "string": pa.string(),
    }


def arrow_scalar_type(scalar: AvroScalar) -> pa.DataType:
    """Return the Arrow type of a primitive or fixed type, or an enum."""
    logical = scalar.logical
    if logical is None:
        match scalar:
            case AvroEnum():
                return pa.dictionary(pa.int32(), pa.string())
            case AvroFixed():
                return pa.binary(scalar.size)
        return _primitives()[scalar.kind]
    prefix, _, unit = logical.name.rpartition("-")
    match logical.name:
        case "decimal" if logical.precision <= MAX_DECIMAL128:
            return pa.decimal128(logical.precision, logical.scale)
        case "decimal" if logical.precision <= MAX_DECIMAL256:
            return pa.decimal256(logical.precision, logical.scale)
        case "decimal" | "uuid":
            return pa.string()
        case "date":
            return pa.date32()
        case "duration":
            return pa.month_day_nano_interval()
        case "time-millis":
            return pa.time32("ms")
        case "time-micros":
            return pa.time64("us")
    return pa.timestamp(UNITS[unit], tz="UTC" if prefix == "timestamp" else None)
