"""The tables as files of Parquet and Arrow hold them: with times in microseconds.

Every engine reads those, and Spark writes no others.
"""

import pyarrow as pa

from magicbyte.tables.arrays import array_of
from magicbyte.tables.schemas import TableDefinition

MICROSECONDS = pa.timestamp("us", tz="UTC")

MAX_MILLISECONDS = ((1 << 63) - 1) // 1000
"""The largest distance from the epoch, either way, that 64-bit microseconds hold."""


def stored_type(kind: pa.DataType) -> pa.DataType:
    """Return the Arrow type in which values of *kind*, a type of our tables, are stored."""
    return MICROSECONDS if pa.types.is_timestamp(kind) else kind


def stored_schema(table: TableDefinition, columns: tuple[str, ...] | None = None) -> pa.Schema:
    """Return the schema in which *columns* of *table*, by default all, are stored."""
    return _stored(table.schema(table.names if columns is None else columns))


def _stored(schema: pa.Schema) -> pa.Schema:
    return pa.schema([(field.name, stored_type(field.type)) for field in schema])


def to_stored_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return *batch*, of one of our tables, as it is stored."""
    arrays = [
        microseconds(array) if pa.types.is_timestamp(array.type) else array
        for array in batch.columns
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_stored(batch.schema))


def microseconds(array: pa.Array) -> pa.Array:
    """Return the times of *array* in microseconds; null for those that 64 bits do not hold."""
    try:
        return array.cast(MICROSECONDS)
    except pa.ArrowInvalid:
        import pyarrow.compute as pc

        kept = pc.if_else(is_out_of_range(array), pa.nulls(1, array.type)[0], array)
        return kept.cast(MICROSECONDS)


def is_out_of_range(array: pa.Array) -> pa.Array:
    """Return whether each time of *array*, in milliseconds, is too far away for microseconds."""
    import pyarrow.compute as pc  # as slow to import as half of Arrow, and few times are so far away

    # Numbers of Python's would load pandas, where it is installed.
    none, least, most = array_of([0, -MAX_MILLISECONDS, MAX_MILLISECONDS], pa.int64())
    numbers = pc.fill_null(array.view(pa.int64()), none)
    return pc.or_(pc.greater(numbers, most), pc.less(numbers, least))
