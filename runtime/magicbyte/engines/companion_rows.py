"""Rows of the companion files of a segment, as Arrow columns. Their values are not validated.

All engines read them in this way: they need no kernel, and so no Numba. The headers in
`magicbyte_formats.wire` read single rows as objects.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.tables.arrays import nullable_array
from magicbyte.tables.table_definition import arrow_type
from magicbyte_formats.columnar import (
    kafka_offset_index,
    kafka_producer_snapshot,
    kafka_time_index,
    kafka_transaction_index,
)
from magicbyte_formats.wire import COLUMNS
from magicbyte_kernels.kernel_interface import RowFileModule
from magicbyte_kernels.wire_types import WireColumn

FILES: dict[str, RowFileModule] = {
    "index": kafka_offset_index,
    "timeindex": kafka_time_index,
    "txnindex": kafka_transaction_index,
    "snapshot": kafka_producer_snapshot,
}
"""Row file modules by kind of file."""


def read_rows(kind: str, data: bytes) -> tuple[pa.RecordBatch, int]:
    """Return the rows of *data*, a file of *kind*, and the byte at which they end.

    They end before the first incomplete or invalid row, and before the zeros of a preallocated
    file. The caller validates the bytes after them, and the rows against each other.
    """
    file = FILES[kind]
    rows = file.rows(data)
    columns = COLUMNS[file.TABLE]
    batch = pa.RecordBatch.from_arrays(
        [_array(column, rows[column.name]) for column in columns],
        [column.name for column in columns],
    )
    return batch, file.HEADER.itemsize + rows.nbytes


def _array(wire_column: WireColumn, stored: "np.ndarray[Any, Any]") -> pa.Array:
    numbers = stored.astype(stored.dtype.newbyteorder("="))
    is_null = np.zeros(len(numbers), np.bool_)
    if wire_column.sentinel is not None:
        is_null = numbers == wire_column.sentinel
    array = nullable_array(pa.from_numpy_dtype(numbers.dtype), numbers, is_null)
    return array.cast(arrow_type(wire_column.type))
