"""The columns that Spark gets, and how the tables' columns become them.

Spark takes only some of Arrow's types: `timestamp("us", "UTC")` for times, `binary` and `string`
for bytes and text, and every field nullable.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from magicbyte.errors import InputError
from magicbyte.tables.schemas import HEADERS, RECORDS, TIME, Table
from magicbyte_formats.wire import TIMESTAMP_TYPE_NAMES

MICROSECONDS = pa.timestamp("us", tz="UTC")

MAX_MILLISECONDS = ((1 << 63) - 1) // 1000
"""The largest distance from the epoch, either way, that 64-bit microseconds hold."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the data source."""

    name: str
    """What Spark calls it."""
    source: str
    """The column of the table `records` that it is made from."""
    type: pa.DataType

    def made_from(self, array: pa.Array) -> pa.Array:
        """Return the column that *array*, its source, becomes."""
        if self.name == "timestampType":
            names = pa.array([TIMESTAMP_TYPE_NAMES[0], TIMESTAMP_TYPE_NAMES[1]])
            return pc.fill_null(pc.index_in(array, value_set=names), -1)  # v0 has none: -1
        if self.name == "timestamp":
            # Kafka's source turns the -1 that says "none" into a moment, 1 ms before the epoch.
            return microseconds(pc.fill_null(array, pa.scalar(-1, TIME)))
        if self.name == "headers":
            is_there = pc.fill_null(pc.greater(pc.list_value_length(array), 0), False)
            return pc.if_else(is_there, array, pa.scalar(None, array.type))
        return array


def _columns() -> dict[str, Column]:
    kafka = [
        Column("key", "key", pa.binary()),
        Column("value", "value", pa.binary()),
        Column("topic", "topic", pa.string()),
        Column("partition", "partition", pa.int32()),
        Column("offset", "offset", pa.int64()),
        Column("timestamp", "timestamp", MICROSECONDS),
        Column("timestampType", "timestamp_type", pa.int32()),
        Column("headers", "headers", HEADERS),
    ]
    taken = {column.name for column in kafka}
    ours = [
        Column(column.name, column.name, spark_type(column.type))
        for column in RECORDS.columns
        if column.name not in taken
    ]
    return {column.name.lower(): column for column in [*kafka, *ours]}


def spark_type(kind: pa.DataType) -> pa.DataType:
    """Return the Arrow type in which Spark takes values of *kind*, a type of our tables."""
    return MICROSECONDS if pa.types.is_timestamp(kind) else kind


COLUMNS = _columns()
"""Every column of the data source, by its name in lower case: Spark's names have no case."""

KAFKA_COLUMNS = tuple(list(COLUMNS.values())[:8])
"""Those of Spark's Kafka source, in its order."""

SPARK_TYPES: dict[pa.DataType, DataType] = {
    pa.binary(): BinaryType(),
    pa.string(): StringType(),
    pa.bool_(): BooleanType(),
    pa.int8(): ByteType(),
    pa.int16(): ShortType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    MICROSECONDS: TimestampType(),
    HEADERS: ArrayType(
        StructType([StructField("key", StringType()), StructField("value", BinaryType())])
    ),
}


def named(names: Iterable[str]) -> tuple[Column, ...]:
    """Return the columns *names*; InputError names one that does not exist or comes twice."""
    found: list[Column] = []
    for name in names:
        column = COLUMNS.get(name.lower())
        if column is None:
            known = ", ".join(column.name for column in COLUMNS.values())
            raise InputError(f"no column {name!r}", f"some of {known}")
        if column in found:
            raise InputError(f"column {name!r} twice", "every column once")
        found.append(column)
    if not found:
        raise InputError("no columns", "at least one")
    return tuple(found)


def of_schema(schema: StructType) -> tuple[tuple[Column, ...], pa.Schema]:
    """Return the columns that the user's *schema* asks for, and the Arrow schema to give.

    Names are compared without case, and given back as *schema* has them. Raises InputError for a
    column that does not exist, another type than the column's, or a field that is not nullable.
    """
    columns = named(schema.fieldNames())
    fields = []
    for field, column in zip(schema.fields, columns, strict=True):
        expected = SPARK_TYPES[column.type]
        if field.dataType.simpleString() != expected.simpleString():
            raise InputError(
                f"column {field.name} as {field.dataType.simpleString()}", expected.simpleString()
            )
        if not field.nullable:
            raise InputError(f"column {field.name} as not null", "nullable, as all columns are")
        fields.append(pa.field(field.name, column.type))
    return columns, pa.schema(fields)


def struct_of(schema: pa.Schema) -> StructType:
    """Return Spark's words for *schema*, an Arrow schema of Spark's types."""
    return StructType([StructField(field.name, SPARK_TYPES[field.type]) for field in schema])


def sources_of(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the columns of `records` that it takes to make *columns*."""
    return tuple(dict.fromkeys(column.source for column in columns))


def parquet_schema(table: Table) -> pa.Schema:
    """Return the schema in which all columns of *table* are written as Parquet.

    It is the table's own with times in microseconds, which every engine reads and Spark writes.
    """
    types = {column.name: spark_type(column.type) for column in table.columns}
    return pa.schema([(name, types[name]) for name in table.names])


def microseconds(array: pa.Array) -> pa.Array:
    """Return the times of *array* in microseconds; null for those that 64 bits do not hold."""
    try:
        return pc.cast(array, MICROSECONDS)
    except pa.ArrowInvalid:
        kept = pc.if_else(is_out_of_range(array), pa.scalar(None, array.type), array)
        return pc.cast(kept, MICROSECONDS)


def is_out_of_range(array: pa.Array) -> pa.Array:
    """Return whether each time of *array*, in milliseconds, is too far away for microseconds."""
    numbers = pc.fill_null(array.view(pa.int64()), 0)
    return pc.or_(
        pc.greater(numbers, MAX_MILLISECONDS),
        pc.less(numbers, -MAX_MILLISECONDS),
    )


def in_spark_types(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return *batch*, of one of our tables, with times in microseconds."""
    arrays = [
        microseconds(array) if pa.types.is_timestamp(array.type) else array
        for array in batch.columns
    ]
    fields = [(field.name, spark_type(field.type)) for field in batch.schema]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
