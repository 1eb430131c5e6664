"""`magicbyte pipeline`: the tables as Parquet, and a report, on Spark."""

from collections import Counter
from pathlib import Path

import click

from magicbyte import Dataset, InputError
from magicbyte.findings import worst
from magicbyte.tables.schemas import RECORDS, TABLES
from magicbyte_cli import parameters
from magicbyte_cli.parameters import size
from magicbyte_cli.selection import Selection, selection_options
from magicbyte_cli.stderr_messages import complain, complain_of_internal, counted

REPORT = "report.html"


@click.command(
    short_help="On Spark: all tables as Parquet, and a report.",
    epilog="""\b
    Examples:
      magicbyte pipeline /var/lib/kafka out
      magicbyte pipeline /var/lib/kafka out --overwrite --topic orders --max-partition-bytes 64MiB
      magicbyte pipeline /var/lib/kafka out --tables records --columns offset,timestamp,value --partition-by topic
      magicbyte pipeline /mnt/logs /mnt/out --master spark://host:7077 --conf spark.executor.memory=4g
    """,
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.argument("out", metavar="OUT", type=parameters.OutPath())
@click.option(
    "--master", default="local[*]", show_default=True, metavar="URL", help="Where Spark runs."
)
@click.option(
    "--conf", multiple=True, metavar="NAME=VALUE", help="A setting of Spark; may be repeated."
)
@click.option("--overwrite", is_flag=True, help="Replace an OUT that pipeline made before.")
@click.option("--restart", is_flag=True, help="Use nothing of a run that did not get to its end.")
@click.option(
    "--tables",
    type=parameters.names,
    metavar="A,B",
    help="Only these tables; the report needs all.  [default: all]",
)
@click.option(
    "--columns",
    type=parameters.names,
    metavar="A,B",
    help="Only these columns of records, in the table's order.  [default: all]",
)
@click.option(
    "--partition-by",
    type=click.Choice(("topic",)),
    help="A folder of records and of batches for each topic: topic=orders.",
)
@click.option(
    "--target-file-size",
    type=size,
    metavar="SIZE",
    help="Begin another file of records or batches at this size, about.  [default: one per task]",
)
@click.option(
    "--max-partition-bytes",
    type=size,
    default="128MiB",
    show_default=True,
    metavar="SIZE",
    help="As much of a segment as one task reads.",
)
@selection_options(isolation_level="read_committed", on_damage="skip")
@click.pass_context
def pipeline(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    out: Path,
    master: str,
    conf: tuple[str, ...],
    overwrite: bool,
    restart: bool,
    tables: tuple[str, ...] | None,
    columns: tuple[str, ...] | None,
    partition_by: str | None,
    target_file_size: int | None,
    max_partition_bytes: int,
    selection: Selection,
) -> None:
    """Write all tables of the logs in PATH... into the folder OUT, and a report on them.

    OUT gets a folder of Parquet for each table (records, batches, segments, transactions,
    partitions, problems) and report.html. It is whole or not there: a run that fails leaves what
    was there before. Nothing is replaced that pipeline did not make.

    A run that was killed is finished by the same command: what its tasks have done lies in the
    folder .OUT.part beside OUT, and is not done again.
    """
    settings = dict(_setting(text) for text in conf)
    chosen = tuple(TABLES) if tables is None else _tables(tables)
    of_records = RECORDS.names if columns is None else RECORDS.check(columns)
    try:
        from magicbyte.spark.pipeline import write_tables
        from magicbyte.spark.plan import SMALL_BYTES, make_plan, size_of
        from magicbyte.spark.session import Lazy
        from magicbyte.spark.stage import check_output, staged
        from magicbyte.spark.task_writer import Wanted
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        raise InputError("no Spark", "the extra `spark`: pip install 'magicbyte[spark]'") from error
    from magicbyte_cli.report.report_page import write_report

    dataset = selection.open(paths)
    has_report = len(chosen) == len(TABLES)
    real = check_output(out, dataset, paths, overwrite=overwrite)
    is_short = size_of(dataset) < SMALL_BYTES
    with (
        staged(real, overwrite=overwrite, restart=restart, say=complain) as stage,
        Lazy(master, settings, is_short=is_short, say=complain) as spark,
    ):
        plan = make_plan(
            dataset, max_partition_bytes, by_topic=partition_by == "topic", spark=spark.get
        )
        complain(
            f"planned {counted(len(dataset.logs), 'partition')}, "
            f"{counted(sum(len(log.logs) for log in dataset.logs), 'segment')}, "
            f"{size_of(dataset):,} bytes: {counted(len(plan.read), 'task')}"
        )
        summary = write_tables(
            plan,
            stage,
            wanted=Wanted(
                tables=chosen,
                columns=tuple(name for name in RECORDS.names if name in of_records),
                by_topic=partition_by == "topic",
                file_bytes=target_file_size,
            ),
            spark=spark,
            about={
                "paths": list(paths),
                "isolation_level": selection.isolation_level,
                "on_damage": selection.on_damage,
                "max_partition_bytes": max_partition_bytes,
            },
            say=complain,
            storage_options=selection.storage_option,
        )
        if has_report:
            write_report(stage.ready)
    _complain_of_rest(dataset, summary.records, summary.bytes)
    severities = Counter(finding.severity for finding in summary.findings)
    if severities:
        told = ", ".join(counted(severities[name], name) for name in sorted(severities))
        complain(f"problems: {told}")
    complain(f"report: {out / REPORT}" if has_report else f"{out}: {', '.join(chosen)}")
    ctx.exit(1 if worst(summary.findings) == "error" else 0)


def _tables(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return *names* of tables in their order. Raises InputError where one is none."""
    for name in names:
        if name not in TABLES:
            raise InputError(f"no table {name!r}", f"one of {', '.join(TABLES)}")
    return tuple(name for name in TABLES if name in names)


def _complain_of_rest(dataset: Dataset, records: Counter[str], sizes: Counter[str]) -> None:
    """Say in a line which records and which bytes were not delivered, and why."""
    parts = [
        counted(number, f"{name.replace('_', ' ')} {noun}")
        for counts, noun, names in (
            (records, "record", [name for name in sorted(records) if name != "delivered"]),
            (sizes, "byte", ["damaged", "over_limit", "tail"]),
        )
        for name in names
        if (number := counts[name])
    ]
    if parts:
        complain(f"not delivered: {', '.join(parts)}")
    complain_of_internal(dataset)


def _setting(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name.strip():
        raise click.BadParameter(f"{text!r}; expected NAME=VALUE", param_hint="--conf")
    return name.strip(), value
