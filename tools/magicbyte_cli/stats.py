"""`magicbyte stats`: prints what logs consist of, and which records delay their deletion."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import magicbyte as mb
from magicbyte.logdir.discover import discover
from magicbyte.output_guard import check_outside
from magicbyte.statistics.partition import BY
from magicbyte.storage import Storage
from magicbyte.writing.convert import Conversion
from magicbyte_cli import parameters
from magicbyte_cli.display import text_line
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.output_files import check_writable, write_whole
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.selection import (
    LogSelection,
    flag_option,
    format_option,
    log_selection_options,
    overwrite_option,
    paths_argument,
    processes_option,
)
from magicbyte_cli.stats_text import statistics_lines
from magicbyte_cli.stderr_messages import exit_status, warn, warn_of_findings
from magicbyte_cli.unread_messages import warn_of_unread
from magicbyte_cli.what_if import what_if_lines, what_if_option


@click.command(
    short_help="Print what logs consist of, and why segments are kept.",
    epilog="""\b
    Examples:
      magicbyte stats /var/lib/kafka
      magicbyte stats /var/lib/kafka --topic orders --by segment
      magicbyte stats /var/lib/kafka --by topic --sort size --top 10
      magicbyte stats /var/lib/kafka --by topic --quick --format ndjson | jq '[.topic, .log_bytes]'
      magicbyte stats /var/lib/kafka --format html -o stats.html
      magicbyte stats /var/lib/kafka --what-if codec=zstd:3,magic=2
    """,
)
@paths_argument
@click.option(
    "--by",
    type=click.Choice(BY),
    default="partition",
    help="One row for each of these; the last row is the total.",
)
@click.option(
    "--sort",
    type=click.Choice(("name", "size", "records")),
    default="name",
    help="Order of the rows of text and NDJSON: by name, or the largest logs or most records first.",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    metavar="N",
    help="Print only the first N rows, in the order of --sort; the total counts all.",
)
@flag_option(
    "--quick",
    help="Read only the headers of batches: no ratios, keys or values, and no CRC is checked.",
)
@format_option(
    "Aligned tables; one JSON object per row, whose `kind` is the value of --by, or total; or a "
    "page, written to -o.",
    "html",
)
@click.option(
    "-o",
    "out",
    metavar="OUT",
    type=parameters.OutPath(),
    help="File for the page, which is self-contained; outside of every PATH.",
)
@overwrite_option
@what_if_option
@processes_option
@log_selection_options
@click.pass_context
def stats(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    by: str,
    sort: str,
    top: int | None,
    quick: bool,
    format_name: str,
    out: Path | None,
    overwrite: bool,
    conversion: Conversion | None,
    processes: int | None,
    selection: LogSelection,
) -> None:
    """Print what logs consist of.

    Counts files, formats, codecs and compression ratios, batch sizes, bytes of overhead, keys,
    tombstones, producers and timestamps, and names the records whose timestamps delay deletion by
    retention.ms.

    Includes all replicas, internal topics, and all records, also those that no consumer would get.
    Damaged ranges are counted in bytes only.
    """
    if (out is None) == (format_name == "html"):
        raise click.UsageError("-o OUT and --format html need each other.", ctx)
    if format_name == "html" and (sort != "name" or top is not None):
        raise click.UsageError("--sort and --top apply to text and ndjson.", ctx)
    if conversion is not None:
        if format_name == "html":
            raise click.UsageError("--what-if has the formats text and ndjson.", ctx)
        sys.stdout.buffer.writelines(
            what_if_lines(paths, conversion, format_name, **selection.arguments(paths))
        )
        return
    if out is not None:
        check_writable(out, replace=overwrite)
        logs = discover(paths, Storage(selection.storage_option))[0]
        check_outside(out, logs, paths)
    with ProgressBar() as bar:
        statistics = mb.stats(
            *paths,
            by=by,
            quick=quick,
            processes=processes,
            progress=bar.show,
            **selection.arguments(paths),
        )
    if out is not None:
        from magicbyte_cli.report.page_origin import PageOrigin
        from magicbyte_cli.report.stats.stats_page import render

        page = render(statistics, paths, PageOrigin.here(logs))
        write_whole(out, page.encode("utf-8"))
        warn(f"{out}: statistics of {statistics.total['log_bytes']:,} bytes of logs")
    else:
        num_rows = len(statistics.rows)
        statistics.rows = _first_rows(statistics.rows, sort, top)
        if len(statistics.rows) < num_rows:
            warn(f"{len(statistics.rows):,} of {num_rows:,} rows; the total counts all")
        stdout = sys.stdout.buffer
        if format_name == "ndjson":
            stdout.writelines(_ndjson_lines(statistics, by))
        else:
            stdout.writelines(map(text_line, statistics_lines(statistics)))
        stdout.flush()
    warn_of_findings(statistics.findings, see="magicbyte verify")
    warn_of_unread(statistics.unread)
    ctx.exit(exit_status(statistics.findings, statistics.unread))


def _first_rows(rows: list[dict[str, Any]], sort: str, top: int | None) -> list[dict[str, Any]]:
    """Return the first *top* of *rows* in the order *sort*; None is all."""
    if sort != "name":
        column = "log_bytes" if sort == "size" else "record_count"
        rows = sorted(rows, key=lambda row: row[column] or 0, reverse=True)
    return rows[:top]


def _ndjson_lines(statistics: mb.Statistics, by: str) -> Iterator[bytes]:
    for row in statistics.rows:
        yield object_line({"kind": by, **row})
    yield object_line({"kind": "total", **statistics.total})
