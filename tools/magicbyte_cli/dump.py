"""`magicbyte dump`: a table of the log, as text or NDJSON."""

import sys
from collections.abc import Iterator, Sequence
from functools import partial

import click
import pyarrow as pa

from magicbyte import Dataset, Report, Rows
from magicbyte.findings import worst
from magicbyte.reading.follow import last_rows
from magicbyte.tables.schemas import RECORDS, TABLES, TableDefinition
from magicbyte_cli import parameters
from magicbyte_cli.companion_view import are_companions, check_options, rows_of_companions
from magicbyte_cli.format_option import format_option
from magicbyte_cli.ndjson import NdjsonWriter
from magicbyte_cli.progress import bar_beside_stdout
from magicbyte_cli.record_filter import Condition, records_where, where_options
from magicbyte_cli.selection import Selection, paths_argument, selection_options
from magicbyte_cli.stderr_messages import (
    complain,
    complain_of,
    complain_of_hidden,
    complain_of_internal,
)
from magicbyte_cli.tail import Following, tail_options
from magicbyte_cli.text import TextWriter

DELIVERED = ("delivered",)

TEXT_COLUMNS = {
    "records": ("topic", "partition", "offset", "timestamp", "key", "value", "headers"),
    "batches": (
        "topic",
        "partition",
        "file",
        "position",
        "size_bytes",
        "base_offset",
        "last_offset",
        "magic",
        "codec",
        "max_timestamp",
        "producer_id",
        "producer_epoch",
        "record_count",
        "is_transactional",
        "crc_valid",
        "control_type",
        "disposition",
    ),
    "segments": (
        "topic",
        "partition",
        "file",
        "live",
        "why_not",
        "size_bytes",
        "sound_bytes",
        "bytes_damaged",
        "bytes_tail",
        "end",
        "records_delivered",
    ),
    "transactions": (
        "topic",
        "partition",
        "producer_id",
        "producer_epoch",
        "outcome",
        "first_offset",
        "last_offset",
        "marker_offset",
        "first_timestamp",
        "marker_timestamp",
        "record_count",
        "evidence",
    ),
    "partitions": (
        "topic",
        "partition",
        "segment_count",
        "size_bytes",
        "log_start_offset",
        "log_end_offset",
        "last_stable_offset",
        "high_watermark",
        "leader_epoch",
        "records_delivered",
        "verdict",
    ),
    "problems": ("severity", "code", "topic", "partition", "file", "position", "message"),
}
"""What a line of text has room for; --columns gives any others."""

NOT_IN_NDJSON = ("file", "position")
"""Columns of records that NDJSON has only where they are named."""


@click.command(
    short_help="Show records, or another table.",
    epilog="""\b
    Examples:
      magicbyte dump /var/lib/kafka --topic orders --from-time 2024-05-01T12:00:00Z --limit 10
      magicbyte dump orders-0 --isolation-level read_committed --format ndjson | jq .value
      magicbyte dump orders-0 --disposition aborted,control --columns offset,key,outcome
      magicbyte dump orders-0 --where-key =user-17 --where-value '/"total": ?0[,}]/' --limit 5
      magicbyte dump orders-0 --tail 20 --follow
      magicbyte dump /var/lib/kafka --table batches --quick
      magicbyte dump /var/lib/kafka --table problems
      magicbyte dump orders-0/00000000000000000000.timeindex
      magicbyte dump /var/lib/kafka/replication-offset-checkpoint --format ndjson
    """,
)
@paths_argument
@click.option(
    "--table",
    "table_name",
    type=click.Choice(tuple(TABLES)),
    default="records",
    show_default=True,
    help="The rows to show.",
)
@format_option("Aligned columns, or a JSON object per line.")
@click.option(
    "--columns",
    type=parameters.names,
    metavar="A,B",
    help="Only these columns, in the table's order.  [default: by table and format]",
)
@click.option(
    "--bytes",
    "bytes_as",
    type=click.Choice(("text", "hex", "base64")),
    default="text",
    show_default=True,
    help="How keys and values are written. In NDJSON, text that is not UTF-8 comes as base64, "
    "under a name that ends in _base64.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Stop after N rows.")
