"""Columns of records to write, by the names and types of Spark's Kafka sink, in the types that encoders read."""

from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.errors import InputError
from magicbyte.logdir.file_names import MAX_PARTITION

NO_TIMESTAMP = -1
"""Timestamp of a record that has none. Kafka's encoder refuses those below (MemoryRecordsBuilder)."""

HEADER_LIST = pa.list_(pa.struct([("key", pa.binary()), ("value", pa.binary())]))
"""Type of the column `headers` for encoders: list fields of different sources have different names."""


def _is_bytes_or_text(data_type: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_null(data_type)
        or types.is_binary(data_type)
        or types.is_large_binary(data_type)
        or types.is_binary_view(data_type)
        or types.is_fixed_size_binary(data_type)
        or _is_text(data_type)
    )


def _is_text(data_type: pa.DataType) -> bool:
    types = pa.types
    if types.is_dictionary(data_type):
        return _is_text(data_type.value_type)
    return bool(
        types.is_string(data_type)
        or types.is_large_string(data_type)
        or types.is_string_view(data_type)
    )


def _is_header_list(data_type: pa.DataType) -> bool:
    if pa.types.is_null(data_type):
        return True
    if not (pa.types.is_list(data_type) or pa.types.is_large_list(data_type)):
        return False
    struct = data_type.value_type
    is_struct = bool(pa.types.is_struct(struct))
    return is_struct and [field.name for field in struct] == ["key", "value"]


def _is_time(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(data_type)) or bool(pa.types.is_int64(data_type))


COLUMN_TYPES: dict[str, tuple[Callable[[pa.DataType], bool], str]] = {
    "key": (_is_bytes_or_text, "bytes or text"),
    "value": (_is_bytes_or_text, "bytes or text"),
    "headers": (_is_header_list, "a list of structs of key and value"),
    "topic": (_is_text, "text"),
    "partition": (pa.types.is_integer, "an integer"),
    "offset": (pa.types.is_integer, "an integer"),
    "timestamp": (_is_time, "a timestamp, or milliseconds as int64"),
}
"""Test of the type of each column that is written, and the type in words."""


def check_record_schema(
    schema: pa.Schema, *, has_topic: bool, is_append_time: bool
) -> frozenset[str]:
    """Return the names of the columns of *schema*. Raises InputError unless they are columns of records.

    *has_topic*: the topic is known without a column. *is_append_time*: the writing sets the timestamps.
    """
    names = list(schema.names)
    known = ", ".join(COLUMN_TYPES)
    for name in names:
        if name not in COLUMN_TYPES:
            raise InputError(
                f"column {name!r}", f"only columns that a record has: {known}; drop the others"
            )
        if names.count(name) > 1:
            raise InputError(f"column {name!r} twice", "each column once")
        is_allowed, expected = COLUMN_TYPES[name]
        data_type = schema.field(name).type
        if not is_allowed(data_type):
            raise InputError(f"column {name!r} of type {data_type}", expected)
    if "value" not in names:
        raise InputError(f"no column 'value' among {', '.join(names) or 'none'}", "the values")
    if "topic" not in names and not has_topic:
        raise InputError("no column 'topic' and no topic", "one of them")
    if "timestamp" in names and is_append_time:
        raise InputError(
            "the column 'timestamp' with LogAppendTime, which would replace it",
            "CreateTime, or no such column",
        )
    return frozenset(names)


class RecordsToWrite(NamedTuple):
    """Records of one Arrow batch, checked."""

    records: pa.RecordBatch
    """The columns that an encoder reads, with offsets only if they were given."""
    topic_array: pa.Array | None
    partition_array: pa.Array | None


def records_to_write(arrow_batch: pa.RecordBatch, *, topic: str | None, now: int) -> RecordsToWrite:
    """Return the columns of *arrow_batch*, whose schema was checked.

    The *topic* takes precedence over the column. Records without a timestamp get *now*, in milliseconds since the epoch.
    Raises InputError for a null or a number that is not allowed.
    """
    names, count = arrow_batch.schema.names, arrow_batch.num_rows
    arrays = {
        "key": _bytes(arrow_batch, "key"),
        "value": _bytes(arrow_batch, "value"),
        "timestamp": _timestamps(arrow_batch, now),
    }
    if "headers" in names:
        arrays["headers"] = arrow_batch.column("headers").cast(HEADER_LIST)
    if "offset" in names:
        arrays["offset"] = _numbers(arrow_batch, "offset", (1 << 63) - 2)
    topic_array = None
    if topic is None:
        topic_array = _without_nulls(arrow_batch, "topic").cast(pa.string())
    partition_array = None
    if "partition" in names:
        partition_array = _numbers(arrow_batch, "partition", MAX_PARTITION)
    assert all(len(array) == count for array in arrays.values())
    return RecordsToWrite(pa.RecordBatch.from_pydict(arrays), topic_array, partition_array)


def _bytes(arrow_batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in arrow_batch.schema.names:
        return pa.nulls(arrow_batch.num_rows, pa.binary())
    array = arrow_batch.column(name)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array.cast(pa.binary())


def _timestamps(arrow_batch: pa.RecordBatch, now: int) -> pa.Array:
    if "timestamp" not in arrow_batch.schema.names:
        return pa.repeat(pa.scalar(now, pa.int64()), arrow_batch.num_rows)
    array = arrow_batch.column("timestamp")
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.timestamp("ms", array.type.tz), safe=False).cast(pa.int64())
    array = pc.fill_null(array, now)
    earliest = pc.min(array).as_py()
    if earliest is not None and earliest < NO_TIMESTAMP:
        raise InputError(
            f"timestamp {earliest}, in milliseconds since the epoch",
            f"0 or more, or {NO_TIMESTAMP} for none",
        )
    return array


def _numbers(arrow_batch: pa.RecordBatch, name: str, largest: int) -> pa.Array:
    """Return the column *name* as int64. Raises InputError for a null and a number that is not 0 to *largest*."""
    array = _without_nulls(arrow_batch, name)
    if len(array):
        limits = pc.min_max(array).as_py()
        for number in (limits["min"], limits["max"]):
            if not 0 <= number <= largest:
                raise InputError(f"{name} {number}", f"0 to {largest}")
    return array.cast(pa.int64())


def _without_nulls(arrow_batch: pa.RecordBatch, name: str) -> pa.Array:
    array = arrow_batch.column(name)
    if array.null_count:
        row = pc.index(array.is_null(), True).as_py()
        raise InputError(
            f"a null in column {name!r} (row {row} of its Arrow batch)", "a value in each row"
        )
    return array
