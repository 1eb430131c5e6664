"""Builds Arrow arrays from values that `_values` has decoded; the kernel builds equal arrays."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding.avro._arrays import decimal_text, map_entries, symbol_array
from magicbyte.decoding.avro._columns import AvroColumn
from magicbyte.decoding.avro._types import AvroArray, AvroEnum, AvroMap, AvroRecord, AvroUnion
from magicbyte.engines.columnar.avro_columns import MAX_VALUES_BYTES
from magicbyte.engines.columnar.avro_program import ITEMS
from magicbyte.errors import InputError
from magicbyte.tables.arrays import bitmap, number_array


def build_array(values: Sequence[Any], avro_column: AvroColumn) -> pa.Array:
    """Return *values*, None for null, as an Arrow array."""
    match avro_column.avro_type:
        case AvroRecord():
            inner_arrays = [
                build_array([None if value is None else value[number] for value in values], inner)
                for number, inner in enumerate(avro_column.inner_columns)
            ]
            return _nested(values, avro_column, [], inner_arrays)
        case AvroUnion() if avro_column.branch_columns:
            inner_arrays = [
                build_array([_of_branch(value, index) for value in values], inner)
                for index, inner in avro_column.branch_columns.items()
            ]
            return _nested(values, avro_column, [], inner_arrays)
        case AvroArray() | AvroMap():
            return _list_array(values, avro_column)
        case AvroEnum() as avro_enum:
            indices = pa.array(values, pa.int32())
            return pa.DictionaryArray.from_arrays(indices, symbol_array(avro_enum))
    return _scalar_array(values, avro_column)


def _of_branch(value: Any, index: int) -> Any:
    return value.value if value is not None and value.index == index else None


def _nested(
    values: Sequence[Any],
    avro_column: AvroColumn,
    buffers: list[pa.Buffer],
    inner_arrays: list[pa.Array],
) -> pa.Array:
    present = np.array([value is not None for value in values], np.bool_)
    return pa.Array.from_buffers(
        avro_column.arrow_type, len(values), [bitmap(present), *buffers], children=inner_arrays
    )


def _list_array(values: Sequence[Any], avro_column: AvroColumn) -> pa.Array:
    lists = [value or [] for value in values]
    offsets = np.fromiter(accumulate(map(len, lists), initial=0), np.int32, len(lists) + 1)
    row_bytes = sum(
        inner.layout.row_bytes
        for column in avro_column.inner_columns
        for inner in _same_space(column)
    )
    if int(offsets[-1]) * row_bytes > MAX_VALUES_BYTES:
        raise InputError(
            f"{offsets[-1]} items of arrays or maps, each of {row_bytes} bytes in columns",
            f"at most {MAX_VALUES_BYTES} bytes in one call: fewer values",
        )
    items = [item for one in lists for item in one]
    if isinstance(avro_column.avro_type, AvroMap):
        inner_arrays = [
            build_array([pair[number] for pair in items], inner)
            for number, inner in enumerate(avro_column.inner_columns)
        ]
        item_array = map_entries(avro_column.arrow_type, inner_arrays)
    else:
        item_array = build_array(items, avro_column.inner_columns[0])
    offset_buffer = number_array(pa.int32(), offsets).buffers()[1]
    return _nested(values, avro_column, [offset_buffer], [item_array])


def _same_space(avro_column: AvroColumn) -> Iterator[AvroColumn]:
    """Yield *avro_column* and the columns in it that have as many rows."""
    yield avro_column
    if avro_column.layout.kind != ITEMS:
        for inner in avro_column.inner_columns:
            yield from _same_space(inner)


def _scalar_array(values: Sequence[Any], avro_column: AvroColumn) -> pa.Array:
    arrow_type, logical = avro_column.arrow_type, avro_column.avro_type.logical
    if logical is not None and logical.name == "decimal":
        texts = [None if value is None else decimal_text(value, logical.scale) for value in values]
        if pa.types.is_string(arrow_type):
            return pa.array(texts, arrow_type)
        decimals = [None if text is None else Decimal(text) for text in texts]
        return pa.array(decimals, arrow_type)
    if pa.types.is_temporal(arrow_type) and logical is not None and logical.name != "duration":
        return pa.array(values, pa.int32() if arrow_type.bit_width == 32 else pa.int64()).view(
            arrow_type
        )
    return pa.array(values, arrow_type)
