"""`magicbyte export`: writes a table of a log to a Parquet, Arrow, CSV or NDJSON file."""

from functools import partial
from pathlib import Path

import click

from magicbyte import Dataset, Report, Rows
from magicbyte.decoding.decode_option import DecodeForm
from magicbyte.output_guard import check_outside
from magicbyte.reading.process_pool import num_processors
from magicbyte.reading.stored_tables import stored_table
from magicbyte.reading.typed_storage import stored_rows
from magicbyte.tables.schemas import ALL_TABLES
from magicbyte.tables.table_files import FORMATS
from magicbyte_cli import parameters
from magicbyte_cli.column_condition import ColumnCondition
from magicbyte_cli.csv_writer import BYTE_TEXTS
from magicbyte_cli.display import counted
from magicbyte_cli.option_completion import complete_columns
from magicbyte_cli.output_files import check_writable, whole_file
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.record_filter import Condition, records_where, where_options
from magicbyte_cli.selection import (
    Selection,
    flag_option,
    names_option,
    overwrite_option,
    paths_argument,
    selection_options,
    table_option,
    time_option,
)
from magicbyte_cli.stderr_messages import (
    exit_status,
    warn,
    warn_of_aborted,
    warn_of_findings,
    warn_of_internal_topics,
    warn_of_undelivered,
)
from magicbyte_cli.table_output import TEXT_SUFFIXES, TextForm, format_of_suffix, open_table
from magicbyte_cli.typed_command import TypedCommand, topics_of
from magicbyte_cli.typed_output import decode_options, explain, only_topic
from magicbyte_cli.unread_messages import warn_of_unread

DELIVERED = ("delivered",)

MAX_DEFAULT_THREADS = 4
"""Most threads that read by default: each may hold results of 32 MiB."""


def default_threads() -> int:
    """Return the number of processors that this process may use, up to MAX_DEFAULT_THREADS."""
    return min(num_processors(), MAX_DEFAULT_THREADS)


