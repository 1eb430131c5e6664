"""Parts of binary Arrow arrays, and arrays put together from parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding.schema_frames import Int32Array
from magicbyte.engines.columnar.avro_columns import Starts
from magicbyte.tables.arrays import null_mask, value_offsets


def body_slices(
    values: pa.Array, starts: Starts | int, cut_bytes: Int32Array | int = 0
) -> pa.Array:
    """Return each of *values* from its byte of *starts* on, without its last *cut_bytes* bytes.

    A value that is shorter becomes empty.
    """
    if isinstance(starts, int) and isinstance(cut_bytes, int) and not starts and not cut_bytes:
        return values
    offsets = value_offsets(values).astype(np.int64)
    begins = np.minimum(offsets[:-1] + starts, offsets[1:])
    sizes = np.maximum(offsets[1:] - cut_bytes - begins, 0)
    new_offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(sizes, out=new_offsets[1:])
    data = np.frombuffer(values.buffers()[2] or b"", np.uint8)
    # Positions of all bytes that stay: begins repeated, plus a number that starts again at each value.
    positions = np.repeat(begins - new_offsets[:-1], sizes) + np.arange(new_offsets[-1])
    is_null = null_mask(values)
    validity = None
    if is_null.any():
        validity = pa.py_buffer(np.packbits(~is_null, bitorder="little"))
    return pa.Array.from_buffers(
        pa.binary(),
        len(values),
        [validity, pa.py_buffer(new_offsets), pa.py_buffer(np.ascontiguousarray(data[positions]))],
    )


def scatter(
    piece_arrays: Sequence[pa.Array], rows: Sequence[Any], num_rows: int, data_type: pa.DataType
) -> pa.Array:
    """Return the elements of *piece_arrays* at their *rows* of an array of *num_rows*; null elsewhere."""
    if not piece_arrays:
        return pa.nulls(num_rows, data_type)
    if len(piece_arrays) == 1 and len(piece_arrays[0]) == num_rows:
        return piece_arrays[0]
    all_rows = np.concatenate(rows)
    indexes = np.zeros(num_rows, np.int64)
    is_set = np.zeros(num_rows, np.bool_)
    indexes[all_rows] = np.arange(len(all_rows))
    is_set[all_rows] = True
    return pa.concat_arrays(list(piece_arrays)).take(pa.array(indexes, mask=~is_set))