@click.option(
    "--disposition",
    "dispositions",
    type=parameters.names,
    metavar="D,...",
    help="Records of these dispositions.  [default: delivered]",
)
@click.option(
    "--quick", is_flag=True, help="Of batches, read the headers alone; no CRC is checked."
)
@where_options
@tail_options
@selection_options(isolation_level="read_uncommitted", on_damage="skip")
@click.pass_context
def dump(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    table_name: str,
    format_name: str,
    columns: tuple[str, ...] | None,
    bytes_as: str,
    limit: int | None,
    dispositions: tuple[str, ...] | None,
    quick: bool,
    where: tuple[Condition, ...],
    tail: int | None,
    follow: bool,
    selection: Selection,
) -> None:
    """Show the records of a log, or another of its tables.

    What is sound is shown whatever lies around it; what was found, and what is not shown, is said
    on stderr. Of an index, a producer snapshot or a checkpoint that is named, a row per entry is shown.
    """
    if are_companions(paths):
        check_options(ctx)
        shown = rows_of_companions(paths, columns, selection.storage_option)
        _show(shown.rows.schema, iter([shown.rows]), format_name, bytes_as, limit)
        complain_of(shown.findings)
        ctx.exit(1 if worst(shown.findings) == "error" else 0)
    if dispositions is not None and table_name != "records":
        raise click.UsageError(f"--disposition is for records, not for {table_name}")
    if where and table_name != "records":
        raise click.UsageError(f"--where-... is for records, not for {table_name}")
    if (tail is not None or follow) and table_name != "records":
        raise click.UsageError(f"--tail and --follow are for records, not for {table_name}")
    if follow and (selection.to_offset is not None or selection.to_time is not None):
        raise click.UsageError("--follow has no end: neither --to-offset nor --to-time")
    if quick and table_name != "batches":
        raise click.UsageError(f"--quick is for batches, not for {table_name}")
    wanted = _columns(TABLES[table_name], format_name, columns)
    choose = partial(records_where, dispositions=dispositions or DELIVERED, where=where)
    if follow:
        following = Following(
            partial(selection.open, paths),
            choose,
            wanted,
            _writer(RECORDS.schema(wanted), format_name, bytes_as),
            tail=tail,
            limit=limit,
        )
        following.until_interrupted()
        ctx.exit(1 if worst(following.findings) == "error" else 0)

    dataset = selection.open(paths)
    if tail is not None:
        last = partial(last_rows, dataset, choose, wanted, tail)
        rows = Rows(RECORDS.schema(wanted), last)
    elif table_name == "records":
        rows = choose(dataset, wanted)
    else:
        rows = _rows(dataset, table_name, wanted, quick=quick)

    report = _write(rows, format_name, bytes_as, limit)

    complain_of_internal(dataset, table_name)
    if table_name == "records":
        complain_of_hidden(report, dispositions or DELIVERED)
    if quick:
        complain("CRC not checked")
    complain_of(report.findings, one_by_one=table_name != "problems")
    ctx.exit(1 if report.severity == "error" else 0)


def _columns(
    table: TableDefinition, format_name: str, columns: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the names of the columns to show, in the order of *table*."""
    if columns is not None:
        chosen: Sequence[str] = table.check(tuple(columns))
    elif format_name == "text":
        chosen = TEXT_COLUMNS[table.name]
    elif table.name == "records":
        chosen = [name for name in table.names if name not in NOT_IN_NDJSON]
    else:
        chosen = table.names
    return tuple(name for name in table.names if name in chosen)


def _rows(dataset: Dataset, table_name: str, columns: Sequence[str], *, quick: bool) -> Rows:
    """Return rows of a table, but for records."""
    match table_name:
        case "batches":
            return dataset.batches(columns, quick=quick)
        case "segments":
            return dataset.segments(columns)
        case "transactions":
            return dataset.transactions(columns)
        case "partitions":
            return dataset.partitions(columns)
        case _:
            return dataset.problems(columns)


def _write(rows: Rows, format_name: str, bytes_as: str, limit: int | None) -> Report:
    """Write *rows* to stdout, at most *limit*, and return the report of what was read for them."""
    report, batches = _pass(rows)
    _show(rows.schema, batches, format_name, bytes_as, limit)
    return report


def _show(
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    format_name: str,
    bytes_as: str,
    limit: int | None,
) -> None:
    writer = _writer(schema, format_name, bytes_as)
    done = 0
    with bar_beside_stdout() as bar:
        for batch in batches:
            last = limit is not None and done + batch.num_rows >= limit
            writer.write(batch.slice(0, limit - done) if limit is not None and last else batch)
            done += batch.num_rows
            bar.rows(done)
            if last:
                break
    writer.flush()


def _writer(schema: pa.Schema, format_name: str, bytes_as: str) -> NdjsonWriter | TextWriter:
    out = sys.stdout.buffer
    if format_name == "ndjson":
        return NdjsonWriter(out, schema, bytes_as=bytes_as)
    return TextWriter(out, schema, bytes_as=bytes_as, is_terminal=sys.stdout.isatty())


def _pass(rows: Rows) -> tuple[Report, Iterator[pa.RecordBatch]]:
    """Return a pass over *rows*, and the report that it fills as it goes.

    `Rows.report` is there after a whole pass alone, and --limit ends one early.
    """
    report = Report()
    return report, rows.read_into(report)
