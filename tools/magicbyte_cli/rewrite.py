"""`magicbyte rewrite`: copies partitions and builds their companion files."""

from pathlib import Path

import click

from magicbyte.writing.companion_folders import write_companions
from magicbyte.writing.copies import rewrite as rewrite_logs
from magicbyte.writing.rewrite import Progress, RewriteReport
from magicbyte_cli.selection import SourceSelection, flag_option, paths_argument, source_options
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
      magicbyte rewrite /backup/kafka --companions-only -o /backup/companions
    """,
)
@paths_argument
@flag_option(
    "--companions-only",
    help="Write a folder for each partition with its companion files alone, and do not copy the `.log` files.",
)
@writing_options
@source_options
@click.pass_context
def rewrite(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    companions_only: bool,
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

    With --companions-only, OUT is new or empty. Delete the companion files of a copy of the log, but for its
    `leader-epoch-checkpoint`, which also has epochs without batches; then copy OUT over it. The broker that loads the
    copy reads no segment, and recovers nothing.
    """
    target = output_or_none(out, dry_run=dry_run)
    if companions_only and segment_bytes is not None:
        raise click.UsageError(
            "--segment-bytes divides segments, which --companions-only keeps.", ctx
        )
    dataset = selection.open(paths)

    def write(progress: Progress) -> RewriteReport:
        if companions_only:
            return write_companions(
                dataset, target, index_interval_bytes=index_interval_bytes, progress=progress
            )
        return rewrite_logs(
            dataset,
            target,
            index_interval_bytes=index_interval_bytes,
            segment_bytes=segment_bytes,
            progress=progress,
        )

    report = run_with_progress(write)
    warn_of_unread(dataset.unread)
    ctx.exit(print_report(report, format_name))
