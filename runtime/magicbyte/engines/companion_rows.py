"""The rows of the files beside a segment, as columns; what they say is not judged.

There is one way to read them: they need no kernel, and so no Numba. Who wants a few of them as
objects is better served by the headers of `magicbyte_formats.wire`.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.tables.arrays import nullable_array
from magicbyte.tables.schemas import arrow_type
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
"""By the kinds of files."""


def read_rows(kind: str, data: bytes) -> tuple[pa.RecordBatch, int]:
    """Return the rows of *data*, a file of *kind*, and the byte at which they end.

    They end before the first that is not whole or not valid, or with which the zeros of a file
    begin that was allocated before it was filled. What is behind them, and whether their numbers
    agree with each other, the caller judges.
    """
    file = FILES[kind]
    rows = file.rows(data)
    columns = COLUMNS[file.TABLE]
    made = pa.RecordBatch.from_arrays(
        [_array(column, rows[column.name]) for column in columns],
        [column.name for column in columns],
    )
    return made, file.HEADER.itemsize + rows.nbytes


def _array(column: WireColumn, stored: "np.ndarray[Any, Any]") -> pa.Array:
    numbers = stored.astype(stored.dtype.newbyteorder("="))
    is_null = None if column.sentinel is None else numbers == column.sentinel
    kind = arrow_type(column.type)
    if is_null is None:
        is_null = np.zeros(len(numbers), np.bool_)
    return nullable_array(pa.from_numpy_dtype(numbers.dtype), numbers, is_null).cast(kind)
