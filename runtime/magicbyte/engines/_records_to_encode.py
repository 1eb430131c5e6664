"""Columns of records in the one form that encoders read, from the forms that callers have them in."""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from magicbyte.engines.entry_columns import Numbers
from magicbyte.errors import InputError
from magicbyte.tables.arrays import null_mask, number_array, to_numpy

NO_TIMESTAMP = -1
NOTHING = pa.nulls(0, pa.binary())
MILLISECONDS = pa.timestamp("ms")
BYTES_OR_TEXT = (pa.binary(), pa.string())
"""Types whose buffers are alike: offsets of 32 bits, then bytes."""


class RecordsToEncode(NamedTuple):
    """Columns of records, all of the same length."""

    key_array: pa.Array
    value_array: pa.Array
    header_array: pa.Array | None
    """Lists of structs of key and value; None if no record has headers."""
    offset_array: pa.Array
    timestamp_array: pa.Array

    @property
    def num_rows(self) -> int:
        return len(self.offset_array)

    def header_columns(self) -> tuple[pa.Array, pa.Array]:
        """Return keys and values of the headers of all records."""
        if self.header_array is None:
            return NOTHING, NOTHING
        return self.header_array.values.field(0), self.header_array.values.field(1)


def records_to_encode(records: pa.RecordBatch, first_offset: int) -> RecordsToEncode:
    """Return the columns of *records*; without the column `offset`, offsets count from *first_offset*.

    Raises InputError if a column has another type, an offset or the key of a header is null, or offsets
    do not rise.
    """
    names = records.schema.names
    count = records.num_rows

    def column(name: str) -> pa.Array | None:
        return records.column(name) if name in names else None

    return RecordsToEncode(
        _bytes("key", column("key"), count),
        _bytes("value", column("value"), count),
        _headers(column("headers")),
        _offsets(column("offset"), first_offset, count),
        _timestamps(column("timestamp"), count),
    )


def _bytes(name: str, arrow_column: pa.Array | None, count: int) -> pa.Array:
    if arrow_column is None:
        return pa.nulls(count, pa.binary())
    if arrow_column.type in BYTES_OR_TEXT:
        return arrow_column
    return _cast(name, arrow_column, pa.binary(), "bytes or text")


def _cast(name: str, arrow_column: pa.Array, data_type: pa.DataType, expected: str) -> pa.Array:
    try:
        return arrow_column.cast(data_type, safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(
            f"column {name!r} of type {arrow_column.type}: {error}", expected
        ) from error


def _headers(arrow_column: pa.Array | None) -> pa.Array | None:
    if arrow_column is None or pa.types.is_null(arrow_column.type):
        return None
    expected = "a list of structs of key and value"
    if not (pa.types.is_list(arrow_column.type) or pa.types.is_large_list(arrow_column.type)):
        raise InputError(f"column 'headers' of type {arrow_column.type}", expected)
    fields = arrow_column.type.value_type
    if not pa.types.is_struct(fields) or [field.name for field in fields] != ["key", "value"]:
        raise InputError(f"column 'headers' of type {arrow_column.type}", expected)
    if not pa.types.is_list(arrow_column.type) or any(
        field.type not in BYTES_OR_TEXT for field in fields
    ):
        struct = pa.struct([("key", pa.binary()), ("value", pa.binary())])
        arrow_column = _cast("headers", arrow_column, pa.list_(struct), expected)
    headers = arrow_column.flatten()
    if headers.null_count or headers.field(0).null_count:
        raise InputError("a record header without a key", "a key in each header")
    return arrow_column


def _offsets(arrow_column: pa.Array | None, first_offset: int, count: int) -> pa.Array:
    if arrow_column is None:
        if first_offset + count > 1 << 63:
            raise InputError(f"{count} records from offset {first_offset} on", "offsets below 2^63")
        return number_array(pa.int64(), first_offset + np.arange(count))
    if arrow_column.type != pa.int64():
        arrow_column = _cast("offset", arrow_column, pa.int64(), "int64")
    if arrow_column.null_count:
        raise InputError("a record without an offset", "an offset in each row")
    offsets: Numbers = to_numpy(arrow_column) if count else np.empty(0, np.int64)
    falls = np.flatnonzero(offsets[1:] <= offsets[:-1])
    if len(falls):
        row = int(falls[0]) + 1
        raise InputError(
            f"offset {offsets[row]} in row {row} after offset {offsets[row - 1]}", "rising offsets"
        )
    return arrow_column


def _timestamps(arrow_column: pa.Array | None, count: int) -> pa.Array:
    """Return *arrow_column* as milliseconds; null is NO_TIMESTAMP."""
    if arrow_column is None:
        return number_array(pa.int64(), np.full(count, NO_TIMESTAMP, np.int64))
    if pa.types.is_timestamp(arrow_column.type):
        if arrow_column.type.unit != "ms":
            arrow_column = _cast("timestamp", arrow_column, MILLISECONDS, "a timestamp")
        arrow_column = arrow_column.view(pa.int64())
    elif arrow_column.type != pa.int64():
        arrow_column = _cast("timestamp", arrow_column, pa.int64(), "milliseconds or a timestamp")
    if arrow_column.null_count:
        numbers = np.where(null_mask(arrow_column), NO_TIMESTAMP, to_numpy(arrow_column))
        return number_array(pa.int64(), numbers)
    return arrow_column
