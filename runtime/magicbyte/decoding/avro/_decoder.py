"""Decodes Avro values into an Arrow array."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.decoding.avro import _python_arrays
from magicbyte.decoding.avro._arrays import build_array
from magicbyte.decoding.avro._columns import ColumnTree
from magicbyte.decoding.avro._json_values import OutputLimitError, json_text
from magicbyte.decoding.avro._program import compile_program
from magicbyte.decoding.avro._resolution import resolve
from magicbyte.decoding.avro._schema import AvroSchema
from magicbyte.decoding.avro._values import ValueFault, ValueReader
from magicbyte.engines.columnar.avro_columns import (
    MIN_OUTPUT_BYTES,
    OUTPUT_RATIO,
    FaultCodes,
    Positions,
    Starts,
    fill_columns,
    max_values,
)
from magicbyte.engines.columnar.avro_program import AvroProgram, Fault
from magicbyte.engines.columnar.kernel_loader import is_library_built
from magicbyte.errors import InputError, NotColumnarError
from magicbyte.tables.arrays import string_array

MAX_PYTHON_VALUES = 1 << 20
"""Most values of one call in ordinary Python."""


@dataclass(frozen=True, slots=True)
class DecodedValues:
    """Values as an Arrow array, and why some did not decode.

    Attributes:
        array: A value for each row; null where the bytes are null or did not decode.
        error_codes: 0 for each row that decoded or is null, else the reason: `fault_sentence` has it in words.
        error_positions: Byte of the value, frame included, at which the field begins that did not decode.
    """

    array: pa.Array
    error_codes: FaultCodes
    error_positions: Positions


class AvroDecoder:
    """Decodes values of one writer's schema.

    Args:
        writer: Schema that the values were written with.
        reader: Schema that they are read as, by Avro's rules of resolution. Default: the writer's.
    Raises:
        SchemaError: The reader's schema cannot read values of the writer's.
        NotColumnarError: The schema is recursive, or has too many fields for columns: use `AvroJsonDecoder`.
    Example:
        >>> import pyarrow as pa
        >>> from magicbyte.decoding.avro import AvroDecoder, parse_schema
        >>> decoder = AvroDecoder(parse_schema('"long"'))
        >>> decoder.decode(pa.array([b"\\x02", b"\\x80"]), 0).array.to_pylist()
        [1, None]
    """

    def __init__(self, writer: AvroSchema, reader: AvroSchema | None = None) -> None:
        reader_type = (reader or writer).root
        self._step = resolve(writer.root, reader_type)
        tree = ColumnTree(reader_type)
        self._root = tree.root
        self._program: AvroProgram | None = None
        with suppress(NotColumnarError):  # of fields that are skipped
            self._program = compile_program(self._step, tree)

    @property
    def type(self) -> pa.DataType:
        """Arrow type of a value: a struct for a record."""
        return self._root.arrow_type

    @property
    def max_values(self) -> int:
        """Most values that one call of `decode` takes: it is smaller for schemas of thousands of fields."""
        return MAX_PYTHON_VALUES if self._program is None else max_values(self._program)

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        """Decode *values*.

        Args:
            values: Array of type binary or large_binary.
            starts: Bytes of the frame before each value, as an int32 array, or one number for all.
        Returns:
            The values.
        Raises:
            InputError: The array has another type, or more than `max_values` values.
        """
        checked_starts = _checked_starts(values, starts)
        if self._program is None or not is_library_built():
            return self._decode_in_python(values, checked_starts)
        filled = fill_columns(self._program, values, checked_starts)
        array = build_array(filled, self._root)
        return DecodedValues(array, filled.fault_codes, filled.fault_positions)

    def _decode_in_python(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        """Return what `decode` returns: for processors without kernels, and skipped fields that are recursive."""

        def read(value_reader: ValueReader) -> Any:
            return value_reader.read_value(self._step)

        decoded_values, codes, positions = _read_values(read, values, starts)
        return DecodedValues(
            _python_arrays.build_array(decoded_values, self._root), codes, positions
        )


class AvroJsonDecoder:
    """Decodes values of one writer's schema as JSON: of recursive schemas, which have no Arrow type.

    Bytes are base64, decimals, dates and times are text, and a value of a union of several types is an object with
    the name of the type. It is ordinary Python, and a hundred times slower than `AvroDecoder`.

    Args:
        writer: Schema that the values were written with.
        reader: Schema that they are read as. Default: the writer's.
    Raises:
        SchemaError: The reader's schema cannot read values of the writer's.
    Example:
        >>> import pyarrow as pa
        >>> from magicbyte.decoding.avro import AvroJsonDecoder, parse_schema
        >>> decoder = AvroJsonDecoder(parse_schema('{"type": "array", "items": "int"}'))
        >>> decoder.decode(pa.array([b"\\x04\\x02\\x04\\x00"]), 0).array.to_pylist()
        ['[1,2]']
    """

    type = pa.string()

    def __init__(self, writer: AvroSchema, reader: AvroSchema | None = None) -> None:
        self._reader_type = (reader or writer).root
        self._step = resolve(writer.root, self._reader_type)

    def decode(self, values: pa.Array, starts: Starts | int) -> DecodedValues:
        """Decode *values*; arguments and errors are as in `AvroDecoder.decode`."""
        spare_chars = max(MIN_OUTPUT_BYTES, OUTPUT_RATIO * values.nbytes)

        def read(value_reader: ValueReader) -> str | None:
            nonlocal spare_chars
            value = value_reader.read_value(self._step)
            try:
                text = json_text(value, self._reader_type, spare_chars)
            except OutputLimitError:
                raise ValueFault(Fault.OUTPUT_LIMIT, value_reader.start) from None
            spare_chars -= len(text or "")
            return text

        texts, codes, positions = _read_values(read, values, _checked_starts(values, starts))
        return DecodedValues(string_array(texts), codes, positions)


def _read_values(
    read_one: Callable[[ValueReader], Any], values: pa.Array, starts: Starts | int
) -> tuple[list[Any], FaultCodes, Positions]:
    """Return the result of *read_one* for each value, None for null and faults, and the faults."""
    python_values: list[Any] = [None] * len(values)
    codes, positions = np.zeros(len(values), np.int16), np.zeros(len(values), np.int32)
    for row, content in enumerate(values):
        if content.is_valid:
            start = starts if isinstance(starts, int) else int(starts[row])
            try:
                python_values[row] = read_one(ValueReader(content.as_py(), start))
            except ValueFault as fault:
                codes[row], positions[row] = fault.reason, fault.position
    return python_values, codes, positions


def _checked_starts(values: pa.Array, starts: Starts | int) -> Starts | int:
    """Return *starts* as an int or a contiguous array; raise InputError for arguments of other types."""
    if not pa.types.is_binary(values.type) and not pa.types.is_large_binary(values.type):
        raise InputError(f"values of type {values.type}", "an array of type binary or large_binary")
    if isinstance(starts, int):
        return starts
    if starts.dtype != np.int32 or starts.shape != (len(values),):
        raise InputError(
            f"starts of type {starts.dtype} and shape {starts.shape}",
            f"an int, or int32 numbers for {len(values)} values",
        )
    return np.ascontiguousarray(starts)
