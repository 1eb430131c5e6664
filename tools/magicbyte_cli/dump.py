"""`magicbyte dump`: prints records, or another table of a log, as text, NDJSON or CSV, or by a template."""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import click
import pyarrow as pa

from magicbyte import Dataset, Report, Rows
from magicbyte.decoding.decode_option import DecodeForm
from magicbyte.reading.typed_columns import SIDES
from magicbyte.tables.schemas import ALL_TABLES, RECORDS
from magicbyte.tables.table_definition import TableDefinition
from magicbyte_cli.column_condition import ColumnCondition
from magicbyte_cli.companion_view import are_companions, check_options, companion_rows
from magicbyte_cli.option_completion import complete_columns
from magicbyte_cli.painter import Painter
from magicbyte_cli.printed_rows import PrintOptions, print_options, print_rows, template_option
from magicbyte_cli.record_filter import Condition, records_where, where_options
from magicbyte_cli.selection import (
    Selection,
    disposition_option,
    flag_option,
    names_option,
    paths_argument,
    selection_options,
    table_option,
)
from magicbyte_cli.stderr_messages import (
    exit_status,
    warn,
    warn_of_aborted,
    warn_of_findings,
    warn_of_internal_topics,
    warn_of_undelivered,
)
from magicbyte_cli.tail import FollowCommand, tail_options
from magicbyte_cli.typed_command import FollowedTopics, TypedCommand
from magicbyte_cli.typed_output import (
    PrintedColumns,
    decode_options,
    explain,
    hint_at_frames,
    hint_at_messages,
)
from magicbyte_cli.unread_messages import warn_of_unread

DELIVERED = ("delivered",)

TEXT_COLUMNS = {
    "records": "topic partition offset timestamp key headers value",
    "batches": "topic partition file position size_bytes base_offset last_offset magic codec "
    "max_timestamp producer_id producer_epoch record_count is_transactional crc_valid control_type "
    "disposition",
    "segments": "topic partition file live why_not size_bytes sound_bytes bytes_damaged bytes_tail "
    "end records_delivered",
    "transactions": "topic partition producer_id producer_epoch outcome first_offset last_offset "
    "marker_offset first_timestamp marker_timestamp record_count evidence",
    "partitions": "topic partition segment_count size_bytes log_start_offset log_end_offset "
    "last_stable_offset high_watermark leader_epoch records_delivered",
    "problems": "severity code topic partition file position message",
    "replicas": "topic partition rank log_dir leader_epoch first_offset log_end_offset "
    "missing_offsets error_count filled_ranges filled_offsets",
    "topic_partitions": "topic partition leader replicas isr elr last_known_elr leader_epoch partition_epoch",
    "brokers": "broker_id fenced in_controlled_shutdown rack listeners log_dirs broker_epoch",
    "controllers": "controller_id is_voter directory_id listeners",
    "gaps": "topic partition first_offset end_offset offset_count reason file position",
    "schemas": "subject version id schema_type deleted is_gone offset timestamp references schema",
}
"""Columns of the text format, by table, others by default; --columns selects any others."""

HINT_ROWS = 500
"""Rows that are looked at for a hint."""

COLOR_COLUMNS = ("outcome", "disposition")
"""Columns of records that decide on the color of a line, whether they are printed or not."""

NOT_IN_NDJSON = ("file", "position")
"""Columns of records that NDJSON contains only if --columns names them."""


