"""`magicbyte pcap`: prints records that are in captured requests and responses, or writes them to a file."""

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from operator import and_
from pathlib import Path

import click
import pyarrow as pa

import magicbyte as mb
from magicbyte import Capture, Report, Rows
from magicbyte.output_guard import check_beside
from magicbyte.reading.stored_tables import stored_table
from magicbyte.storage import StorageOptions, is_url, normalize_path
from magicbyte.tables.schemas import CAPTURED_BATCHES, CAPTURED_RECORDS
from magicbyte.tables.table_definition import TableDefinition
from magicbyte.tables.table_files import FORMATS
from magicbyte_cli import parameters
from magicbyte_cli.column_condition import ColumnCondition
from magicbyte_cli.display import counted
from magicbyte_cli.option_completion import complete_path
from magicbyte_cli.output_files import check_writable, whole_file
from magicbyte_cli.printed_rows import PrintOptions, print_options, print_rows
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.record_filter import Condition, rows_where, where_options
from magicbyte_cli.selection import (
    disposition_option,
    limit_options,
    limits_of,
    names_option,
    overwrite_option,
    store_options,
    with_options,
)
from magicbyte_cli.stderr_messages import (
    exit_status,
    warn,
    warn_of_findings,
    warn_of_undelivered,
)
from magicbyte_cli.table_output import TextForm, format_of_suffix, open_table

DELIVERED = ("delivered",)

TABLES = {"records": CAPTURED_RECORDS, "batches": CAPTURED_BATCHES}

TEXT_COLUMNS = {
    "records": "topic partition offset key value headers direction capture_time client client_id",
    "batches": "topic partition size_bytes base_offset last_offset codec producer_id record_count "
    "crc_valid disposition direction capture_time client error_code packet",
}
"""Columns of the text format, by table."""

MAX_PORT = 65_535


@click.command(
    short_help="Print records that are in captured traffic.",
    epilog="""\b
    Examples:
      tcpdump -i any -s 0 -w kafka.pcap port 9092
      magicbyte pcap kafka.pcap --topic orders
      magicbyte pcap kafka.pcap --where 'direction = produced' --where-value refund --format ndjson
      magicbyte pcap kafka.pcap --where "client_id = 'billing'" --columns capture_time,topic,offset
      magicbyte pcap kafka.pcap --table batches --where 'error_code != 0'
      magicbyte pcap kafka.pcapng -o records.parquet
    """,
)
@click.argument("path", metavar="FILE", shell_complete=complete_path)
@click.option(
    "--table",
    "table_name",
    type=click.Choice(tuple(TABLES)),
    default="records",
    help="Table to print: a row per record, or per batch.",
)
@click.option(
    "-o",
    "out",
    metavar="OUT",
    type=parameters.OutPath(),
    help="Write to this file instead of stdout, as Parquet, Arrow, CSV or NDJSON, by its suffix. It appears whole or not "
    "at all.",
)
@overwrite_option
@names_option(
    "--columns",
    help="Only these columns, in the table's order.  [default: depends on table and format]",
)
@print_options("Aligned columns, one JSON object per line, or CSV with JSON for lists and structs.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Stop after N rows.")
@click.option(
    "--topic", "topics", multiple=True, metavar="TOPIC", help="Only this topic; may be repeated."
)
@click.option(
    "--port",
    "ports",
    multiple=True,
    type=click.IntRange(1, MAX_PORT),
    metavar="PORT",
    help="Only connections with this TCP port, such as 9092; may be repeated.  [default: all that are of Kafka]",
)
@disposition_option
@where_options
@with_options((*limit_options, *store_options))
@click.pass_context
def pcap(
    ctx: click.Context,
    *,
    path: str,
    table_name: str,
    out: Path | None,
    overwrite: bool,
    columns: tuple[str, ...] | None,
    print_as: PrintOptions,
    limit: int | None,
    topics: tuple[str, ...],
    ports: tuple[int, ...],
    dispositions: tuple[str, ...] | None,
    where: tuple[Condition, ...],
    columns_where: tuple[ColumnCondition, ...],
    max_batch_bytes: int | None,
    max_entry_bytes: int | None,
    storage_option: StorageOptions,
) -> None:
    """Print the records in captured Produce requests and Fetch responses.

    FILE is a capture of tcpdump or Wireshark, in the format pcap or pcapng. A produced record has the
    offset that the broker gave to it in its response. Bytes that were not captured, encrypted
    connections and requests that do not decode are reported on stderr.
    """
    if table_name != "records" and (dispositions is not None or where):
        raise click.UsageError(
            f"--disposition and --where-... apply to records, not to {table_name}"
        )
    print_as = print_as.settled(ctx)
    capture = mb.read_pcap(
        path,
        ports=ports,
        topics=topics,
        limits=limits_of(max_batch_bytes, max_entry_bytes),
        storage_options=storage_option,
    )
    if out is not None:
        check_writable(out, replace=overwrite)
        if not is_url(path):
            check_beside(out, normalize_path(path))
    table = TABLES[table_name]
    is_text = out is None and print_as.is_text
    names = _column_names(table, table_name, columns, is_text=is_text)
    shown = dispositions or DELIVERED
    choose = partial(_chosen, capture, table, shown, where, columns_where)
    report = Report()
    if out is None:
        rows = choose(names)
        print_rows(rows.schema, rows.read_into(report), print_as, limit)
    else:
        if limit is not None:
            raise click.UsageError("--limit applies to stdout, not to -o")
        num_rows = _write(choose, table, names, out, print_as, report, overwrite=overwrite)
    _warn_of_no_batches(report, ports, topics)
    if table_name == "records":
        warn_of_undelivered(report, shown)
    warn_of_findings(report.findings)
    if out is not None:
        warn(f"{out}: {counted(num_rows, 'row')} of {table.name}")
    ctx.exit(exit_status(report.findings))


