"""Writes rows of a table to an open file, in a format that the suffix of its name or an option states."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from magicbyte import InputError
from magicbyte.tables.table_files import FORMATS, SUFFIXES, TableFile
from magicbyte_cli.csv_writer import CsvWriter
from magicbyte_cli.ndjson import NdjsonWriter

TEXT_SUFFIXES = {".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson"}
"""Formats of text, by file name suffix."""


@dataclass(frozen=True, slots=True)
class TextForm:
    """Format of a file, and of bytes and times in it if it is text."""

    format_name: str
    bytes_as: str
    time_as: str | None = None

    @property
    def times_as(self) -> str:
        """Format of times: by default milliseconds in NDJSON, else ISO 8601."""
        return self.time_as or ("ms" if self.format_name == "ndjson" else "iso")


def format_of_suffix(out: Path) -> str:
    """Return the format for the suffix of *out*; InputError if the suffix is of no known format."""
    suffixes = SUFFIXES | TEXT_SUFFIXES
    format_name = suffixes.get(out.suffix.lower())
    if format_name is None:
        raise InputError(
            f"the suffix {out.suffix!r}" if out.suffix else "no suffix",
            f"one of {', '.join(suffixes)}, or --format",
            path=str(out),
        )
    return format_name


@contextmanager
def open_table(
    file: BinaryIO, table_name: str, schema: pa.Schema, text_form: TextForm
) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """Yield a function that writes rows of *schema* to *file*."""
    if text_form.format_name in FORMATS:
        with TableFile(file, table_name, schema, text_form.format_name) as table_file:
            yield table_file.write
        return
    writer_class = CsvWriter if text_form.format_name == "csv" else NdjsonWriter
    row_writer = writer_class(
        file, schema, bytes_as=text_form.bytes_as, times_as=text_form.times_as
    )
    yield row_writer.write
    row_writer.flush()
