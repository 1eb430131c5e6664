"""`magicbyte pipeline`: writes all tables as Parquet, and a report, with Spark."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

import magicbyte as mb
from magicbyte import Dataset, InputError
from magicbyte.tables.schemas import LOST, RECORDS, TABLES, table_named
from magicbyte_cli import parameters
from magicbyte_cli.display import counted
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.selection import (
    Selection,
    flag_option,
    names_option,
    selection_options,
    size_option,
)
from magicbyte_cli.stderr_messages import (
    exit_status,
    warn,
    warn_of_aborted,
    warn_of_internal_topics,
)
from magicbyte_cli.unread_messages import warn_of_unread

REPORT = "report.html"


@click.command(
    short_help="Write all tables as Parquet, and a report, with Spark.",
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
@click.option("--master", default="local[*]", metavar="URL", help="Spark master to run on.")
@click.option(
    "--conf",
    multiple=True,
    metavar="NAME=VALUE",
    help="Spark configuration property; may be repeated.",
)
@flag_option("--overwrite", help="Replace an OUT that an earlier run of pipeline wrote.")
@flag_option("--restart", help="Start from the beginning instead of resuming an interrupted run.")
@names_option(
    "--tables",
    "requested_tables",
    help="Only these tables, without the report, which needs all of them.  [default: all]",
)
@names_option(
    "--columns", help="Only these columns of records, in the table's order.  [default: all]"
)
@click.option(
    "--partition-by",
    type=click.Choice(("topic",)),
    help="Write records and batches into one folder per topic, such as topic=orders.",
)
@size_option(
    "--target-file-size",
    help="Start a new file of records or batches at about this size.  [default: one per task]",
)
@size_option(
    "--max-partition-bytes",
    default="128MiB",
    help="Bytes of a segment that one task reads, at most.",
)
@flag_option(
    "--verify",
    "is_verifying",
    help="Verify the logs too, as the command verify does: the report and the tables problems and "
    "partitions then have its findings and verdicts.",
)
@selection_options()
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
    requested_tables: tuple[str, ...] | None,
    columns: tuple[str, ...] | None,
    partition_by: str | None,
    target_file_size: int | None,
    max_partition_bytes: int,
    is_verifying: bool,
    selection: Selection,
) -> None:
    """Write all tables of the logs in PATH..., and a report, into the folder OUT.

    OUT contains a folder of Parquet files for each table (records, batches, segments, transactions,
    partitions, problems) and report.html. It appears whole or not at all: if a run fails, an
    existing OUT stays as it was. A folder that pipeline did not write is never replaced.

    To resume a run that was killed, repeat the command: the output of finished tasks is kept in
    the folder .OUT.part next to OUT.
    """
    settings = dict(_setting(text) for text in conf)
    requested = {table_named(name).name for name in requested_tables or TABLES}
    if unwritten := requested - TABLES.keys():
        raise InputError(f"the table {min(unwritten)}", f"some of {', '.join(TABLES)}")
    table_names = tuple(name for name in TABLES if name in requested)
    selected = RECORDS.names if columns is None else RECORDS.check(columns)
    try:
        from magicbyte.spark.pipeline import write_tables
        from magicbyte.spark.pipeline_plan import SMALL_BYTES, make_plan, size_of
        from magicbyte.spark.session import LazySession
        from magicbyte.spark.stage import check_output, staged
        from magicbyte.spark.task_writer import OutputSettings
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        raise InputError(
            "Spark is not installed", "the extra `spark`: pip install 'magicbyte[spark]'"
        ) from error
    from magicbyte_cli.report.report_page import write_report

    dataset = selection.open(paths)
    has_report = len(table_names) == len(TABLES)
    folder = check_output(out, dataset, paths, overwrite=overwrite)
    is_short = size_of(dataset) < SMALL_BYTES
    with (
        staged(folder, overwrite=overwrite, restart=restart, say=warn) as stage,
        LazySession(master, settings, is_short=is_short, say=warn) as spark,
    ):
        plan = make_plan(
            dataset, max_partition_bytes, by_topic=partition_by == "topic", spark=spark.get
        )
        warn(
            f"planned {counted(len(dataset.logs), 'partition')}, "
            f"{counted(sum(len(log.logs) for log in dataset.logs), 'segment')}, "
            f"{size_of(dataset):,} bytes: {counted(len(plan.read), 'task')}"
        )
        verification = _verification(paths, selection) if is_verifying else None
        summary = write_tables(
            plan,
            stage,
            output=OutputSettings(
                tables=table_names,
                columns=tuple(name for name in RECORDS.names if name in selected),
                by_topic=partition_by == "topic",
                file_bytes=target_file_size,
            ),
            spark=spark,
            about={
                "paths": list(paths),
                "isolation_level": selection.isolation_level,
                "on_damage": selection.on_damage,
                "max_partition_bytes": max_partition_bytes,
                "verified": is_verifying,
            },
            say=warn,
            storage_options=selection.storage_option,
            verification=verification,
        )
        if has_report:
            write_report(stage.ready)
    _warn_of_undelivered(dataset, summary.records, summary.bytes)
    warn_of_aborted(summary.aborted_delivered)
    severities = Counter(finding.severity for finding in summary.findings)
    if severities:
        counts = ", ".join(counted(severities[name], name) for name in sorted(severities))
        warn(f"findings: {counts}")
    warn_of_unread(dataset.unread)
    warn(f"report: {out / REPORT}" if has_report else f"{out}: {', '.join(table_names)}")
    is_bad = verification is not None and verification.has_bad_verdict
    ctx.exit(exit_status(summary.findings, dataset.unread) or int(is_bad))


def _verification(paths: Sequence[str], selection: Selection) -> mb.Verification:
    with ProgressBar() as bar:
        return mb.verify(*paths, progress=bar.show, **selection.arguments)


def _warn_of_undelivered(
    dataset: Dataset, records: Counter[str], byte_counts: Counter[str]
) -> None:
    """Print how many records and bytes were not delivered, by disposition."""
    parts = [
        counted(number, f"{name.replace('_', ' ')} {noun}")
        for counts, noun, names in (
            (records, "record", [name for name in sorted(records) if name != "delivered"]),
            (byte_counts, "byte", [*LOST, "tail"]),
        )
        for name in names
        if (number := counts[name])
    ]
    if parts:
        warn(f"not delivered: {', '.join(parts)}")
    warn_of_internal_topics(dataset)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise click.BadParameter(f"{text!r}; expected NAME=VALUE", param_hint="--conf")
    return name.strip(), value
