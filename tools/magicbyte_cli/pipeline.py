"""`magicbyte pipeline`: writes all tables as Parquet, and a report, with Spark."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

import magicbyte as mb
from magicbyte import Dataset, InputError
from magicbyte.decoding.decode_option import DecodeForm
from magicbyte.storage import NO_OPTIONS, is_url
from magicbyte.tables.schemas import DISPOSITIONS, TABLES
from magicbyte_cli import parameters
from magicbyte_cli.display import counted
from magicbyte_cli.option_completion import complete_path
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.selection import (
    Selection,
    flag_option,
    names_option,
    selection_options,
    size_option,
)
from magicbyte_cli.stderr_messages import (
    COUNTED_IN_BYTES,
    by_disposition,
    exit_status,
    warn,
    warn_of_aborted,
    warn_of_internal_topics,
)
from magicbyte_cli.typed_output import decode_options
from magicbyte_cli.unread_messages import warn_of_unread

REPORT = "report.html"


@click.command(
    short_help="Write all tables as Parquet, and a report, with Spark.",
    epilog="""\b
    Examples:
      magicbyte pipeline /var/lib/kafka out
      magicbyte pipeline /var/lib/kafka out --overwrite --topic orders --max-partition-bytes 64MiB
      magicbyte pipeline /var/lib/kafka out --tables records --columns offset,timestamp,value --partition-by topic
      magicbyte pipeline /var/lib/kafka out --append --decode value=registry
      magicbyte pipeline /mnt/logs /mnt/out --master spark://host:7077 --conf spark.executor.memory=4g
    """,
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, shell_complete=complete_path)
@click.argument("out", metavar="OUT", type=parameters.out_folder)
@click.option("--master", default="local[*]", metavar="URL", help="Spark master to run on.")
@click.option(
    "--conf",
    multiple=True,
    metavar="NAME=VALUE",
    help="Spark configuration property; may be repeated.",
)
@flag_option("--overwrite", help="Replace an OUT that an earlier run of pipeline wrote.")
@flag_option(
    "--append",
    "is_append",
    help="Add the records that OUT does not have yet, by the offsets that it keeps. Only the table records.",
)
@flag_option(
    "--allow-data-loss",
    help="With --append, write what exists where offsets that were not written are gone.",
)
@flag_option(
    "--delta",
    "is_delta",
    help="With --append, make OUT/records a table of Delta Lake: one commit for the files of a run.",
)
@click.option(
    "--iceberg-table",
    metavar="CATALOG.NAMESPACE.TABLE",
    help="With --append, register the files of a run in this table of pyiceberg's catalogs, in one commit.",
)
@flag_option("--restart", help="Start from the beginning instead of resuming an interrupted run.")
@names_option(
    "--tables",
    "requested_tables",
    help="Only these tables, without the report, which needs all of them.  [default: all]",
)
@names_option(
    "--columns", help="Only these columns of records, in the table's order.  [default: all]"
)
@names_option(
    "--partition-by",
    help="Write records into folders by topic, by date (of the timestamp in UTC), or topic,date: "
    "topic=orders/date=2024-04-24. Batches have folders by topic alone.",
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
@flag_option(
    "--internal-tables",
    "has_internal_tables",
    help="Write the tables of internal topics too, such as groups and topics, where these topics are below PATH. "
    "The report then shows groups and transactional ids.",
)
@decode_options
@selection_options()
@click.pass_context
def pipeline(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    out: str,
    master: str,
    conf: tuple[str, ...],
    overwrite: bool,
    is_append: bool,
    allow_data_loss: bool,
    is_delta: bool,
    iceberg_table: str | None,
    restart: bool,
    requested_tables: tuple[str, ...] | None,
    columns: tuple[str, ...] | None,
    partition_by: tuple[str, ...] | None,
    target_file_size: int | None,
    max_partition_bytes: int,
    is_verifying: bool,
    has_internal_tables: bool,
    forms: dict[str, DecodeForm] | None,
    schema_paths: tuple[str, ...],
    reader_schema: str,
    selection: Selection,
) -> None:
    """Write all tables of the logs in PATH..., and a report, into the folder OUT, local or in a store.

    OUT contains a folder of Parquet files for each table (records, batches, segments, transactions,
    partitions, problems) and report.html. It appears whole or not at all: if a run fails, an
    existing OUT stays as it was. A folder that pipeline did not write is never replaced.

    With --decode, records have a folder for each topic, OUT/records/topic=NAME, with typed columns of its own.

    To resume a run that was killed, repeat the command: the output of finished tasks is kept in
    the folder .OUT.part next to OUT.
    """
    settings = dict(_setting(text) for text in conf)
    try:
        from magicbyte.spark.pipeline_run import Pipeline
        from magicbyte.spark.session import LazySession
        from magicbyte.spark.table_formats import TableFormats
        from magicbyte.spark.task_writer import OutputSettings
        from magicbyte.spark.typed_topics import DecodeSettings
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        raise InputError(
            "Spark is not installed", "the extra `spark`: pip install 'magicbyte[spark]'"
        ) from error
    from magicbyte_cli.report.page_origin import PageOrigin
    from magicbyte_cli.report.report_page import write_report

    for option, is_given in (
        ("--verify", is_verifying),
        ("--internal-tables", has_internal_tables),
    ):
        if is_append and is_given:
            raise InputError(f"{option} with --append", "one of them")
    if is_append:
        requested_tables = requested_tables or ("records",)
    decode_settings = DecodeSettings.of(forms, schema_paths, reader_schema)
    output = OutputSettings.of(
        requested_tables,
        columns,
        partition_by or (),
        target_file_size,
        is_typed=decode_settings is not None,
    )
    stores = selection.storage_option
    if is_url(out) and not any(map(is_url, paths)):
        selection = replace(selection, storage_option=NO_OPTIONS)
    dataset = selection.open(paths)
    has_report = len(output.tables) == len(TABLES)
    work = Pipeline(
        dataset=dataset,
        paths=paths,
        out=out,
        output=output,
        max_partition_bytes=max_partition_bytes,
        overwrite=overwrite,
        append=is_append,
        allow_data_loss=allow_data_loss,
        table_formats=TableFormats(is_delta, iceberg_table),
        internal_tables=has_internal_tables,
        restart=restart,
        storage_options=stores,
        decode_settings=decode_settings,
    )
    verification = None

    def verify() -> mb.Verification | None:
        nonlocal verification
        verification = _verification(paths, selection) if is_verifying else None
        return verification

    def finish(stage: Any) -> None:
        if has_report:
            write_report(stage.ready, stage.files_of("batches"), PageOrigin.here(dataset.logs))

    with LazySession(master, settings, is_short=work.is_short, say=warn) as spark:
        summary = work.run(spark, say=warn, verify=verify, finish=finish)
    _warn_of_undelivered(dataset, summary.records, summary.bytes)
    warn_of_aborted(summary.aborted_delivered)
    for finding in summary.findings:
        if finding.code in ("values-decoded", "value-not-decoded"):
            warn(f"{finding.topic or '-'}: {finding.message}")
    severities = Counter(finding.severity for finding in summary.findings)
    if severities:
        counts = ", ".join(counted(severities[name], name) for name in sorted(severities))
        warn(f"findings: {counts}")
    warn_of_unread(dataset.unread)
    warn(f"report: {out}/{REPORT}" if has_report else f"{out}: {', '.join(output.tables)}")
    is_bad = verification is not None and verification.has_bad_verdict
    ctx.exit(exit_status(summary.findings, dataset.unread) or int(is_bad))


def _verification(paths: Sequence[str], selection: Selection) -> mb.Verification:
    with ProgressBar() as bar:
        return mb.verify(*paths, progress=bar.show, **selection.arguments(paths))


def _warn_of_undelivered(
    dataset: Dataset, records: Counter[str], byte_counts: Counter[str]
) -> None:
    """Print how many records and bytes were not delivered, by disposition."""
    undelivered = Counter({name: records[name] for name in DISPOSITIONS if name != "delivered"})
    lost_bytes = Counter({name: byte_counts[name] for name in COUNTED_IN_BYTES})
    if text := by_disposition(undelivered, lost_bytes):
        warn(f"not delivered: {text}")
    warn_of_internal_topics(dataset)


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise click.BadParameter(f"{text!r}; expected NAME=VALUE", param_hint="--conf")
    return name.strip(), value
