"""Arrow's arrays of NumPy's, and what else both would rather do with all of `numpy.ma`.

`pyarrow.array` and `numpy.unique` ask whether an array is masked, and so make that load: it takes
as long as reading 100,000 records. Nothing is masked here. `pyarrow.array` also loads pandas, if
it is installed, whatever it is given: 0.2 s and 60 MB that nobody here asked for.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

Array = np.ndarray[Any, np.dtype[Any]]
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
Codes = np.ndarray[tuple[int], np.dtype[np.int8]]
MAX_ARROW_OFFSET = (1 << 31) - 1
"""What a column of strings or bytes holds: Arrow counts them in 32 bits."""

Indices = np.ndarray[tuple[int], np.dtype[np.intp]]


def number_array(kind: pa.DataType, values: Array) -> pa.Array:
    """Return *values*, which are as *kind* has them, without a copy."""
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(kind, len(values), [None, buffer])


def to_numpy(array: pa.Array) -> Array:
    """Return the integers of *array*, which has no nulls, without a copy.

    `to_numpy` loads pandas, too.
    """
    held = np.frombuffer(array.buffers()[1], array.type.to_pandas_dtype())
    return held[array.offset : array.offset + len(array)]


def null_mask(array: pa.Array) -> Mask:
    """Return which of *array* are null."""
    valid = array.buffers()[0]
    if valid is None or not array.null_count:
        return np.zeros(len(array), np.bool_)
    end = array.offset + len(array)
    there = np.unpackbits(np.frombuffer(valid, np.uint8), count=end, bitorder="little")
    nulls: Mask = there[array.offset :] == 0
    return nulls


def value_offsets(array: pa.Array) -> Array:
    """Return where the values of *array*, strings, bytes or lists, end, in front of them where the
    first begins: counted in the bytes or elements that all of them lie in.
    """
    offsets = array.buffers()[1]
    if offsets is None or not len(array):
        return np.zeros(len(array) + 1, np.int32)
    return np.frombuffer(offsets, np.int32, len(array) + 1, 4 * array.offset)


def value_lengths(array: pa.Array) -> Array:
    """Return the bytes of each of *array*, strings or bytes; -1 for null."""
    return np.where(null_mask(array), -1, np.diff(value_offsets(array)).astype(np.int64))


def nullable_array(kind: pa.DataType, values: Array, null_mask: Mask) -> pa.Array:
    """Return *values*, which are as *kind* has them, but null where *is_null*."""
    is_there = bitmap(~null_mask) if null_mask.any() else None
    held = (
        bitmap(values) if pa.types.is_boolean(kind) else pa.py_buffer(np.ascontiguousarray(values))
    )
    return pa.Array.from_buffers(kind, len(values), [is_there, held])


def string_array(values: Sequence[str | None]) -> pa.Array:
    """Return *values* as strings of Arrow."""
    return _bytes(pa.string(), [None if value is None else value.encode() for value in values])


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return Python's *values*, with None for null, as *kind*, one of those that tables have.

    These are numbers, booleans, times (integers in their unit), strings, bytes, and lists of
    structs of them. Raises OverflowError where an integer is too large for *kind*.
    """
    if pa.types.is_string(kind):
        return string_array(values)
    if pa.types.is_binary(kind):
        return _bytes(kind, values)
    null_mask = np.fromiter((value is None for value in values), np.bool_, len(values))
    if pa.types.is_list(kind):
        return _lists(kind, values, null_mask)
    numpy = f"int{kind.bit_width}" if pa.types.is_timestamp(kind) else kind.to_pandas_dtype()
    held = np.array([0 if value is None else value for value in values], numpy)
    return nullable_array(kind, held, null_mask)


def batch_of(rows: Sequence[dict[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return *rows*, which have a key for each column of *schema*, as Arrow."""
    columns = [array_of([row[field.name] for row in rows], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _bytes(kind: pa.DataType, values: Sequence[bytes | None]) -> pa.Array:
    is_there = np.fromiter((value is not None for value in values), np.bool_, len(values))
    written = [value or b"" for value in values]
    ends = np.cumsum([0, *map(len, written)], dtype=np.int64)
    if ends[-1] > MAX_ARROW_OFFSET:
        raise OverflowError(f"{ends[-1]} bytes in a column that holds {MAX_ARROW_OFFSET}")
    buffers = [
        None if is_there.all() else bitmap(is_there),
        pa.py_buffer(ends.astype(np.int32)),
        pa.py_buffer(b"".join(written)),
    ]
    return pa.Array.from_buffers(kind, len(values), buffers)


def _lists(kind: pa.DataType, values: Sequence[Any], null_mask: Mask) -> pa.Array:
    flat = [item for some in values for item in some or ()]
    ends = np.cumsum([0, *(len(some or ()) for some in values)], dtype=np.int32)
    fields = list(kind.value_type)
    columns = [array_of([item[field.name] for item in flat], field.type) for field in fields]
    items = pa.StructArray.from_arrays(columns, fields=fields)
    is_there = None if not null_mask.any() else bitmap(~null_mask)
    return pa.Array.from_buffers(
        kind, len(values), [is_there, pa.py_buffer(ends)], children=[items]
    )


def bool_array(mask: Mask) -> pa.Array:
    """Return *mask*, a bit for each."""
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, bitmap(mask)])


def bitmap(mask: Array) -> pa.Buffer:
    """Return a bit for each of *mask*."""
    return pa.py_buffer(np.packbits(mask, bitorder="little"))


def distinct(values: Array) -> tuple[list[int], Indices]:
    """Return the different ones of *values*, and for each value which of them it is."""
    ordered = np.sort(values)
    found = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return found.tolist(), np.searchsorted(found, values)
