"""Arrow batches: the columns that a kernel wrote, and those that are the same for all rows of an entry."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar.formats import EntryFormat
from magicbyte.engines.columnar.output import OutputColumns
from magicbyte.engines.columnar.thread_buffers import Descriptors
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.reference import rows_of_nothing
from magicbyte.tables.arrays import (
    array_of,
    batch_of,
    constant_array,
    distinct,
    nullable_array,
    number_array,
)
from magicbyte.tables.binary_views import with_binary_views
from magicbyte.tables.schemas import WIRE_TYPES
from magicbyte_kernels.kernel_interface import ABSENT, EntryColumn


def record_batch(
    form: EntryFormat,
    output: OutputColumns,
    columns: tuple[str, ...],
    desc: Descriptors,
    num_rows: Numbers,
    *,
    origin: int,
    views: bool,
) -> pa.RecordBatch:
    """Return all rows of *output*, whose memory the batch owns from now on.

    *desc* describes their entries, of *num_rows* each; with *views*, binary columns are views.
    """
    types, schema = _types(columns, views)
    count = output.num_rows
    if not count or not types:
        output.release()
        return batch_of([], schema) if types else rows_of_nothing(count)
    template, is_viewed = output.layout.template, bool(output.layout.viewed)
    arrays: dict[str, pa.Array] = {}
    if template is None:
        output.release()
    else:
        of_records = output.to_batch(template)
        if of_records.num_columns == len(types):
            return of_records.cast(schema) if views and not is_viewed else of_records
        arrays = dict(zip(template.schema.names, of_records.columns, strict=True))
    for column in form.kernels.ENTRY_COLUMNS:
        if column.name in types:
            arrays[column.name] = _entry_column(column, desc[:, column.at], num_rows)
    if "position" in types:
        positions = desc[:, form.kernels.NAMES["position"]] + origin
        arrays["position"] = number_array(types["position"], np.repeat(positions, num_rows))
    chosen = [arrays[name] for name in types]
    if not views:
        return pa.RecordBatch.from_arrays(chosen, schema=schema)
    rows = pa.RecordBatch.from_arrays(chosen, names=schema.names)
    return rows if is_viewed else rows.cast(schema)


@cache
def _types(columns: tuple[str, ...], views: bool) -> tuple[dict[str, pa.DataType], pa.Schema]:
    types = {name: WIRE_TYPES[name] for name in columns}
    schema = pa.schema(types.items())
    return types, with_binary_views(schema) if views else schema


def joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return the rows of *batches*, of which there is at least one, in a single batch."""
    with_rows = [batch for batch in batches if batch.num_rows]
    if len(with_rows) < 2:
        return (with_rows or batches)[0]
    if not batches[0].num_columns:
        return rows_of_nothing(sum(batch.num_rows for batch in with_rows))
    return pa.concat_batches(with_rows)


def _entry_column(column: EntryColumn, values: Numbers, num_rows: Numbers) -> pa.Array:
    """Return *values*, one per entry, each repeated *num_rows* times."""
    kind = WIRE_TYPES[column.name]
    nulls = {ABSENT} if column.is_nullable else set()
    if column.sentinel is not None:
        nulls.add(column.sentinel)
    values, num_rows = values[num_rows > 0], num_rows[num_rows > 0]
    if len(values) and (values == values[0]).all():
        value = _value(column, int(values[0]), nulls)
        return constant_array(kind, value, int(num_rows.sum()))
    if column.words:
        # A column of text has few different values: encode each once.
        numbers, indices = distinct(values)
        words = array_of([_value(column, number, nulls) for number in numbers], kind)
        return words.take(number_array(pa.int64(), np.repeat(indices, num_rows)))
    is_null = np.isin(values, list(nulls))
    rows = np.repeat(np.where(is_null, 0, values), num_rows)
    numpy_type = np.bool_ if pa.types.is_boolean(kind) else kind.to_pandas_dtype()
    return nullable_array(kind, rows.astype(numpy_type), np.repeat(is_null, num_rows))


def _value(column: EntryColumn, number: int, nulls: set[int]) -> Any:
    """Return the column's value for a stored *number*; None for null."""
    if number in nulls:
        return None
    if column.type == "bool":
        return bool(number)
    return column.words.get(number) if column.words else number
