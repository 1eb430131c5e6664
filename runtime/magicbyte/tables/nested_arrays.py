"""Arrays of lists, maps and structs with their innermost arrays converted to other types."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

ConvertLeaf = Callable[[pa.Array, pa.DataType], pa.Array]
"""Returns an array, which is no list, map or struct, with another type."""


def rebuilt_array(array: pa.Array, new_type: pa.DataType, convert_leaf: ConvertLeaf) -> pa.Array:
    """Return *array* with the type *new_type*, which has the same lists, maps and structs."""
    types = pa.types
    if array.type == new_type:
        return array
    if types.is_struct(array.type):
        children = [
            rebuilt_array(array.field(number), child.type, convert_leaf)
            for number, child in enumerate(new_type.fields)
        ]
        return pa.StructArray.from_arrays(
            children, fields=list(new_type.fields), mask=array.is_null()
        )
    if not (
        types.is_list(array.type) or types.is_large_list(array.type) or types.is_map(array.type)
    ):
        return convert_leaf(array, new_type)
    if array.offset:  # Arrow builds no list with a mask from offsets that are a slice
        array = array.take(pa.array(np.arange(len(array))))
    offsets = array.offsets.cast(pa.int32())
    mask = array.is_null() if array.null_count else None
    if types.is_map(array.type):
        keys = rebuilt_array(array.keys, new_type.key_type, convert_leaf)
        items = rebuilt_array(array.items, new_type.item_type, convert_leaf)
        return pa.MapArray.from_arrays(offsets, keys, items, type=new_type, mask=mask)
    items = rebuilt_array(array.values, new_type.value_type, convert_leaf)
    return pa.ListArray.from_arrays(offsets, items, new_type, mask=mask)
