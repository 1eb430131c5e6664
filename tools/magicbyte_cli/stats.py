"""`magicbyte stats`: what logs consist of, and what keeps them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

import magicbyte as mb
from magicbyte.logdir.discover import discover
from magicbyte.output_guard import check_outside
from magicbyte.statistics.partition import BY
from magicbyte.storage import Storage, StorageOptions
from magicbyte_cli import parameters
from magicbyte_cli.format_option import format_option
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.output_files import check_writable, write_whole
from magicbyte_cli.printable import text_line
from magicbyte_cli.progress import Bar
from magicbyte_cli.selection import (
    limit_options,
    limits_of,
    paths_argument,
    store_options,
    topic_options,
    with_options,
)
from magicbyte_cli.stats_text import sentences
from magicbyte_cli.stderr_messages import complain, complain_of


@click.command(
    short_help="Show what logs consist of, and what keeps them.",
    epilog="""\b
    Examples:
      magicbyte stats /var/lib/kafka
      magicbyte stats /var/lib/kafka --topic orders --by segment
      magicbyte stats /var/lib/kafka --by topic --quick --format ndjson | jq '[.topic, .log_bytes]'
      magicbyte stats /var/lib/kafka --format html -o stats.html
    """,
)
@paths_argument
@click.option(
    "--by",
    type=click.Choice(BY),
    default="partition",
    show_default=True,
    help="What a row is of; below all rows stands everything together.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Read headers alone: no ratios, keys or values, and no CRC is checked.",
)
@format_option(
    "Tables to read; a JSON object per row, `kind` is what it is of, or total; a page for -o.",
    "html",
)
@click.option(
    "-o",
    "out",
    metavar="OUT",
    type=parameters.OutPath(),
    help="The file for the page, which needs nothing else; outside of every PATH.",
)
@click.option("--overwrite", is_flag=True, help="Replace OUT if it is there.")
@with_options((*topic_options, *limit_options, *store_options))
@click.pass_context
def stats(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    by: str,
    quick: bool,
    format_name: str,
    out: Path | None,
    overwrite: bool,
    topic: tuple[str, ...],
    partition: tuple[int, ...],
    max_batch_bytes: int | None,
    max_entry_bytes: int | None,
    storage_option: StorageOptions,
) -> None:
    """Show what logs consist of: files, formats, codecs and their ratios, sizes of batches, what the
    format costs, keys, tombstones, producers, times, and which record holds retention back.

    All replicas and Kafka's own topics are taken, and all records, whatever a consumer would get.
    What is damaged counts with its bytes alone.
    """
    if (out is None) == (format_name == "html"):
        raise click.UsageError("-o OUT and --format html go together.", ctx)
    if out is not None:
        check_writable(out, replace=overwrite)
        check_outside(out, discover(paths, Storage(storage_option))[0], paths)
    with Bar() as bar:
        found = mb.stats(
            *paths,
            by=by,
            topics=topic or None,
            partitions=partition or None,
            quick=quick,
            limits=limits_of(max_batch_bytes, max_entry_bytes),
            progress=bar.bytes,
            storage_options=storage_option,
        )
    if out is not None:
        from magicbyte_cli.report.stats.stats_page import render

        write_whole(out, render(found, paths).encode("utf-8"))
        complain(f"{out}: what {found.total['log_bytes']:,} bytes consist of")
    else:
        stdout = sys.stdout.buffer
        stdout.writelines(_objects(found, by) if format_name == "ndjson" else _lines(found))
        stdout.flush()
    complain_of(found.findings, others="magicbyte verify tells all")
    ctx.exit(0 if found.is_sound else 1)


def _objects(found: mb.Statistics, by: str) -> Iterator[bytes]:
    for row in found.rows:
        yield object_line({"kind": by, **row})
    yield object_line({"kind": "total", **found.total})


def _lines(found: mb.Statistics) -> Iterator[bytes]:
    return map(text_line, sentences(found))
