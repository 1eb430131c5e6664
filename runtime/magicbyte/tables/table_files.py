"""A table as a file of Parquet or Arrow, written as it is read: memory does not hang on its size."""

from typing import Any, BinaryIO, Protocol, Self

import pyarrow as pa
import pyarrow.parquet as pq

from magicbyte.limits import MIB

DISTINCT = (
    *("offset", "timestamp", "key", "value", "sequence"),
    *("base_offset", "last_offset", "base_timestamp", "max_timestamp", "crc"),
)
"""Columns whose values hardly repeat: a dictionary of them would cost time and save nothing."""


class TableFormat(Protocol):
    """What there is to a format: how much is written at once, and how."""

    max_rows: int
    max_bytes: int
    """Bytes in memory of what is written at once; more only where a single batch holds more."""

    def write(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...


class ParquetFormat:
    """A row group at a time, compressed with zstd."""

    max_rows = 1 << 20
    max_bytes = 32 * MIB

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        with_dictionary = [name for name in schema.names if name not in DISTINCT]
        self._writer = pq.ParquetWriter(
            file,
            schema,
            compression="zstd",
            use_dictionary=[*with_dictionary, "headers.list.element.key"],
        )

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table, row_group_size=self.max_rows)

    def close(self) -> None:
        self._writer.close()


class ArrowFormat:
    """An IPC file of record batches, their buffers compressed with lz4."""

    max_rows = 1 << 16
    max_bytes = 4 * MIB

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        self._writer = pa.ipc.new_file(file, schema, options=options)

    def write(self, table: pa.Table) -> None:
        self._writer.write_table(table.combine_chunks(), max_chunksize=self.max_rows)

    def close(self) -> None:
        self._writer.close()


FORMATS: dict[str, Any] = {"parquet": ParquetFormat, "arrow": ArrowFormat}

SUFFIXES = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}
"""What a file's name says of its format."""


class TableFile:
    """Puts small batches together, so that what is written at once is worth it."""

    def __init__(self, file: BinaryIO, schema: pa.Schema, format_name: str) -> None:
        self._schema = schema
        self._format: TableFormat = FORMATS[format_name](file, schema)
        self._batches: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0
        self.num_rows = 0
        """Rows of the file so far."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._flush()
        finally:
            # Also of a file that is given up: left open, it would be closed when there is none.
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
