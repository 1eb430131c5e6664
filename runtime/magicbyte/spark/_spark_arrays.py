"""Converts decoded values to the Arrow types that Spark takes.

The types follow Spark's `from_avro` (SchemaConverters): a time of day is a number, an enum is a string. Decimals of more
than 38 digits, which Spark does not have, are strings.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.tables.nested_arrays import rebuilt_array
from magicbyte.tables.stored_types import MICROSECONDS, microseconds

LOCAL_MICROSECONDS = pa.timestamp("us")
"""TimestampNTZType."""

INTERVAL = pa.struct([("months", pa.int32()), ("days", pa.int32()), ("nanoseconds", pa.int64())])
"""An interval of months, days and nanoseconds; Spark has no type with all three."""

WIDER_INTEGERS: dict[pa.DataType, pa.DataType] = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}


def spark_arrow_type(arrow_type: pa.DataType) -> pa.DataType:
    """Return the Arrow type in which Spark takes values of *arrow_type*."""
    types = pa.types
    if types.is_struct(arrow_type):
        return pa.struct([(one.name, spark_arrow_type(one.type)) for one in arrow_type.fields])
    if types.is_list(arrow_type) or types.is_large_list(arrow_type):
        return pa.list_(spark_arrow_type(arrow_type.value_type))
    if types.is_map(arrow_type):
        return pa.map_(
            spark_arrow_type(arrow_type.key_type), spark_arrow_type(arrow_type.item_type)
        )
    if types.is_timestamp(arrow_type):
        return LOCAL_MICROSECONDS if arrow_type.tz is None else MICROSECONDS
    if types.is_time(arrow_type):
        return pa.int32() if types.is_time32(arrow_type) else pa.int64()
    if types.is_fixed_size_binary(arrow_type) or types.is_large_binary(arrow_type):
        return pa.binary()
    is_text = types.is_dictionary(arrow_type) or types.is_large_string(arrow_type)
    if is_text or types.is_null(arrow_type) or types.is_decimal256(arrow_type):
        return pa.string()
    if arrow_type == pa.month_day_nano_interval():
        return INTERVAL
    return WIDER_INTEGERS.get(arrow_type, arrow_type)


def to_spark_array(array: pa.Array) -> pa.Array:
    """Return *array* in the Arrow type in which Spark takes its values."""
    return rebuilt_array(array, spark_arrow_type(array.type), _converted)


def _converted(array: pa.Array, spark_type: pa.DataType) -> pa.Array:
    if pa.types.is_timestamp(array.type):
        return _to_spark_times(array, spark_type)
    if array.type == pa.month_day_nano_interval():
        parts = np.frombuffer(array.buffers()[1], INTERVAL_PARTS)
        rows = parts[array.offset : array.offset + len(array)]
        columns = [pa.array(rows[name]) for name in ("months", "days", "nanoseconds")]
        return pa.StructArray.from_arrays(
            columns, fields=list(INTERVAL.fields), mask=array.is_null()
        )
    return array.cast(spark_type)


INTERVAL_PARTS = np.dtype([("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")])


def _to_spark_times(array: pa.Array, spark_type: pa.DataType) -> pa.Array:
    """Return times in microseconds; null for a time that does not fit into 64 bits of them."""
    if array.type.unit == "ns":
        return pc.floor_temporal(array, unit="microsecond").cast(spark_type)
    if array.type.tz is None:
        return microseconds(array.cast(pa.timestamp(array.type.unit, "UTC"))).cast(spark_type)
    return microseconds(array)
