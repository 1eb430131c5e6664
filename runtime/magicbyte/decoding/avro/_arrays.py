"""Builds Arrow arrays from the memory that the kernel has filled."""

import numpy as np
import pyarrow as pa

from magicbyte.decoding.avro._columns import Column
from magicbyte.decoding.avro._types import AvroEnum, AvroMap
from magicbyte.engines.columnar.avro_columns import FilledColumns
from magicbyte.engines.columnar.avro_program import BYTE_STRINGS, FIXED_WIDTH, ITEMS
from magicbyte.tables.arrays import OFFSET_BYTES, string_array


def build_array(filled: FilledColumns, column: Column) -> pa.Array:
    """Return the Arrow array of *column*, without a copy but of booleans, nulls and enums."""
    memory, layout = filled.columns[column.number], column.layout
    count = filled.counts[layout.space]
    valid, null_count = _validity(memory.validity[:count])
    match layout.kind:
        case kind if kind == ITEMS:
            offsets = pa.py_buffer(memory.offsets[: OFFSET_BYTES * (count + 1)])
            children = [build_array(filled, child) for child in column.children]
            if isinstance(column.avro_type, AvroMap):
                children = [_entries(column.arrow_type, children, filled.counts[layout.width])]
            return pa.Array.from_buffers(
                column.arrow_type, count, [valid, offsets], null_count, children=children
            )
        case kind if kind == BYTE_STRINGS:
            offsets = pa.py_buffer(memory.offsets[: OFFSET_BYTES * (count + 1)])
            content = memory.data[: filled.used_bytes[column.number]]
            if _is_decimal_text(column):
                return _decimal_texts(column, [valid, offsets, pa.py_buffer(content)], count)
            buffers = [valid, offsets, pa.py_buffer(content)]
            return pa.Array.from_buffers(column.arrow_type, count, buffers, null_count)
        case kind if kind == FIXED_WIDTH:
            return _fixed_width(
                column, memory.data[: count * layout.width], valid, count, null_count
            )
    if pa.types.is_null(column.arrow_type):
        return pa.nulls(count)
    children = [build_array(filled, child) for child in column.children]
    return pa.Array.from_buffers(column.arrow_type, count, [valid], null_count, children=children)


def _validity(
    present: "np.ndarray[tuple[int], np.dtype[np.uint8]]",
) -> tuple[pa.Buffer | None, int]:
    """Return a bitmap of the bytes *present*, and the number of zeros; no bitmap if there are none."""
    null_count = len(present) - int(np.count_nonzero(present))
    if not null_count:
        return None, 0
    return pa.py_buffer(np.packbits(present, bitorder="little")), null_count


def _entries(map_type: pa.MapType, children: list[pa.Array], count: int) -> pa.Array:
    entry_type = pa.struct([map_type.key_field, map_type.item_field])
    return pa.Array.from_buffers(entry_type, count, [None], 0, children=children)


def _fixed_width(
    column: Column,
    content: "np.ndarray[tuple[int], np.dtype[np.uint8]]",
    valid: pa.Buffer | None,
    count: int,
    null_count: int,
) -> pa.Array:
    if pa.types.is_boolean(column.arrow_type):
        content = np.packbits(content, bitorder="little")
    buffers = [valid, pa.py_buffer(content)]
    if isinstance(column.avro_type, AvroEnum):
        indices = pa.Array.from_buffers(pa.int32(), count, buffers, null_count)
        return pa.DictionaryArray.from_arrays(indices, symbol_array(column.avro_type), safe=False)
    return pa.Array.from_buffers(column.arrow_type, count, buffers, null_count)


def symbol_array(enum: AvroEnum) -> pa.Array:
    """Return the symbols of *enum*, in their order."""
    return string_array(enum.symbols)


def _is_decimal_text(column: Column) -> bool:
    logical = column.avro_type.logical
    return logical is not None and logical.name == "decimal"


def _decimal_texts(column: Column, buffers: list[pa.Buffer | None], count: int) -> pa.Array:
    """Return decimals that are too wide for Arrow's types as text."""
    logical = column.avro_type.logical
    assert logical is not None
    contents = pa.Array.from_buffers(pa.binary(), count, buffers)
    texts = [
        None
        if content is None
        else decimal_text(int.from_bytes(content, "big", signed=True), logical.scale)
        for content in contents.to_pylist()
    ]
    return string_array(texts)


def decimal_text(number: int, scale: int) -> str:
    """Return *number*, divided by 10^*scale*, in plain digits."""
    digits = str(abs(number)).rjust(scale + 1, "0")
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits)
