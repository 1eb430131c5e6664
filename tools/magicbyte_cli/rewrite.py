"""`magicbyte rewrite`: copies partitions and builds their companion files."""

from pathlib import Path
from typing import Any

import click

from magicbyte import Dataset
from magicbyte.writing.companion_folders import write_companions
from magicbyte.writing.copies import rewrite as rewrite_logs
from magicbyte.writing.rewrite import RewriteReport
from magicbyte_cli.selection import SourceSelection, flag_option, paths_argument, source_options
from magicbyte_cli.writing_options import WritingChoices, writing_options


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
    writing: WritingChoices,
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
    dataset = selection.open(paths)
    if not companions_only:
        _, status = writing.run(dataset, rewrite_logs)
        ctx.exit(status)
    if writing.segment_bytes is not None:
        raise click.UsageError(
            "--segment-bytes divides segments, which --companions-only keeps.", ctx
        )
    _, status = writing.run(dataset, _write_companions)
    ctx.exit(status)


def _write_companions(
    dataset: Dataset, out: Path | None, *, segment_bytes: None, **arguments: Any
) -> RewriteReport:
    """Write companion files for the segments of the source; *segment_bytes* is None."""
    return write_companions(dataset, out, **arguments)
