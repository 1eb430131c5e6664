"""The record batch of what a kernel has written, beside what descriptors say of entries."""

from functools import cache

import numpy as np
import pyarrow as pa

from magicbyte.engines.columnar.constants import entry_column
from magicbyte.engines.columnar.formats import Format
from magicbyte.engines.columnar.output import Output
from magicbyte.engines.columnar.thread_buffers import Numbers as Descriptors
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.reference import rows_of_nothing
from magicbyte.tables.arrays import batch_of, number_array
from magicbyte.tables.binary_views import with_binary_views
from magicbyte.tables.schemas import WIRE_TYPES
from magicbyte_kernels.kernel_interface import ABSENT


def record_batch(
    chosen: Format,
    output: Output,
    columns: tuple[str, ...],
    desc: Descriptors,
    num_rows: Numbers,
    *,
    origin: int,
    views: bool,
) -> pa.RecordBatch:
    """Return all rows of *output*, which gives up its memory.

    *desc* describes their entries, which have *num_rows* each; *views* says whether columns of
    bytes are to be Arrow's views, whatever the kernel has made of them.
    """
    kinds, schema = _kinds(columns)
    count = output.num_rows
    if not count or not kinds:
        output.drop()
        return rows_of_nothing(count) if not kinds else batch_of([], schema)
    form, is_viewed = output.layout.form, bool(output.layout.viewed)
    arrays: dict[str, pa.Array] = {}
    if form is None:
        output.drop()
    else:
        made = output.handed(form)
        if made.num_columns == len(kinds):
            return made.cast(with_binary_views(schema)) if views and not is_viewed else made
        arrays = dict(zip(form.schema.names, made.columns, strict=True))
    names = chosen.kernels.NAMES
    for column in chosen.kernels.ENTRY_COLUMNS:
        if column.name in kinds:
            values, kind = desc[:, column.at], kinds[column.name]
            arrays[column.name] = entry_column(column, kind, values, num_rows, ABSENT)
    if "position" in kinds:
        positions = desc[:, names["position"]] + origin
        arrays["position"] = number_array(kinds["position"], np.repeat(positions, num_rows))
    found = [arrays[name] for name in kinds]
    if not views:
        return pa.RecordBatch.from_arrays(found, schema=schema)
    made = pa.RecordBatch.from_arrays(found, names=schema.names)
    return made if is_viewed else made.cast(with_binary_views(schema))


@cache
def _kinds(columns: tuple[str, ...]) -> tuple[dict[str, pa.DataType], pa.Schema]:
    kinds = {name: WIRE_TYPES[name] for name in columns}
    return kinds, pa.schema(kinds.items())
