"""`magicbyte sql`: asks the tables of a log in SQL."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import click
import pyarrow as pa

from magicbyte import Dataset, InputError, Report, Rows
from magicbyte.logdir.file_names import INTERNAL_TOPICS
from magicbyte.output_guard import check_outside
from magicbyte.tables.table_files import TableFile
from magicbyte_cli import parameters
from magicbyte_cli.cell_texts import CellTexts
from magicbyte_cli.csv_writer import CsvWriter
from magicbyte_cli.display import counted, printable
from magicbyte_cli.ndjson import NdjsonWriter
from magicbyte_cli.output_files import check_writable, whole_file
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.result_text import ResultColumns, as_json, as_text
from magicbyte_cli.selection import (
    Selection,
    bytes_option,
    disposition_option,
    flag_option,
    options_as,
    overwrite_option,
    paths_argument,
    selection_options,
    size_option,
    time_option,
)
from magicbyte_cli.stderr_messages import (
    exit_status,
    warn,
    warn_of_aborted,
    warn_of_findings,
    warn_of_undelivered,
)
from magicbyte_cli.table_output import TextForm
from magicbyte_cli.text_layout import TextLayout, finish, layout_flags, warn_of_left_out
from magicbyte_cli.unread_messages import warn_of_unread

FORMATS = ("text", "csv", "ndjson", "parquet")

SUFFIXES = {".txt": "text", ".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson"} | {
    ".parquet": "parquet"
}
"""Format by suffix of the output file."""

PLAN_COLUMNS = ("explain_key", "explain_value")
"""Columns of the result of EXPLAIN."""

LEAST_IMPORTANT = (
    *("position", "file", "timestamp_type", "magic", "codec", "is_transactional", "sequence"),
    *(
        "producer_epoch",
        "leader_epoch",
        "producer_id",
        "disposition",
        "outcome",
        "headers",
        "timestamp",
    ),
)
"""Columns of records that a narrow terminal leaves out first."""

OF_ALL_TOPICS = re.compile(r"\b(records|batches|transactions|gaps)\b", re.IGNORECASE)
"""A table that has all topics but internal ones; a column may have such a name, too."""

CONVERTED_ROWS = 4096
"""Rows that become Python objects together."""

WriteBatch = Callable[[pa.RecordBatch], None]


@click.command(
    short_help="Ask the tables of a log in SQL.",
    epilog="""\b
    Examples:
      magicbyte sql "SELECT topic, count(*) FROM records GROUP BY ALL" /var/lib/kafka
      magicbyte sql "SELECT * FROM records WHERE topic = 'orders' AND \\"offset\\" > 1000000 LIMIT 5" /var/lib/kafka
      magicbyte sql "FROM partitions ORDER BY size_bytes DESC LIMIT 10" /var/lib/kafka --format csv
      magicbyte sql "DESCRIBE records" orders-0
      magicbyte sql "SELECT key, value FROM records" orders-0 -o orders.parquet
    """,
)
@click.argument("query")
@paths_argument
@options_as(
    TextLayout,
    click.option(
        "--format",
        "format_name",
        type=click.Choice(FORMATS),
        help="Aligned columns, CSV, one JSON object per line, or a Parquet file.  [default: from the "
        "suffix of OUT, or text]",
    ),
    *layout_flags,
    argument="text_layout",
)
@click.option(
    "-o",
    "out",
    metavar="OUT",
    type=parameters.OutPath(),
    help="File to write, outside of every PATH. It appears whole or not at all.  [default: stdout]",
)
@overwrite_option
@bytes_option
@time_option
@flag_option(
    "--allow-files",
    help="Let the query read other files of this machine, by functions such as read_csv.",
)
@size_option(
    "--memory-limit",
    help="Memory for the query; what does not fit is written to a temporary folder.  [default: half of "
    "the memory of this machine]",
)
@disposition_option
@selection_options()
@click.pass_context
def sql(
    ctx: click.Context,
    *,
    query: str,
    paths: tuple[str, ...],
    text_layout: TextLayout,
    out: Path | None,
    overwrite: bool,
    bytes_as: str,
    time_as: str | None,
    allow_files: bool,
    memory_limit: int | None,
    dispositions: tuple[str, ...] | None,
    selection: Selection,
) -> None:
    """Ask the tables of a log in SQL, by DuckDB (pip install 'magicbyte[sql]').

    QUERY is one SELECT statement, or FROM, WITH, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN. Tables are records, batches and
    the others of `dump --table`; `SHOW TABLES` prints them. `offset` is an SQL keyword and needs double quotes. Times
    are UTC. Conditions on topic, partition and offset of records limit the bytes that are read.

    The query can read nothing but the logs, and has no network. Findings are reported on stderr.
    """
    text_layout = _settled(ctx, text_layout, out)
    text_form = TextForm(text_layout.format_name, bytes_as, time_as)
    if out is not None:
        check_writable(out, replace=overwrite)
    shown = dispositions or ("delivered",)
    dataset = selection.open(paths)
    if out is not None:
        check_outside(out, dataset.all_logs, paths)
    # It imports pyarrow.dataset, and with that pandas where it is installed: `magicbyte --help` would wait.
    from magicbyte.queries.sql import query_rows

    rows = query_rows(
        dataset, query, dispositions=shown, allow_files=allow_files, memory_limit=memory_limit
    )
    report = Report()
    if out is None:
        with _writing(sys.stdout.buffer, rows.schema, text_form, text_layout) as write:
            _write_rows(rows, report, write)
    else:
        with whole_file(out) as file:
            with _writing(file, rows.schema, text_form, text_layout) as write:
                _write_rows(rows, report, write)
            check_writable(out, replace=overwrite)  # another process may have created it meanwhile
    if report.records:
        _warn_of_left_out(dataset, query)
    warn_of_unread(dataset.unread)
    warn_of_undelivered(report, shown, verb="in the result")
    warn_of_aborted(report.aborted_delivered)
    warn_of_findings(report.findings, see="dump --table problems")
    ctx.exit(exit_status(report.findings, dataset.unread))


def _settled(ctx: click.Context, text_layout: TextLayout, out: Path | None) -> TextLayout:
    """Return *text_layout* with the format of the output; UsageError for options that do not go together."""
    settled = replace(text_layout, format_name=_format_of(out, text_layout.format_name))
    if out is None:
        return settled.settled(ctx)
    settled.check_layout(settled.format_name)
    return settled


def _format_of(out: Path | None, format_name: str | None) -> str:
    """Return *format_name*, or the format for the suffix of *out*; InputError for a file that must have a name."""
    if format_name == "parquet" and out is None:
        raise InputError("--format parquet without a file", "-o OUT")
    if format_name is not None:
        return format_name
    if out is None:
        return "text"
    suffix = out.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"the suffix {out.suffix!r}" if suffix else "no suffix",
            f"one of {', '.join(SUFFIXES)}, or --format",
            path=str(out),
        )
    return SUFFIXES[suffix]


@contextmanager
def _writing(
    file: BinaryIO, schema: pa.Schema, text_form: TextForm, text_layout: TextLayout
) -> Iterator[WriteBatch]:
    """Yield a function that writes rows of *schema* to *file*."""
    if text_form.format_name == "parquet":
        try:
            table_file = TableFile(file, "query", schema, "parquet")
        except pa.ArrowNotImplementedError as error:
            raise InputError(
                f"a column that Parquet does not have ({error})", "a cast of it, such as ::VARCHAR"
            ) from error
        with table_file:
            yield table_file.write
        return
    if text_form.format_name == "text" and tuple(schema.names) == PLAN_COLUMNS:
        yield partial(_write_plan, file)
        return
    text_of = as_json if text_form.format_name == "ndjson" else as_text
    columns = ResultColumns(schema, text_of, keeps_headers=text_form.format_name != "csv")
    row_writer: Any
    if text_form.format_name == "ndjson":
        row_writer = NdjsonWriter(
            file, columns.schema, bytes_as=text_form.bytes_as, times_as=text_form.times_as
        )
    elif text_form.format_name == "csv":
        row_writer = CsvWriter(
            file, columns.schema, bytes_as=text_form.bytes_as, times_as=text_form.times_as
        )
    else:
        row_writer = text_layout.table_writer(
            file,
            columns.schema,
            cell_texts=CellTexts(bytes_as=text_form.bytes_as, times_as=text_form.times_as),
            right_aligned=columns.right_aligned,
            is_folded=False,
            is_file=file is not sys.stdout.buffer,
            left_out_first=LEAST_IMPORTANT,
        )

    def write(batch: pa.RecordBatch) -> None:
        for start in range(0, batch.num_rows, CONVERTED_ROWS):
            row_writer.write(columns.convert(batch.slice(start, CONVERTED_ROWS)))

    yield write
    finish(row_writer)
    warn_of_left_out(row_writer)


def _write_plan(file: BinaryIO, batch: pa.RecordBatch) -> None:
    """Write the drawings that EXPLAIN returns, which have lines of their own."""
    for plan in batch.column(1).to_pylist():
        for line in plan.splitlines():
            file.write(f"{printable(line)}\n".encode())


def _write_rows(rows: Rows, report: Report, write: WriteBatch) -> None:
    num_rows = 0
    with ProgressBar(is_shown=sys.stderr.isatty() and not sys.stdout.isatty()) as bar:
        for batch in rows.read_into(report):
            write(batch)
            num_rows += batch.num_rows
            bar.show(num_rows)
            del batch  # frees the rows before more are read


def _warn_of_left_out(dataset: Dataset, query: str) -> None:
    """Print how many partitions of internal topics a query without conditions did not read."""
    is_named = any(topic in query for topic in INTERNAL_TOPICS)
    has_all_topics = OF_ALL_TOPICS.search(query) is not None
    if dataset.num_internal and has_all_topics and not is_named and "where" not in query.lower():
        warn(
            f"{counted(dataset.num_internal, 'partition')} of internal topics left out; --include-internal, or a "
            "condition such as topic = '__consumer_offsets', includes them"
        )
