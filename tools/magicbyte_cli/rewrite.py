"""`magicbyte rewrite`: copies partitions and builds their companion files."""

from pathlib import Path

import click

from magicbyte.writing.copies import rewrite as rewrite_logs
from magicbyte_cli.selection import SourceSelection, paths_argument, source_options
from magicbyte_cli.unread_messages import warn_of_unread
from magicbyte_cli.writing_options import (
    output_or_none,
    print_report,
    run_with_progress,
    writing_options,
)


@click.command(
    short_help="Copy partitions, with new companion files.",
    epilog="""\b
    Examples:
      magicbyte rewrite /var/lib/kafka --topic orders -o /backup/kafka
      magicbyte rewrite orders-0 --dry-run
    """,
)
@paths_argument
@writing_options
@source_options
@click.pass_context
def rewrite(
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
    """Copy partitions into the new folder OUT, batch by batch, and build their companion files.

    Batches are copied byte for byte, after their checksums were verified. `.index`, `.timeindex`, `.txnindex`,
    `.snapshot` and `leader-epoch-checkpoint` are what Kafka's recovery would write for these batches. The output is
    verified before it appears. A partition that is damaged is not written: see `magicbyte salvage`.
    """
    target = output_or_none(out, dry_run=dry_run)
    dataset = selection.open(paths)
    report = run_with_progress(
        lambda progress: rewrite_logs(
            dataset,
            target,
            index_interval_bytes=index_interval_bytes,
            segment_bytes=segment_bytes,
            progress=progress,
        )
    )
    warn_of_unread(dataset.unread)
    ctx.exit(print_report(report, format_name))
