"""Types of the tables in Parquet and Arrow files: as in memory, but times in microseconds.

All query engines read microseconds, and Spark has no other unit.
"""

from functools import cache

import pyarrow as pa

from magicbyte.tables.arrays import array_of
from magicbyte.tables.table_definition import TableDefinition

MICROSECONDS = pa.timestamp("us", tz="UTC")

SCHEMA_VERSION = 1
"""Version of the tables in files. It grows if a column goes, or changes its type or its meaning."""

MAX_MILLISECONDS = ((1 << 63) - 1) // 1000
"""Largest distance from the epoch, before or after it, that fits into 64-bit microseconds."""


def stored_type(data_type: pa.DataType) -> pa.DataType:
    """Return the Arrow type in files for the table type *data_type*."""
    return MICROSECONDS if pa.types.is_timestamp(data_type) else data_type


def stored_schema(table: TableDefinition, columns: tuple[str, ...] | None = None) -> pa.Schema:
    """Return the schema in files of *columns* of *table*; default: all columns."""
    return _stored(table.schema(table.names if columns is None else columns))


def _stored(schema: pa.Schema) -> pa.Schema:
    return pa.schema([(field.name, stored_type(field.type)) for field in schema])


@cache
def file_metadata(table_name: str) -> dict[str, str]:
    """Return the metadata of files of a table: the version of magicbyte, the table, and the version of its columns."""
    from importlib import metadata  # slow to import, and readers do not need it

    return {
        "magicbyte.version": metadata.version("magicbyte"),
        "magicbyte.schema": f"{table_name} {SCHEMA_VERSION}",
    }


def to_stored_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return *batch*, of one of our tables, in the types of files."""
    arrays = [
        microseconds(array) if pa.types.is_timestamp(array.type) else array
        for array in batch.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_stored(batch.schema))


def microseconds(array: pa.Array) -> pa.Array:
    """Return the times of *array* in microseconds; null for a time that does not fit into 64 bits."""
    try:
        return array.cast(MICROSECONDS)
    except pa.ArrowInvalid:
        import pyarrow.compute as pc

        in_range = pc.if_else(is_out_of_range(array), pa.nulls(1, array.type)[0], array)
        return in_range.cast(MICROSECONDS)


def is_out_of_range(array: pa.Array) -> pa.Array:
    """Return whether each time of *array*, in milliseconds, is too far from the epoch."""
    import pyarrow.compute as pc  # as slow to import as half of Arrow, and rarely needed

    # Arrow scalars: a comparison with Python integers would import pandas, if it is installed.
    zero, lowest, highest = array_of([0, -MAX_MILLISECONDS, MAX_MILLISECONDS], pa.int64())
    numbers = pc.fill_null(array.view(pa.int64()), zero)
    return pc.or_(pc.greater(numbers, highest), pc.less(numbers, lowest))