@click.command(
    short_help="Print records, or another table.",
    epilog="""\b
    Examples:
      magicbyte dump /var/lib/kafka --topic orders --from-time 2024-05-01T12:00:00Z --limit 10
      magicbyte dump orders-0 --isolation-level read_uncommitted --format ndjson | jq .value
      magicbyte dump orders-0 --disposition aborted,control --columns offset,key,outcome
      magicbyte dump orders-0 --where-key =user-17 --where-value '/"total": ?0[,}]/' --limit 5
      magicbyte dump orders-0 --tail 20 --follow
      magicbyte dump orders-0 -f '%o %k %s'
      magicbyte dump orders-0 --from-offset 17 --limit 1 --expanded
      magicbyte dump /var/lib/kafka --topic orders --decode auto --where 'value.amount > 100' --latest
      magicbyte dump /var/lib/kafka --topic orders --decode auto
      magicbyte dump /var/lib/kafka --topic orders --decode key=string,value=avro:order.avsc
      magicbyte dump users-0 --latest --to-time 2024-05-01T12:00:00Z --where-key =user-17
      magicbyte dump /var/lib/kafka --table batches --quick
      magicbyte dump /var/lib/kafka --table problems
      magicbyte dump orders-0/00000000000000000000.timeindex
      magicbyte dump /var/lib/kafka/replication-offset-checkpoint --format ndjson
    """,
)
@paths_argument
@table_option("Table to print.")
@names_option(
    "--columns",
    shell_complete=complete_columns,
    help="Only these columns, in the table's order.  [default: depends on table and format]",
)
@print_options(
    "Aligned columns, one JSON object per line, or CSV with JSON for lists and structs.",
    template_option,
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Stop after N rows.")
@disposition_option
@flag_option(
    "--latest",
    help="Only the last record of each key of a partition, unless that is a tombstone: the state at the end of "
    "what is read, which --to-offset and --to-time make earlier.",
)
@flag_option(
    "--quick", help="With --table batches: read only the headers of batches, and check no CRC."
)
@decode_options
@where_options
@tail_options
@selection_options()
@click.pass_context
def dump(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    table_name: str,
    columns: tuple[str, ...] | None,
    print_as: PrintOptions,
    limit: int | None,
    dispositions: tuple[str, ...] | None,
    latest: bool,
    quick: bool,
    forms: dict[str, DecodeForm] | None,
    schema_paths: tuple[str, ...],
    reader_schema: str,
    where: tuple[Condition, ...],
    columns_where: tuple[ColumnCondition, ...],
    tail: int | None,
    follow: bool,
    selection: Selection,
) -> None:
    """Print the records of a log, or another of its tables.

    Prints every valid record, even next to damage. On a terminal, columns with one value are in a
    heading, and long cells are cut; in a file or a pipe, every row is whole. Findings, and records and bytes that were not
    printed, are reported on stderr. Given index, snapshot or checkpoint files, prints their entries.
    """
    print_as = print_as.settled(ctx)
    if print_as.template is not None and columns is not None:
        raise click.UsageError("--template cannot be combined with --columns")
    if are_companions(paths):
        check_options(ctx)
        rows, findings = companion_rows(paths, columns, selection.storage_option)
        print_rows(rows.schema, iter([rows]), print_as, limit)
        warn_of_findings(findings)
        ctx.exit(exit_status(findings))
    if table_name != "records":
        for is_given, rule in (
            (dispositions is not None, "--disposition applies"),
            (where or columns_where, "--where applies"),
            (latest, "--latest applies"),
            (tail is not None or follow, "--tail and --follow apply"),
            (forms is not None, "--decode applies"),
            (print_as.template is not None, "--template applies"),
        ):
            if is_given:
                raise click.UsageError(f"{rule} to records, not to {table_name}")
    if follow and (selection.to_offset is not None or selection.to_time is not None):
        raise click.UsageError("--follow cannot be combined with --to-offset or --to-time")
    if latest and (tail is not None or follow or dispositions is not None):
        raise click.UsageError("--latest cannot be combined with --tail, --follow or --disposition")
    if quick and table_name != "batches":
        raise click.UsageError(f"--quick applies to batches, not to {table_name}")
    hidden = _hidden_columns(print_as, selection, dispositions, columns or ())
    if forms is not None:
        typed = TypedCommand(
            forms=forms,
            schema_paths=schema_paths,
            reader_schema=reader_schema,
            dispositions=dispositions or DELIVERED,
            latest=latest,
            where=where,
            columns_where=columns_where,
        )
        printed = _printed_columns(print_as, columns, hidden)
        typed_dump = _TypedDump(typed, printed, print_as, tail, limit, len(hidden))
        if follow:
            ctx.exit(typed_dump.follow(partial(selection.open, paths)))
        status = typed_dump.run(selection.open(paths))
        hint_at_messages(selection.topic)
        ctx.exit(status)
    if table_name != "records":
        hidden = ()
    column_names = _column_names(ALL_TABLES[table_name], print_as, columns) + hidden
    choose = partial(
        records_where,
        dispositions=dispositions or DELIVERED,
        where=where,
        latest=latest,
        columns_where=columns_where,
    )
    if follow:
        following = FollowCommand(
            partial(selection.open, paths),
            choose,
            column_names,
            print_as.writer(
                sys.stdout.buffer, RECORDS.schema(column_names), num_hidden=len(hidden)
            ),
            tail=tail,
            limit=limit,
        )
        following.run()
        ctx.exit(exit_status(following.findings, list(following.unread)))

    dataset = selection.open(paths)
    if tail is not None:
        from magicbyte.reading.follow import last_rows

        read_last = partial(last_rows, dataset, choose, column_names, tail)
        table_rows = Rows(RECORDS.schema(column_names), read_last)
    elif table_name == "records":
        table_rows = choose(dataset, column_names)
    elif quick:
        table_rows = dataset.batches(column_names, quick=True)
    else:
        table_rows = dataset.table(table_name, column_names)

    # Not `Rows.report`: that is complete only after a whole pass, and --limit ends one early.
    report = Report()
    first_batches: list[pa.RecordBatch] = []
    batches = _remember_first(table_rows.read_into(report), first_batches)
    print_rows(table_rows.schema, batches, print_as, limit, num_hidden=len(hidden))

    if table_name == "records" and print_as.is_text:
        for batch in first_batches:
            hint_at_frames(dataset, batch)
        hint_at_messages(selection.topic)
    warn_of_internal_topics(dataset, table_name)
    warn_of_unread(dataset.unread)
    if table_name == "records":
        warn_of_undelivered(report, dispositions or DELIVERED)
        warn_of_aborted(report.aborted_delivered)
    if quick:
        warn("CRC not checked")
    warn_of_findings(report.findings, one_by_one=table_name != "problems")
    ctx.exit(exit_status(report.findings, dataset.unread))


@dataclass(frozen=True, slots=True)
class _TypedDump:
    """Prints typed records."""

    typed: TypedCommand
    printed: PrintedColumns
    print_as: PrintOptions
    tail: int | None
    limit: int | None
    num_hidden: int

    def run(self, dataset: Dataset) -> int:
        """Print the records of *dataset*; return the exit status."""
        report = Report()
        rows = self.typed.printable_rows(dataset, self.printed, self.tail)
        print_rows(
            rows.schema,
            rows.read_into(report),
            self.print_as,
            self.limit,
            num_hidden=self.num_hidden,
        )
        findings = explain(report.findings)
        warn_of_internal_topics(dataset)
        warn_of_unread(dataset.unread)
        warn_of_undelivered(report, self.typed.dispositions)
        warn_of_aborted(report.aborted_delivered)
        warn_of_findings(findings)
        return exit_status(findings, dataset.unread)

    def follow(self, open_dataset: Callable[[], Dataset]) -> int:
        """Print the records, and those that are appended; return the exit status."""
        topics = FollowedTopics(self.typed, self.printed)
        following = FollowCommand(
            open_dataset,
            topics.choose,
            topics.sources,
            self.print_as.writer(
                sys.stdout.buffer, self.printed.schema, num_hidden=self.num_hidden
            ),
            tail=self.tail,
            limit=self.limit,
            typed=topics,
        )
        following.run()
        return exit_status(following.findings, list(following.unread))


def _printed_columns(
    print_as: PrintOptions, columns: Sequence[str] | None, hidden: Sequence[str]
) -> PrintedColumns:
    """Return the columns of typed records that are printed, and *hidden* ones."""
    format_name = print_as.format_name
    if print_as.template is not None:
        sides = [name for name in print_as.template.columns if name in SIDES]
        columns = (*print_as.template.columns, *(f"{side}_bytes" for side in sides))
        format_name = "csv"  # decoded keys and values are plain text
    printed = PrintedColumns.of(columns, format_name, print_as.bytes_as)
    return replace(printed, names=(*printed.names, *hidden))


def _hidden_columns(
    print_as: PrintOptions,
    selection: Selection,
    dispositions: Sequence[str] | None,
    columns: Sequence[str],
) -> tuple[str, ...]:
    """Return the columns that are read for colors alone: none if all records are committed ones."""
    is_plain = selection.isolation_level == "read_committed" and dispositions is None
    if is_plain or not print_as.is_text or not Painter.for_stdout().is_on:
        return ()
    return tuple(name for name in COLOR_COLUMNS if name not in columns)


def _remember_first(
    batches: Iterator[pa.RecordBatch], first_batches: list[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield *batches*, and keep some rows of the first one."""
    for batch in batches:
        if not first_batches:
            first_batches.append(batch.slice(0, HINT_ROWS))
        yield batch
        del batch  # frees the rows before more are read


def _column_names(
    table: TableDefinition, print_as: PrintOptions, columns: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the names of the columns to print, in the order of *table*; in text, the value of a record is the last."""
    if print_as.template is not None:
        return print_as.template.columns
    if columns is not None:
        selected: Sequence[str] = table.check(tuple(columns))
    elif print_as.is_text:
        text_columns = TEXT_COLUMNS.get(table.name)
        selected = table.default if text_columns is None else text_columns.split()
    elif table.name == "records":
        selected = [name for name in table.names if name not in NOT_IN_NDJSON]
    else:
        selected = table.names
    names = [name for name in table.names if name in selected]
    if print_as.is_text and table.name == "records":
        names.sort(key="value".__eq__)
    return tuple(names)
