"""`magicbyte export`: a table of the log as a file of Parquet or Arrow."""

from pathlib import Path

import click

from magicbyte import Dataset, InputError, Report
from magicbyte.output_guard import check_outside
from magicbyte.tables.schemas import TABLES
from magicbyte.tables.table_files import FORMATS, SUFFIXES, TableFile
from magicbyte_cli import parameters
from magicbyte_cli.output_files import beside, check_writable
from magicbyte_cli.progress import Bar
from magicbyte_cli.selection import Selection, paths_argument, selection_options
from magicbyte_cli.stderr_messages import (
    complain,
    complain_of,
    complain_of_hidden,
    complain_of_internal,
    counted,
)


@click.command(
    short_help="Write a table as Parquet or Arrow.",
    epilog="""\b
    Examples:
      magicbyte export /var/lib/kafka -o records.parquet
      magicbyte export /var/lib/kafka --topic orders --columns offset,timestamp,value -o orders.arrow
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
    help="The file to write, whole or not at all; outside of every PATH.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(tuple(FORMATS)),
    help="Parquet with zstd, or an Arrow IPC file with lz4.  [default: by the suffix of OUT]",
)
@click.option(
    "--table",
    "table_name",
    type=click.Choice(tuple(TABLES)),
    default="records",
    show_default=True,
    help="The rows to write.",
)
@click.option(
    "--columns",
    type=parameters.names,
    metavar="A,B",
    help="Only these columns, in the table's order.  [default: all]",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many read records and batches. The file is the same.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is there.")
@selection_options(isolation_level="read_committed", on_damage="skip")
@click.pass_context
def export(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    out: Path,
    format_name: str | None,
    table_name: str,
    columns: tuple[str, ...] | None,
    threads: int,
    overwrite: bool,
    selection: Selection,
) -> None:
    """Write the records of a log, or another of its tables, into the file OUT.

    Columns and types are those of the Parquet that `pipeline` writes; times are microseconds.
    OUT is whole or not there: a run that fails leaves what was there before. What was found, and
    what was not exported, is said on stderr.
    """
    format_name = format_name or _format_of(out)
    table = TABLES[table_name]
    chosen = table.names if columns is None else table.check(columns)
    wanted = tuple(name for name in table.names if name in chosen)
    check_writable(out, replace=overwrite)
    dataset = selection.open(paths, threads=threads)
    check_outside(out, dataset.all_logs, paths)

    report, num_rows = _write(dataset, table_name, wanted, out, format_name, overwrite=overwrite)

    complain_of_internal(dataset, table_name)
    if table_name == "records":
        complain_of_hidden(report, ("delivered",), verb="exported")
    complain_of(report.findings, one_by_one=table_name != "problems")
    complain(f"{out}: {counted(num_rows, 'row')} of {table_name}")
    ctx.exit(1 if report.severity == "error" else 0)


def _format_of(out: Path) -> str:
    """Return the format that the suffix of *out* names; InputError where it names none."""
    found = SUFFIXES.get(out.suffix.lower())
    if found is None:
        raise InputError(
            f"the suffix {out.suffix!r}" if out.suffix else "no suffix",
            f"one of {', '.join(SUFFIXES)}, or --format",
            path=str(out),
        )
    return found


def _write(
    dataset: Dataset,
    table_name: str,
    columns: tuple[str, ...],
    out: Path,
    format_name: str,
    *,
    overwrite: bool,
) -> tuple[Report, int]:
    """Write a table to *out*; return the report of what was read for it, and its rows."""
    rows, report = dataset.stored(table_name, columns), Report()
    total = sum(file.size_bytes for log in dataset.logs for file in log.logs)
    with beside(out) as file:
        with Bar() as bar, TableFile(file, rows.schema, format_name) as made:
            for batch in rows.read_into(report):
                made.write(batch)
                del batch  # the next one comes into its memory
                if done := sum(report.bytes.values()):
                    bar.bytes(done, total)
        # Somebody else may have made one meanwhile.
        check_writable(out, replace=overwrite)
    return report, made.num_rows
