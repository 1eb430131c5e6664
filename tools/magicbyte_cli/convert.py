"""`magicbyte convert`: writes partitions with another codec, in another format, or with batches of another size."""

from functools import partial

import click

from magicbyte.writing.convert import convert as convert_logs
from magicbyte_cli.selection import (
    SourceSelection,
    flag_option,
    paths_argument,
    size_option,
    source_options,
)
from magicbyte_cli.writing_options import WritingChoices, writing_options
from magicbyte_formats.wire import CODEC_NAMES


class CodecOption(click.ParamType[tuple[str, int | None]]):
    """A codec and, after a colon, its level: `zstd:3`."""

    name = "codec"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int | None]:
        codec, colon, level = value.partition(":")
        if codec not in CODEC_NAMES.values():
            self.fail(f"{codec!r} is not one of {', '.join(CODEC_NAMES.values())}", param, ctx)
        if not colon:
            return codec, None
        try:
            return codec, int(level)
        except ValueError:
            self.fail(f"the level {level!r} is not a number", param, ctx)


@click.command(
    short_help="Change the codec, format or batch size of partitions.",
    epilog="""\b
    Examples:
      magicbyte convert /var/lib/kafka --topic orders --codec zstd:3 --dry-run
      magicbyte convert /backup/log-0 --magic 2 --codec lz4 -o /converted
      magicbyte convert orders-0 --batch-bytes 1MiB -o /converted
    """,
)
@paths_argument
@click.option(
    "--codec",
    "codec_and_level",
    type=CodecOption(),
    metavar="CODEC[:LEVEL]",
    help="none, gzip, snappy, lz4 or zstd, and its level.  [default: each batch keeps its codec]",
)
@click.option(
    "--magic",
    type=click.IntRange(0, 2),
    metavar="N",
    help="Format: 2, or 1 or 0 for the messages of Kafka before 0.11.  [default: the one of each batch]",
)
@size_option(
    "--batch-bytes",
    help="Size of a batch, as a producer's batch.size: smaller neighbours are joined, larger batches divided.  "
    "[default: as it is]",
)
@flag_option(
    "--lossy",
    help="Allow what format 1 or 0 cannot hold to be lost. Without it, such a partition is not written, and what would "
    "be lost is listed.",
)
@writing_options
@source_options
@click.pass_context
def convert(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    codec_and_level: tuple[str, int | None] | None,
    magic: int | None,
    batch_bytes: int | None,
    lossy: bool,
    writing: WritingChoices,
    selection: SourceSelection,
) -> None:
    """Write partitions into the new folder OUT, with another codec, in another format, or with other batches.

    Offsets, timestamps, headers, transactions and producers do not change. If only the codec changes, the bytes of
    the records do not change. All records of the output are compared with the records of the source.
    """
    codec_name, level = codec_and_level or (None, None)
    dataset = selection.open(paths)
    job = partial(
        convert_logs,
        codec=codec_name,
        level=level,
        magic=magic,
        batch_bytes=batch_bytes,
        lossy=lossy,
    )
    _, status = writing.run(dataset, job)
    ctx.exit(status)
