"""Builds Arrow arrays from values that `_values` has decoded; they equal those of the kernel."""

from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding.avro._arrays import decimal_text, symbol_array
from magicbyte.decoding.avro._columns import Column
from magicbyte.decoding.avro._types import AvroArray, AvroEnum, AvroMap, AvroRecord, AvroUnion
from magicbyte.tables.arrays import bitmap, number_array


def build_array(values: Sequence[Any], column: Column) -> pa.Array:
    """Return *values*, None for null, as an Arrow array."""
    match column.avro_type:
        case AvroRecord():
            children = [
                build_array([None if value is None else value[number] for value in values], child)
                for number, child in enumerate(column.children)
            ]
            return _nested(values, column, [], children)
        case AvroUnion() if column.branch_columns:
            children = [
                build_array([_of_branch(value, index) for value in values], child)
                for index, child in column.branch_columns.items()
            ]
            return _nested(values, column, [], children)
        case AvroArray() | AvroMap():
            return _list_array(values, column)
        case AvroEnum() as enum:
            indices = pa.array(values, pa.int32())
            return pa.DictionaryArray.from_arrays(indices, symbol_array(enum))
    return _scalar_array(values, column)


def _of_branch(value: Any, index: int) -> Any:
    return value.value if value is not None and value.index == index else None


def _nested(
    values: Sequence[Any], column: Column, buffers: list[pa.Buffer], children: list[pa.Array]
) -> pa.Array:
    present = np.array([value is not None for value in values], np.bool_)
    return pa.Array.from_buffers(
        column.arrow_type, len(values), [bitmap(present), *buffers], children=children
    )


def _list_array(values: Sequence[Any], column: Column) -> pa.Array:
    lists = [value or [] for value in values]
    offsets = np.fromiter(accumulate(map(len, lists), initial=0), np.int32, len(lists) + 1)
    items = [item for one in lists for item in one]
    if isinstance(column.avro_type, AvroMap):
        key, item = column.children
        children = [
            build_array([pair[0] for pair in items], key),
            build_array([pair[1] for pair in items], item),
        ]
        entry_type = pa.struct([column.arrow_type.key_field, column.arrow_type.item_field])
        entries = pa.Array.from_buffers(entry_type, len(items), [None], children=children)
    else:
        entries = build_array(items, column.children[0])
    return _nested(values, column, [number_array(pa.int32(), offsets).buffers()[1]], [entries])


def _scalar_array(values: Sequence[Any], column: Column) -> pa.Array:
    arrow_type, logical = column.arrow_type, column.avro_type.logical
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
