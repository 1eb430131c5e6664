"""Conversions between Python, NumPy and Arrow arrays that load neither `numpy.ma` nor pandas.

`pyarrow.array` and `numpy.unique` ask whether an array is masked, which imports `numpy.ma`: as slow as
reading 100,000 records. `pyarrow.array` also imports pandas if it is installed: 0.2 s and 60 MB.
"""

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa

MAX_CACHED_ROWS = 1 << 17
"""Longest constant array that is cached."""

Array = np.ndarray[Any, np.dtype[Any]]
Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]
Codes = np.ndarray[tuple[int], np.dtype[np.int8]]
Indices = np.ndarray[tuple[int], np.dtype[np.intp]]
StructuredRows = np.ndarray[tuple[int], np.dtype[np.void]]

MAX_ARROW_OFFSET = (1 << 31) - 1
"""Bytes that a column of strings or bytes can hold: Arrow's offsets have 32 bits."""

OFFSET_BYTES = 4
"""Size of one Arrow offset. A column of n strings, bytes or lists has n + 1 offsets."""


class RowFormat(Protocol):
    """Interface of generated classes that declare the layout of a fixed-width row."""

    SIZE: ClassVar[int]
    POSITIONS: ClassVar[dict[str, int]]
    FIXED: ClassVar[struct.Struct]


def dtype_of(row: type[RowFormat]) -> "np.dtype[np.void]":
    """Return the dtype of the rows that the generated class *row* reads."""
    order, kinds = row.FIXED.format[0], row.FIXED.format[1:]
    return np.dtype(
        {
            "names": list(row.POSITIONS),
            "formats": [order + kind for kind in kinds],
            "offsets": list(row.POSITIONS.values()),
            "itemsize": row.SIZE,
        }
    )


def number_array(data_type: pa.DataType, values: Array) -> pa.Array:
    """Return *values*, with the dtype of *data_type*, as Arrow, without a copy."""
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(data_type, len(values), [None, buffer])


def to_numpy(array: pa.Array) -> Array:
    """Return the integers of *array*, which has no nulls, without a copy or an import of pandas."""
    integers = np.frombuffer(array.buffers()[1], array.type.to_pandas_dtype())
    return integers[array.offset : array.offset + len(array)]


def null_mask(array: pa.Array) -> Mask:
    """Return an array of booleans that are true where *array* is null."""
    bits = array.buffers()[0]
    if bits is None or not array.null_count:
        return np.zeros(len(array), np.bool_)
    end = array.offset + len(array)
    valid = np.unpackbits(np.frombuffer(bits, np.uint8), count=end, bitorder="little")
    nulls: Mask = valid[array.offset :] == 0
    return nulls


def value_offsets(array: pa.Array) -> Array:
    """Return Arrow's n + 1 offsets of the n values of *array*: strings, bytes or lists."""
    offsets = array.buffers()[1]
    if offsets is None or not len(array):
        return np.zeros(len(array) + 1, np.int32)
    return np.frombuffer(offsets, np.int32, len(array) + 1, OFFSET_BYTES * array.offset)


def value_lengths(array: pa.Array) -> Array:
    """Return the length in bytes of each string or bytes value of *array*; -1 for null."""
    return np.where(null_mask(array), -1, np.diff(value_offsets(array)).astype(np.int64))


def nullable_array(data_type: pa.DataType, values: Array, is_null: Mask) -> pa.Array:
    """Return *values*, with the dtype of *data_type*, as Arrow, with null where *is_null*."""
    valid = bitmap(~is_null) if is_null.any() else None
    if pa.types.is_boolean(data_type):
        data = bitmap(values)
    else:
        data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(data_type, len(values), [valid, data])


def string_array(values: Sequence[str | None]) -> pa.Array:
    """Return *values* as an Arrow array of strings."""
    return _bytes_array(
        pa.string(), [None if value is None else value.encode() for value in values]
    )


