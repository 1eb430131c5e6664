"""`magicbyte salvage`: writes the sound part of damaged partitions."""

import shlex

import click

from magicbyte.writing.salvage import salvage as salvage_logs
from magicbyte_cli.selection import SourceSelection, paths_argument, source_options
from magicbyte_cli.writing_options import WritingChoices, writing_options


@click.command(
    short_help="Write the sound part of damaged partitions.",
    epilog="""\b
    Examples:
      magicbyte salvage /var/lib/kafka --topic orders --dry-run
      magicbyte salvage /broker1/kafka /broker2/kafka --topic orders -o /salvaged
    """,
)
@paths_argument
@writing_options
@source_options
@click.pass_context
def salvage(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    writing: WritingChoices,
    selection: SourceSelection,
) -> None:
    """Write the sound part of damaged partitions into the new folder OUT, so that a broker takes it without a recovery.

    The offsets of damaged ranges stay free, as after compaction. If the PATHs hold several replicas of a partition,
    they fill each other. Where damage took the marker of a transaction, the outcome that `dump` shows is written as a
    marker: without it a broker would give these records the outcome of the next transaction.
    """
    dataset = selection.open(paths, on_damage="skip")
    report, status = writing.run(dataset, salvage_logs)
    is_written = len(report.failures) < len(report.partitions)
    if report.output_path is not None and is_written and writing.format_name == "text":
        click.echo(
            f"next: magicbyte restore {shlex.quote(report.output_path)} -o STAGING prepares the output for a running "
            "cluster"
        )
    ctx.exit(status)
