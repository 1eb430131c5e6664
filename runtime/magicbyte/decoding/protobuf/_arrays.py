"""Builds Arrow arrays from the memory that the kernel has filled."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from magicbyte.decoding.protobuf._columns import ProtobufColumn
from magicbyte.decoding.protobuf._message_types import enum_names
from magicbyte.engines.columnar.protobuf_columns import FilledMessages
from magicbyte.engines.columnar.protobuf_program import BYTE_STRINGS, FIXED_WIDTH, ITEMS
from magicbyte.tables.arrays import (
    OFFSET_BYTES,
    Array,
    Mask,
    bitmap,
    distinct,
    string_array,
    to_numpy,
    value_offsets,
)


def build_array(filled: FilledMessages, protobuf_column: ProtobufColumn) -> pa.Array:
    """Return the Arrow array of *protobuf_column*, without a copy of anything but booleans, nulls and names of enums."""
    memory, layout = filled.columns[protobuf_column.number], protobuf_column.column_layout
    count = filled.row_counts[protobuf_column.number]
    present = memory.validity[:count]
    null_count = len(present) - int(np.count_nonzero(present))
    valid = bitmap(present) if null_count else None
    if layout.kind == FIXED_WIDTH:
        value_bytes = memory.value_bytes[: count * layout.width]
        if protobuf_column.enum_type is not None:
            return _names(protobuf_column.enum_type, value_bytes.view(np.int32), valid, null_count)
        is_bits = pa.types.is_boolean(protobuf_column.arrow_type)
        content = bitmap(value_bytes) if is_bits else pa.py_buffer(value_bytes)
        return pa.Array.from_buffers(
            protobuf_column.arrow_type, count, [valid, content], null_count
        )
    buffers = [valid]
    if layout.kind in (BYTE_STRINGS, ITEMS):
        buffers.append(pa.py_buffer(memory.value_offsets[: OFFSET_BYTES * (count + 1)]))
    if layout.kind == BYTE_STRINGS:
        buffers.append(
            pa.py_buffer(memory.value_bytes[: filled.used_counts[protobuf_column.number]])
        )
        return pa.Array.from_buffers(protobuf_column.arrow_type, count, buffers, null_count)
    inner_arrays = [build_array(filled, inner) for inner in protobuf_column.inner_columns]
    if pa.types.is_map(protobuf_column.arrow_type):
        entry_type = pa.struct(
            [protobuf_column.arrow_type.key_field, protobuf_column.arrow_type.item_field]
        )
        num_entries = filled.used_counts[protobuf_column.number]
        inner_arrays = [
            pa.Array.from_buffers(entry_type, num_entries, [None], 0, children=inner_arrays)
        ]
    return pa.Array.from_buffers(
        protobuf_column.arrow_type, count, buffers, null_count, children=inner_arrays
    )


def _names(
    enum_type: Any, enum_values: Array, valid: pa.Buffer | None, null_count: int
) -> pa.Array:
    """Return the names of the *enum_values* of an enum, the number as text where it has none."""
    number_names = dict(sorted(enum_names(enum_type).items()))
    names = list(number_names.values())
    known_numbers = np.array(list(number_names), np.int64)
    first, last = int(known_numbers[0]), int(known_numbers[-1])
    if len(names) == last - first + 1:
        indices = enum_values if not first else enum_values - np.int64(first)
        are_known = (enum_values >= first) & (enum_values <= last)
    else:
        indices = np.minimum(np.searchsorted(known_numbers, enum_values), len(names) - 1)
        are_known = known_numbers[indices] == enum_values
    if not are_known.all():
        others, other_indices = distinct(enum_values[~are_known])
        indices = indices.astype(np.int64)
        indices[~are_known] = len(names) + other_indices
        names += map(str, others)
    index_array = pa.Array.from_buffers(
        pa.int32(),
        len(enum_values),
        [valid, pa.py_buffer(np.ascontiguousarray(indices, np.int32))],
        null_count,
    )
    return string_array(names).take(index_array)


def rows_with_equal_keys(array: pa.Array, protobuf_column: ProtobufColumn) -> Mask:
    """Return which rows of *array* have a map with a key that occurs again: of equal keys the last one counts."""
    are_such = np.zeros(len(array), np.bool_)
    if not protobuf_column.has_maps:
        return are_such
    if protobuf_column.column_layout.kind != ITEMS:
        for number, inner in enumerate(protobuf_column.inner_columns):
            if inner.has_maps:
                are_such |= rows_with_equal_keys(array.field(number), inner)
        return are_such
    offsets, item_column = value_offsets(array), protobuf_column.inner_columns[-1]
    if pa.types.is_map(protobuf_column.arrow_type):
        are_items_such = _are_again(array.keys, offsets)
        are_items_such |= rows_with_equal_keys(array.items, item_column)
    else:
        are_items_such = rows_with_equal_keys(array.values, item_column)
    items = np.flatnonzero(are_items_such)
    are_such[np.searchsorted(offsets, items, side="right") - 1] = True
    return are_such


def _are_again(map_keys: pa.Array, map_offsets: Array) -> Mask:
    """Return which of *map_keys* occur earlier between the same two *map_offsets*."""
    are_again, sizes = np.zeros(len(map_keys), np.bool_), np.diff(map_offsets)
    if int(sizes.max(initial=0)) < 2:
        return are_again
    codes = map_keys.dictionary_encode()
    maps = np.repeat(np.arange(len(sizes)), sizes)
    pairs = to_numpy(codes.indices) + maps * len(codes.dictionary)
    if int(pc.count_distinct(pa.array(pairs)).as_py()) < len(pairs):
        order = np.argsort(pairs, kind="stable")
        are_again[order[1:]] = pairs[order[1:]] == pairs[order[:-1]]
    return are_again