def array_of(values: Sequence[Any], data_type: pa.DataType) -> pa.Array:
    """Return Python *values* as Arrow; None is null.

    *data_type* is a type of our tables: numbers, booleans, times (integers in their unit), strings, bytes,
    or lists of these or of structs of these. Raises OverflowError if an integer is too large for *data_type*.
    """
    if pa.types.is_string(data_type):
        return string_array(values)
    if pa.types.is_binary(data_type):
        return _bytes_array(data_type, values)
    is_null = np.fromiter((value is None for value in values), np.bool_, len(values))
    if pa.types.is_list(data_type):
        return _list_array(data_type, values, is_null)
    dtype = (
        f"int{data_type.bit_width}"
        if pa.types.is_timestamp(data_type)
        else data_type.to_pandas_dtype()
    )
    filled = np.array([0 if value is None else value for value in values], dtype)
    return nullable_array(data_type, filled, is_null)


def batch_of(rows: Sequence[dict[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return *rows*, which have a key for each column of *schema*, as an Arrow batch."""
    columns = [array_of([row[field.name] for row in rows], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _bytes_array(data_type: pa.DataType, values: Sequence[bytes | None]) -> pa.Array:
    is_valid = np.fromiter((value is not None for value in values), np.bool_, len(values))
    filled = [value or b"" for value in values]
    offsets = np.cumsum([0, *map(len, filled)], dtype=np.int64)
    if offsets[-1] > MAX_ARROW_OFFSET:
        raise OverflowError(f"{offsets[-1]} bytes in a column that holds {MAX_ARROW_OFFSET}")
    buffers = [
        None if is_valid.all() else bitmap(is_valid),
        pa.py_buffer(offsets.astype(np.int32)),
        pa.py_buffer(b"".join(filled)),
    ]
    return pa.Array.from_buffers(data_type, len(values), buffers)


def _list_array(data_type: pa.DataType, values: Sequence[Any], is_null: Mask) -> pa.Array:
    elements = [element for value in values for element in value or ()]
    offsets = np.cumsum([0, *(len(value or ()) for value in values)], dtype=np.int32)
    valid = None if not is_null.any() else bitmap(~is_null)
    return pa.Array.from_buffers(
        data_type,
        len(values),
        [valid, pa.py_buffer(offsets)],
        children=[_element_array(data_type.value_type, elements)],
    )


def _element_array(data_type: pa.DataType, elements: list[Any]) -> pa.Array:
    """Return the *elements* of lists as Arrow: dicts, if *data_type* is a struct, which are not None."""
    if not pa.types.is_struct(data_type):
        return array_of(elements, data_type)
    fields = list(data_type)
    columns = [array_of([each[field.name] for each in elements], field.type) for field in fields]
    return pa.StructArray.from_arrays(columns, fields=fields)


def bool_array(mask: Mask) -> pa.Array:
    """Return *mask* as an Arrow array of booleans."""
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, bitmap(mask)])


def bitmap(mask: Array) -> pa.Buffer:
    """Return *mask* as a buffer with one bit per value."""
    return pa.py_buffer(np.packbits(mask, bitorder="little"))


def distinct(values: Array) -> tuple[list[int], Indices]:
    """Return the distinct *values*, sorted, and the index among them of each value."""
    ordered = np.sort(values)
    uniques = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return uniques.tolist(), np.searchsorted(uniques, values)


def constant_array(data_type: pa.DataType, value: Any, count: int) -> pa.Array:
    """Return an array of *count* times *value*."""
    if count > MAX_CACHED_ROWS:
        return _constant(data_type, value, count)
    # Few different lengths are cached: powers of two.
    return _cached_constant(data_type, value, max(1 << (count - 1).bit_length(), 1)).slice(0, count)


@lru_cache(maxsize=64)
def _cached_constant(data_type: pa.DataType, value: Any, count: int) -> pa.Array:
    return _constant(data_type, value, count)


def _constant(data_type: pa.DataType, value: Any, count: int) -> pa.Array:
    return (
        pa.nulls(count, data_type)
        if value is None
        else pa.repeat(array_of([value], data_type)[0], count)
    )
