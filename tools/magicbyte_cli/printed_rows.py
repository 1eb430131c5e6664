"""Prints rows of a table on stdout, in the formats of `--format`."""

import sys
from collections.abc import Iterator

import pyarrow as pa

from magicbyte_cli.csv_writer import CsvWriter
from magicbyte_cli.ndjson import NdjsonWriter
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.text_table import TextWriter


def print_rows(
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    format_name: str,
    bytes_as: str,
    limit: int | None,
) -> None:
    """Write the rows of *batches* to stdout, at most *limit*."""
    writer = row_writer(schema, format_name, bytes_as)
    num_rows = 0
    # On a terminal the rows themselves show the progress.
    with ProgressBar(is_shown=sys.stderr.isatty() and not sys.stdout.isatty()) as bar:
        for batch in batches:
            is_last = limit is not None and num_rows + batch.num_rows >= limit
            if limit is not None and is_last:
                writer.write(batch.slice(0, limit - num_rows))
            else:
                writer.write(batch)
            num_rows += batch.num_rows
            bar.show(num_rows)
            if is_last:
                break
    writer.flush()


def row_writer(
    schema: pa.Schema, format_name: str, bytes_as: str
) -> NdjsonWriter | CsvWriter | TextWriter:
    """Return the writer of *format_name* to stdout."""
    out = sys.stdout.buffer
    if format_name == "csv":
        return CsvWriter(out, schema, bytes_as=bytes_as)
    if format_name == "ndjson":
        return NdjsonWriter(out, schema, bytes_as=bytes_as)
    return TextWriter(out, schema, bytes_as=bytes_as, is_terminal=sys.stdout.isatty())
