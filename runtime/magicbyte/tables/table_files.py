"""Write a table to a Parquet or Arrow file batch by batch; memory does not depend on its size."""

from typing import Any, BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq

from magicbyte.limits import MIB
from magicbyte.tables.stored_types import file_metadata

UNIQUE_COLUMNS = (
    *("offset", "timestamp", "key", "value", "sequence"),
    *("base_offset", "last_offset", "base_timestamp", "max_timestamp", "crc"),
)
"""Columns whose values hardly repeat: a Parquet dictionary would cost time and save no space."""


class TableFormat:
    """A writer of one file format, and how many rows it should get at a time."""

    max_rows: int
    max_bytes: int
    """Limit in memory of the rows per write; a single Arrow batch may exceed it."""
    _writer: Any

    def write(self, table: pa.Table) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self._writer.close()


class ParquetFormat(TableFormat):
    """Parquet, one row group per write, compressed with zstd."""

    max_rows = 1 << 20
    max_bytes = 32 * MIB

    def __init__(self, output_file: BinaryIO, schema: pa.Schema) -> None:
        repeating = [name for name in schema.names if name not in UNIQUE_COLUMNS]
        self._writer = pq.ParquetWriter(
            output_file,
            schema,
            compression="zstd",
            use_dictionary=[*repeating, "headers.list.element.key"],
            write_page_index=True,  # readers skip pages by their least and largest offsets and times
        )

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table, row_group_size=self.max_rows)


class ArrowFormat(TableFormat):
    """An Arrow IPC file whose buffers are compressed with lz4."""

    max_rows = 1 << 16
    max_bytes = 4 * MIB

    def __init__(self, output_file: BinaryIO, schema: pa.Schema) -> None:
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        self._writer = pa.ipc.new_file(output_file, schema, options=options)

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table.combine_chunks(), max_chunksize=self.max_rows)


FORMATS: dict[str, Any] = {"parquet": ParquetFormat, "arrow": ArrowFormat}

SUFFIXES = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}
"""Format by file name suffix."""


class TableFile:
    """Collects small Arrow batches and writes them to a file in larger pieces."""

    def __init__(
        self, output_file: BinaryIO, table_name: str, schema: pa.Schema, format_name: str
    ) -> None:
        self._schema = schema.with_metadata(file_metadata(table_name))
        self._format: TableFormat = FORMATS[format_name](output_file, self._schema)
        self._batches: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0
        self.num_rows = 0
        """Total rows of the file so far."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *_: object) -> None:
        try:
            if error_type is None:
                self._flush()
        finally:
            # After an error too: the writer would otherwise close a file that no longer exists.
            self._format.close()

    def write(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        self.num_rows += batch.num_rows
        if self._rows >= self._format.max_rows or self._bytes >= self._format.max_bytes:
            self._flush()

    def _flush(self) -> None:
        if self._batches:
            self._format.write(pa.Table.from_batches(self._batches, schema=self._schema))
        self._batches, self._rows, self._bytes = [], 0, 0
