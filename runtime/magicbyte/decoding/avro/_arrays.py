"""Builds Arrow arrays from the memory that the kernel has filled."""

import numpy as np
import pyarrow as pa

from magicbyte.decoding.avro._columns import AvroColumn
from magicbyte.decoding.avro._types import AvroEnum, AvroMap
from magicbyte.engines.columnar.avro_columns import FilledColumns
from magicbyte.engines.columnar.avro_program import BYTE_STRINGS, FIXED_WIDTH, ITEMS
from magicbyte.tables.arrays import OFFSET_BYTES, string_array


def build_array(filled: FilledColumns, avro_column: AvroColumn) -> pa.Array:
    """Return the Arrow array of *avro_column*, without a copy of anything but booleans and nulls."""
    memory, layout = filled.columns[avro_column.number], avro_column.layout
    count, arrow_type = filled.counts[layout.space], avro_column.arrow_type
    valid, null_count = _validity(memory.validity[:count])
    if layout.kind == FIXED_WIDTH:
        value_bytes = memory.value_bytes[: count * layout.width]
        return _fixed_width(avro_column, value_bytes, valid, count, null_count)
    buffers = [valid]
    if layout.kind in (BYTE_STRINGS, ITEMS):
        buffers.append(pa.py_buffer(memory.value_offsets[: OFFSET_BYTES * (count + 1)]))
    if layout.kind == BYTE_STRINGS:
        value_bytes = memory.value_bytes[: filled.used_bytes[avro_column.number]]
        buffers.append(pa.py_buffer(value_bytes))
        if _is_decimal_text(avro_column):
            return _decimal_texts(avro_column, buffers, count)
        return pa.Array.from_buffers(arrow_type, count, buffers, null_count)
    if pa.types.is_null(arrow_type):
        return pa.nulls(count)
    inner_arrays = [build_array(filled, inner) for inner in avro_column.inner_columns]
    if isinstance(avro_column.avro_type, AvroMap):
        inner_arrays = [map_entries(arrow_type, inner_arrays)]
    return pa.Array.from_buffers(arrow_type, count, buffers, null_count, children=inner_arrays)


def _validity(
    present: "np.ndarray[tuple[int], np.dtype[np.uint8]]",
) -> tuple[pa.Buffer | None, int]:
    """Return a bitmap of the bytes *present*, and the number of zeros; no bitmap if there are none."""
    null_count = len(present) - int(np.count_nonzero(present))
    if not null_count:
        return None, 0
    return pa.py_buffer(np.packbits(present, bitorder="little")), null_count


def map_entries(map_type: pa.MapType, inner_arrays: list[pa.Array]) -> pa.Array:
    """Return the keys and values of maps as one array of structs."""
    entry_type = pa.struct([map_type.key_field, map_type.item_field])
    count = len(inner_arrays[0])
    return pa.Array.from_buffers(entry_type, count, [None], 0, children=inner_arrays)


def _fixed_width(
    avro_column: AvroColumn,
    value_bytes: "np.ndarray[tuple[int], np.dtype[np.uint8]]",
    valid: pa.Buffer | None,
    count: int,
    null_count: int,
) -> pa.Array:
    if pa.types.is_boolean(avro_column.arrow_type):
        value_bytes = np.packbits(value_bytes, bitorder="little")
    buffers = [valid, pa.py_buffer(value_bytes)]
    if isinstance(avro_column.avro_type, AvroEnum):
        indices = pa.Array.from_buffers(pa.int32(), count, buffers, null_count)
        return pa.DictionaryArray.from_arrays(
            indices, symbol_array(avro_column.avro_type), safe=False
        )
    return pa.Array.from_buffers(avro_column.arrow_type, count, buffers, null_count)


def symbol_array(avro_enum: AvroEnum) -> pa.Array:
    """Return the symbols of *avro_enum*, in their order."""
    return string_array(avro_enum.symbols)


def _is_decimal_text(avro_column: AvroColumn) -> bool:
    logical = avro_column.avro_type.logical
    return logical is not None and logical.name == "decimal"


def _decimal_texts(
    avro_column: AvroColumn, buffers: list[pa.Buffer | None], count: int
) -> pa.Array:
    """Return decimals that are too wide for Arrow's types as text."""
    logical = avro_column.avro_type.logical
    assert logical is not None
    numbers = pa.Array.from_buffers(pa.binary(), count, buffers)
    texts = [
        None
        if number is None
        else decimal_text(int.from_bytes(number, "big", signed=True), logical.scale)
        for number in numbers.to_pylist()
    ]
    return string_array(texts)


def decimal_text(number: int, scale: int) -> str:
    """Return *number*, divided by 10^*scale*, in plain digits."""
    digits = str(abs(number)).rjust(scale + 1, "0")
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits)
