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
from magicbyte.spark.options import SourceOptions
from magicbyte.tables.schemas import HEADERS, RECORDS, TABLES, TIME, TableDefinition
from magicbyte.tables.stored_types import MICROSECONDS, microseconds, stored_type
from magicbyte_formats.wire import TIMESTAMP_TYPE_NAMES


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


def _of_records() -> tuple[Column, ...]:
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
        Column(column.name, column.name, stored_type(column.type))
        for column in RECORDS.columns
        if column.name not in taken
    ]
    return (*kafka, *ours)


def _of_table(table: TableDefinition) -> tuple[Column, ...]:
    return tuple(Column(one.name, one.name, stored_type(one.type)) for one in table.columns)


COLUMNS: dict[str, tuple[Column, ...]] = {
    name: _of_records() if table is RECORDS else _of_table(table) for name, table in TABLES.items()
}
"""The columns of each table. Those of `records` begin with those of Spark's Kafka source."""

KAFKA_COLUMNS = COLUMNS["records"][:8]
"""Those of Spark's Kafka source, in its order; the last comes with `includeHeaders`."""

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


def named(names: Iterable[str], table: str = "records") -> tuple[Column, ...]:
    """Return the columns *names* of *table*; Spark's names have no case.

    InputError names one that does not exist or comes twice.
    """
    by_name = {column.name.lower(): column for column in COLUMNS[table]}
    found: list[Column] = []
    for name in names:
        column = by_name.get(name.lower())
        if column is None:
            known = ", ".join(column.name for column in COLUMNS[table])
            raise InputError(f"no column {name!r}", f"some of {known}")
        if column in found:
            raise InputError(f"column {name!r} twice", "every column once")
        found.append(column)
    if not found:
        raise InputError("no columns", "at least one")
    return tuple(found)


def chosen(read: SourceOptions) -> tuple[Column, ...]:
    """Return the columns that come if the user gives no schema."""
    if read.columns is not None:
        return named(read.columns, read.table)
    if read.table != "records":
        return COLUMNS[read.table]
    return KAFKA_COLUMNS if read.include_headers else KAFKA_COLUMNS[:-1]


def wanted(read: SourceOptions, schema: StructType) -> tuple[tuple[Column, ...], pa.Schema]:
    """Return the columns of *schema*, the user's or ours, and the Arrow schema to give.

    Raises InputError where *schema* cannot be had, or contradicts the option `columns`.
    """
    found, given = of_schema(schema, read.table)
    if read.columns is not None and {*found} != {*named(read.columns, read.table)}:
        raise InputError(
            f"a schema of {', '.join(schema.names)}",
            f"the columns {', '.join(read.columns)}, or one of the two alone",
        )
    return found, given


def of_schema(schema: StructType, table: str = "records") -> tuple[tuple[Column, ...], pa.Schema]:
    """Return the columns of *table* that the user's *schema* asks for, and the Arrow schema to give.

    Names are compared without case, and given back as *schema* has them. Raises InputError for a
    column that does not exist, another type than the column's, or a field that is not nullable.
    """
    columns = named(schema.fieldNames(), table)
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
