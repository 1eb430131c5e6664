"""Addresses of the columns that an encode kernel reads."""

import numpy as np
import pyarrow as pa

from magicbyte.engines._records_to_encode import RecordsToEncode
from magicbyte.engines.columnar._buffers import address
from magicbyte.engines.entry_columns import Numbers
from magicbyte.tables.arrays import OFFSET_BYTES
from magicbyte_kernels.kernel_interface import Description, SourceColumn


class SourceColumns:
    """Array of the addresses of columns; keeps the columns in memory."""

    def __init__(self, description: Description, record_columns: RecordsToEncode) -> None:
        self.addresses: Numbers = np.zeros(description.SOURCE_SLOTS, np.int64)
        self._record_columns = record_columns
        self._no_headers = np.zeros(
            0 if record_columns.header_array else record_columns.num_rows + 1, np.int32
        )
        self.offsets, self.timestamps = map(
            _data_address, (record_columns.offset_array, record_columns.timestamp_array)
        )
        header_columns = record_columns.header_columns()
        for source_column in description.SOURCE:
            match source_column.name:
                case "key":
                    self._add_bytes(source_column, record_columns.key_array)
                case "value":
                    self._add_bytes(source_column, record_columns.value_array)
                case "headers":
                    self._add_headers(source_column, record_columns.header_array)
                    for member, array in zip(
                        source_column.struct_columns, header_columns, strict=True
                    ):
                        self._add_bytes(member, array)
                case "offset":
                    self.addresses[source_column.slots["data"]] = self.offsets
                case "timestamp":
                    self.addresses[source_column.slots["data"]] = self.timestamps
                case _:
                    raise NotImplementedError(
                        f"column {source_column.name!r} of records is not encoded"
                    )

    def _add_bytes(self, source_column: SourceColumn, array: pa.Array) -> None:
        offset_buffer, content = array.buffers()[1:]
        slots, addresses = source_column.slots, self.addresses
        addresses[slots["offsets"]] = _shifted(offset_buffer, array)
        if content is not None:
            addresses[slots["bytes"]] = content.address
            addresses[slots["end"]] = content.address + content.size
        if "valid" in slots:
            self._add_validity(source_column, array)

    def _add_headers(self, source_column: SourceColumn, array: pa.Array | None) -> None:
        if array is None:
            self.addresses[source_column.slots["offsets"]] = address(self._no_headers)
            return
        self.addresses[source_column.slots["offsets"]] = _shifted(array.buffers()[1], array)
        self._add_validity(source_column, array)

    def _add_validity(self, source_column: SourceColumn, array: pa.Array) -> None:
        bits = array.buffers()[0] if array.null_count else None
        if bits is not None:
            self.addresses[source_column.slots["valid"]] = bits.address
            self.addresses[source_column.slots["first_bit"]] = array.offset


def _shifted(offset_buffer: pa.Buffer | None, array: pa.Array) -> int:
    """Return the address of the offset of the first value of *array*."""
    return 0 if offset_buffer is None else offset_buffer.address + OFFSET_BYTES * array.offset


def _data_address(array: pa.Array) -> int:
    data = array.buffers()[1]
    return 0 if data is None else data.address + 8 * array.offset
