"""Parts of binary Arrow arrays, and arrays put together from parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.decoding.schema_frames import Int32Array, Int64Array
from magicbyte.engines.columnar.avro_columns import Starts
from magicbyte.tables.arrays import Mask, null_mask, value_offsets

MAX_BINARY_BYTES = (1 << 31) - 1
"""Bytes of the largest value of an Arrow array of type binary."""


def body_slices(
    values: pa.Array, starts: Starts | int, cut_bytes: Int32Array | int = 0
) -> pa.Array:
    """Return each of *values* from its byte of *starts* on, without its last *cut_bytes* bytes.

    A value that is shorter becomes empty.
    """
    if isinstance(starts, int) and isinstance(cut_bytes, int) and not starts and not cut_bytes:
        return values
    start = _common_start(starts)
    if (
        isinstance(cut_bytes, int)
        and not cut_bytes
        and start is not None
        and values.type == pa.binary()
    ):
        # Arrow fails without an end: "Negative buffer resize" (pyarrow 26).
        return pc.binary_slice(values, start, MAX_BINARY_BYTES)
    offsets = value_offsets(values).astype(np.int64)
    begins = np.minimum(offsets[:-1] + starts, offsets[1:])
    sizes = np.maximum(offsets[1:] - cut_bytes - begins, 0)
    new_offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum(sizes, out=new_offsets[1:])
    first, last = int(offsets[0]), int(offsets[-1])
    data = np.frombuffer(values.buffers()[2] or b"", np.uint8)[first:last]
    bodies = data[_are_in_bodies(begins - first, sizes, offsets - first)]
    is_null = null_mask(values)
    validity = None
    if is_null.any():
        validity = pa.py_buffer(np.packbits(~is_null, bitorder="little"))
    return pa.Array.from_buffers(
        pa.binary(),
        len(values),
        [validity, pa.py_buffer(new_offsets), pa.py_buffer(bodies)],
    )


def _common_start(starts: Starts | int) -> int | None:
    """Return the number that all *starts* are; None if they differ."""
    if isinstance(starts, int):
        return starts
    if not len(starts):
        return 0
    return int(starts[0]) if bool((starts == starts[0]).all()) else None


def _are_in_bodies(begins: Int64Array, body_sizes: Int64Array, value_bounds: Int64Array) -> Mask:
    """Return whether each byte is in a body: from one of *begins* on, as many bytes as *body_sizes* has."""
    fronts = begins - value_bounds[:-1]
    backs = value_bounds[1:] - begins - body_sizes
    are_in = np.ones(int(value_bounds[-1]), np.bool_)
    if int(fronts.max(initial=0)) > MAX_SHORT or int(backs.max(initial=0)) > MAX_SHORT:
        # 1 from each begin on, 0 from each end on; bodies that are empty have neither.
        steps = np.zeros(len(are_in) + 1, np.int8)
        is_filled = body_sizes > 0
        steps[begins[is_filled]] += 1
        steps[(begins + body_sizes)[is_filled]] -= 1
        summed: Mask = np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)
        return summed
    for number in range(int(fronts.max(initial=0))):
        are_in[(value_bounds[:-1] + number)[fronts > number]] = False
    for number in range(int(backs.max(initial=0))):
        are_in[(value_bounds[1:] - 1 - number)[backs > number]] = False
    return are_in


MAX_SHORT = 64
"""Bytes of a frame that are cleared one after the other, which is faster than a sum over all bytes."""


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