@click.command(
    short_help="Write a table as Parquet, Arrow, CSV or NDJSON.",
    epilog="""\b
    Examples:
      magicbyte export /var/lib/kafka -o records.parquet
      magicbyte export /var/lib/kafka --topic orders --columns offset,timestamp,value -o orders.arrow
      magicbyte export /var/lib/kafka --topic orders --decode auto -o orders.parquet
      magicbyte export /var/lib/kafka --topic orders --decode auto --latest -o orders.csv
      magicbyte export /var/lib/kafka --table batches --overwrite -o batches.parquet
    """,
)
@paths_argument
@click.option(
    "-o",
    "out",
    metavar="OUT",
    required=True,
    type=parameters.OutPath(),
    help="File to write, outside of every PATH. It appears whole or not at all.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice((*FORMATS, *dict.fromkeys(TEXT_SUFFIXES.values()))),
    help="Parquet compressed with zstd, an Arrow IPC file compressed with lz4, CSV with JSON for lists and structs, or one "
    "JSON object per line.  [default: from the suffix of OUT]",
)
@click.option(
    "--bytes",
    "bytes_as",
    type=click.Choice(tuple(BYTE_TEXTS)),
    default="base64",
    help="Format of bytes in CSV and NDJSON. With `text`, CSV has escapes such as \\xff for bytes that are not UTF-8, and "
    "NDJSON has base64, and a member such as value_encoding that says so.",
)
@time_option
@table_option("Table to write.")
@names_option(
    "--columns",
    shell_complete=complete_columns,
    help="Only these columns, in the table's order.  [default: all]",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=default_threads,
    show_default=f"one per processor, at most {MAX_DEFAULT_THREADS}",
    metavar="N",
    help="Threads that read records and batches. The file is the same for any number.",
)
@flag_option(
    "--latest", help="Only the last record of each key of a partition, unless that is a tombstone."
)
@decode_options
@where_options
@overwrite_option
@selection_options()
@click.pass_context
def export(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    out: Path,
    format_name: str | None,
    bytes_as: str,
    time_as: str | None,
    table_name: str,
    columns: tuple[str, ...] | None,
    threads: int,
    forms: dict[str, DecodeForm] | None,
    schema_paths: tuple[str, ...],
    reader_schema: str,
    latest: bool,
    where: tuple[Condition, ...],
    columns_where: tuple[ColumnCondition, ...],
    overwrite: bool,
    selection: Selection,
) -> None:
    """Write the records of a log, or another of its tables, to the file OUT.

    Columns and types are the same as in the Parquet files that `pipeline` writes; timestamps are in
    microseconds. CSV has them in ISO 8601, NDJSON in milliseconds, as `dump`, unless --time says otherwise. OUT appears whole or not at all: if a run fails, an existing file stays as it was.
    Findings, and records and bytes that were not exported, are reported on stderr.
    """
    format_name = format_name or format_of_suffix(out)
    is_text = format_name not in FORMATS
    table = ALL_TABLES[table_name]
    is_chosen = bool(latest or where or columns_where)
    for is_given, option in (
        (forms is not None, "--decode"),
        (latest, "--latest"),
        (where or columns_where, "--where"),
    ):
        if is_given and table_name != "records":
            raise click.UsageError(f"{option} applies to records, not to {table_name}")
    check_writable(out, replace=overwrite)
    dataset = selection.open(paths, threads=threads)
    check_outside(out, dataset.all_logs, paths)
    if forms is not None:
        typed = TypedCommand(
            forms=forms,
            schema_paths=schema_paths,
            reader_schema=reader_schema,
            latest=latest,
            where=where,
            columns_where=columns_where,
        )
        topic = only_topic(topics_of(dataset))
        typed_rows = typed.rows(dataset, topic, columns)
        rows = typed_rows if is_text else stored_rows(typed_rows, topic)
    else:
        selected = table.names if columns is None else table.check(columns)
        column_names = tuple(name for name in table.names if name in selected)
        choose = partial(
            records_where,
            dataset,
            dispositions=DELIVERED,
            where=where,
            latest=latest,
            columns_where=columns_where,
        )
        if is_text:
            is_records = table_name == "records"
            rows = choose(column_names) if is_records else dataset.table(table_name, column_names)
        elif is_chosen:
            rows = stored_table(choose, table, column_names)
        else:
            rows = dataset.stored(table_name, column_names)

    report, num_rows = _write(
        dataset,
        rows,
        table_name,
        out,
        TextForm(format_name, bytes_as, time_as),
        overwrite=overwrite,
    )
    report.findings = explain(report.findings)

    warn_of_internal_topics(dataset, table_name)
    warn_of_unread(dataset.unread)
    if table_name == "records":
        warn_of_undelivered(report, DELIVERED, verb="exported")
        warn_of_aborted(report.aborted_delivered)
    warn_of_findings(report.findings, one_by_one=table_name != "problems")
    warn(f"{out}: {counted(num_rows, 'row')} of {table_name}")
    ctx.exit(exit_status(report.findings, dataset.unread))


def _write(
    dataset: Dataset,
    rows: Rows,
    table_name: str,
    out: Path,
    text_form: TextForm,
    *,
    overwrite: bool,
) -> tuple[Report, int]:
    """Write *rows* of a table to *out*; return the report of the read, and the number of rows."""
    report = Report()
    total = sum(file.size_bytes - file.start for log in dataset.logs for file in log.logs)
    num_rows = 0
    with whole_file(out) as file:
        with (
            ProgressBar() as bar,
            open_table(file, table_name, rows.schema, text_form) as write,
        ):
            for batch in rows.read_into(report):
                num_rows += batch.num_rows
                write(batch)
                del batch  # the next batch reuses its memory
                if done := sum(report.bytes.values()):
                    bar.show(done, total)
        # Another process may have created the file during the read.
        check_writable(out, replace=overwrite)
    return report, num_rows
