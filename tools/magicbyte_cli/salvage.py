"""`magicbyte salvage`: writes the sound part of damaged partitions."""

from pathlib import Path

import click

from magicbyte.writing.salvage import salvage as salvage_logs
from magicbyte_cli.selection import SourceSelection, paths_argument, source_options
from magicbyte_cli.unread_messages import warn_of_unread
from magicbyte_cli.writing_options import (
    output_or_none,
    print_report,
    run_with_progress,
    writing_options,
)


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
    out: Path | None,
    dry_run: bool,
    index_interval_bytes: int,
    segment_bytes: int | None,
    format_name: str,
    selection: SourceSelection,
) -> None:
    """Write the sound part of damaged partitions into the new folder OUT, so that a broker takes it without a recovery.

    The offsets of damaged ranges stay free, as after compaction. If the PATHs hold several replicas of a partition,
    they fill each other. Where damage took the marker of a transaction, the outcome that `dump` shows is written as a
    marker: without it a broker would give these records the outcome of the next transaction.
    """
    target = output_or_none(out, dry_run=dry_run)
    dataset = selection.open(paths, on_damage="skip")
    report = run_with_progress(
        lambda progress: salvage_logs(
            dataset,
            target,
            index_interval_bytes=index_interval_bytes,
            segment_bytes=segment_bytes,
            progress=progress,
        )
    )
    warn_of_unread(dataset.unread)
    ctx.exit(print_report(report, format_name))