def _warn_of_no_batches(report: Report, ports: Sequence[int], topics: Sequence[str]) -> None:
    """Print that a capture had no batches to read, with the options that left batches out."""
    if report.records.total() or report.bytes.total():
        return
    missing = "no batches in Produce requests and Fetch responses"
    if topics:
        missing += f" of topic {' or '.join(topics)}"
    if ports:
        missing += f" on port {' or '.join(map(str, ports))}"
    options = " and ".join(
        option for option, values in (("--topic", topics), ("--port", ports)) if values
    )
    warn(f"{missing}; without {options}, all are read" if options else missing)


def _column_names(
    table: TableDefinition, table_name: str, columns: tuple[str, ...] | None, *, is_text: bool
) -> tuple[str, ...]:
    """Return the columns to print, in the order of *table*."""
    if columns is not None:
        selected: Sequence[str] = table.check(columns)
    else:
        selected = TEXT_COLUMNS[table_name].split() if is_text else table.names
    return tuple(name for name in table.names if name in selected)


def _chosen(
    capture: Capture,
    table: TableDefinition,
    dispositions: Sequence[str],
    where: Sequence[Condition],
    columns_where: Sequence[ColumnCondition],
    columns: tuple[str, ...],
) -> Rows:
    """Return the rows of *table* that match all conditions; InputError for a column that it does not have."""

    def rows_of(names: tuple[str, ...]) -> Rows:
        if table is CAPTURED_BATCHES:
            return capture.batches(names)
        return capture.records(names, dispositions=dispositions)

    if not columns_where:
        return rows_where(rows_of, columns, where)
    from magicbyte.reading.filtered_records import columns_of, matching_rows

    schema = table.schema(table.names)
    condition = reduce(and_, (one.expression(schema, None) for one in columns_where))
    used = columns_of(condition, schema)

    def filtered_of(names: tuple[str, ...]) -> Rows:
        rows = rows_of(tuple(dict.fromkeys((*names, *used))))

        def read(report: Report) -> Iterator[pa.RecordBatch]:
            for batch in rows.read_into(report):
                for matching in matching_rows(batch, condition):
                    yield matching.select(list(names))

        return Rows(table.schema(names), read)

    return rows_where(filtered_of, columns, where)


def _write(
    choose: "partial[Rows]",
    table: TableDefinition,
    names: tuple[str, ...],
    out: Path,
    print_as: PrintOptions,
    report: Report,
    *,
    overwrite: bool,
) -> int:
    """Write the columns *names* of the chosen rows to *out*; return the number of rows."""
    format_name = format_of_suffix(out)
    rows = stored_table(choose, table, names) if format_name in FORMATS else choose(names)
    text_form = TextForm(format_name, print_as.bytes_as, print_as.time_as)
    num_rows = 0
    with whole_file(out) as file:
        with (
            ProgressBar() as bar,
            open_table(file, table.name, rows.schema, text_form) as write,
        ):
            for batch in rows.read_into(report):
                num_rows += batch.num_rows
                write(batch)
                bar.show(num_rows)
        # Another process may have created the file during the read.
        check_writable(out, replace=overwrite)
    return num_rows
