"""Columns of the data source, and the conversion from the tables' columns.

Spark accepts only some of Arrow's types: `timestamp("us", "UTC")` for times, `binary` and `string`
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
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from magicbyte.errors import InputError
from magicbyte.spark._conditions import input_errors_have
from magicbyte.spark._options import LATEST_TABLE, SourceOptions
from magicbyte.spark._spark_arrays import LOCAL_MICROSECONDS, to_spark_array
from magicbyte.tables.schemas import ALL_TABLES, HEADERS, RECORDS
from magicbyte.tables.stored_types import MICROSECONDS, microseconds, stored_type
from magicbyte.tables.table_definition import TIME, TableDefinition
from magicbyte_formats.wire import TIMESTAMP_TYPE_NAMES


@dataclass(frozen=True, slots=True)
class SparkColumn:
    """A column of the data source."""

    name: str
    """Name of the column in Spark."""
    source: str
    """Column of the table that it is converted from."""
    type: pa.DataType

    def convert(self, array: pa.Array) -> pa.Array:
        """Convert *array*, the source column, for Spark."""
        if self.name == "timestampType":
            names = pa.array([TIMESTAMP_TYPE_NAMES[0], TIMESTAMP_TYPE_NAMES[1]])
            return pc.fill_null(pc.index_in(array, value_set=names), -1)  # v0 has no type: -1
        if self.name == "timestamp":
            # Spark's Kafka source takes the -1 of "no time" for 1 ms before the epoch.
            return microseconds(pc.fill_null(array, pa.scalar(-1, TIME)))
        if self.name == "headers":
            has_headers = pc.fill_null(pc.greater(pc.list_value_length(array), 0), False)
            return pc.if_else(has_headers, array, pa.scalar(None, array.type))
        return to_spark_array(array)


def _records_columns() -> tuple[SparkColumn, ...]:
    kafka = [
        SparkColumn("key", "key", pa.binary()),
        SparkColumn("value", "value", pa.binary()),
        SparkColumn("topic", "topic", pa.string()),
        SparkColumn("partition", "partition", pa.int32()),
        SparkColumn("offset", "offset", pa.int64()),
        SparkColumn("timestamp", "timestamp", MICROSECONDS),
        SparkColumn("timestampType", "timestamp_type", pa.int32()),
        SparkColumn("headers", "headers", HEADERS),
    ]
    names = {column.name for column in kafka}
    return (*kafka, *(column for column in _table_columns(RECORDS) if column.name not in names))


def _table_columns(table: TableDefinition) -> tuple[SparkColumn, ...]:
    return tuple(SparkColumn(one.name, one.name, stored_type(one.type)) for one in table.columns)


COLUMNS = {name: _table_columns(table) for name, table in ALL_TABLES.items()}
COLUMNS["records"] = COLUMNS[LATEST_TABLE] = _records_columns()
"""Columns of each table. `records` and `latest` begin with the columns of Spark's Kafka source."""

KAFKA_COLUMNS = COLUMNS["records"][:8]
"""Columns of Spark's Kafka source, in its order; the last one only with `includeHeaders`."""

SPARK_TYPES: dict[pa.DataType, DataType] = {
    pa.binary(): BinaryType(),
    pa.string(): StringType(),
    pa.bool_(): BooleanType(),
    pa.int8(): ByteType(),
    pa.int16(): ShortType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.float32(): FloatType(),
    pa.float64(): DoubleType(),
    pa.date32(): DateType(),
    LOCAL_MICROSECONDS: TimestampNTZType(),
    MICROSECONDS: TimestampType(),
}
"""Spark's type of each Arrow type of a column that is not nested."""


def spark_type(arrow_type: pa.DataType) -> DataType:
    """Return Spark's type of a column with *arrow_type*, which may be a list, a map or a struct."""
    if pa.types.is_list(arrow_type):
        return ArrayType(spark_type(arrow_type.value_type))
    if pa.types.is_map(arrow_type):
        return MapType(spark_type(arrow_type.key_type), spark_type(arrow_type.item_type))
    if pa.types.is_struct(arrow_type):
        fields = [StructField(field.name, spark_type(field.type)) for field in arrow_type.fields]
        return StructType(fields)
    if pa.types.is_decimal128(arrow_type):
        return DecimalType(arrow_type.precision, arrow_type.scale)
    return SPARK_TYPES[arrow_type]


@input_errors_have("MAGICBYTE_INVALID_SCHEMA")
def columns_named(
    names: Iterable[str], known_columns: Sequence[SparkColumn] = COLUMNS["records"]
) -> tuple[SparkColumn, ...]:
    """Return the columns *names*, case-insensitive, among *known_columns*.

    Raises InputError for a name that does not exist or occurs twice.
    """
    by_name = {column.name.lower(): column for column in known_columns}
    columns: list[SparkColumn] = []
    for name in names:
        column = by_name.get(name.lower())
        if column is None:
            known = ", ".join(column.name for column in known_columns)
            raise InputError(f"no column {name!r}", f"some of {known}")
        if column in columns:
            raise InputError(f"column {name!r} twice", "every column once")
        columns.append(column)
    if not columns:
        raise InputError("no columns", "at least one")
    return tuple(columns)


def default_columns(options: SourceOptions) -> tuple[SparkColumn, ...]:
    """Return the columns of a read without a schema of the user."""
    if options.columns is not None:
        return columns_named(options.columns, COLUMNS[options.table])
    if options.table not in ("records", LATEST_TABLE):
        return COLUMNS[options.table]
    return KAFKA_COLUMNS if options.include_headers else KAFKA_COLUMNS[:-1]


@input_errors_have("MAGICBYTE_INVALID_SCHEMA")
def requested_columns(
    options: SourceOptions,
    schema: StructType,
    known_columns: Sequence[SparkColumn] | None = None,
) -> tuple[tuple[SparkColumn, ...], pa.Schema]:
    """Return the columns of *schema*, the user's or the default, and their Arrow schema.

    Names are case-insensitive, and keep the spelling of *schema*. Raises InputError for a column that
    does not exist, a wrong type, or a field that is not nullable, and if *schema* contradicts the
    option `columns`.
    """
    if known_columns is None:
        known_columns = COLUMNS[options.table]
    columns = columns_named(schema.fieldNames(), known_columns)
    fields = []
    for field, column in zip(schema.fields, columns, strict=True):
        expected = spark_type(column.type)
        if field.dataType.simpleString() != expected.simpleString():
            raise InputError(
                f"column {field.name} as {field.dataType.simpleString()}", expected.simpleString()
            )
        if not field.nullable:
            raise InputError(f"column {field.name} as not null", "nullable, as all columns are")
        fields.append(pa.field(field.name, column.type))
    if options.columns is not None and {*columns} != {
        *columns_named(options.columns, known_columns)
    }:
        raise InputError(
            f"a schema of {', '.join(schema.names)}",
            f"the columns {', '.join(options.columns)}, or one of the two alone",
        )
    return columns, pa.schema(fields)


def struct_of(columns: Iterable[SparkColumn]) -> StructType:
    """Return the Spark schema of *columns*."""
    return StructType([StructField(column.name, spark_type(column.type)) for column in columns])


def sources_of(columns: Sequence[SparkColumn]) -> tuple[str, ...]:
    """Return the names of the table's columns that *columns* are converted from, each once."""
    return tuple(dict.fromkeys(column.source for column in columns))
