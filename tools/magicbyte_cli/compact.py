"""`magicbyte compact`: writes what a round of Kafka's log cleaner leaves, or prints an estimate of it."""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

import magicbyte as mb
from magicbyte.writing.compact import compact as write_compacted
from magicbyte.writing.compaction import RELEASES, CleanerSettings, CompactionEstimate, dry_run
from magicbyte.writing.rewrite import RewriteReport
from magicbyte_cli import parameters
from magicbyte_cli.cell_texts import NULL
from magicbyte_cli.display import byte_size, text_line
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.selection import (
    Decorator,
    SourceSelection,
    flag_option,
    paths_argument,
    size_option,
    source_options,
    with_options,
)
from magicbyte_cli.stderr_messages import exit_status, warn, warn_of_findings
from magicbyte_cli.text_table import table_lines
from magicbyte_cli.unread_messages import warn_of_unread
from magicbyte_cli.writing_options import WritingChoices, writing_options

DEFAULTS = {field.name: field.default for field in fields(CleanerSettings)}


def _milliseconds_option(name: str, help_text: str) -> Decorator:
    """Return the option of a setting in milliseconds."""
    return click.option(
        name,
        type=click.IntRange(0),
        metavar="MS",
        default=DEFAULTS[name.removeprefix("--").replace("-", "_")],
        help=help_text,
    )


settings_options = with_options(
    (
        click.option(
            "--now",
            type=parameters.time,
            metavar="TIME",
            help="Time of the round: ISO 8601, or milliseconds since the Unix epoch.  [default: the "
            "current time]",
        ),
        click.option(
            "--first-dirty-offset",
            type=parameters.offset,
            metavar="OFFSET",
            help="Offset from which keys are looked up; 0 as if the cleaner had never been here.  "
            "[default: from cleaner-offset-checkpoint]",
        ),
        flag_option(
            "--include-active-segment",
            help="Clean the last segment, too, as if the broker had begun a new one.",
        ),
        _milliseconds_option("--delete-retention-ms", "The topic's delete.retention.ms."),
        _milliseconds_option("--min-compaction-lag-ms", "The topic's min.compaction.lag.ms."),
        _milliseconds_option("--max-compaction-lag-ms", "The topic's max.compaction.lag.ms."),
        click.option(
            "--min-cleanable-dirty-ratio",
            type=click.FloatRange(0, 1),
            metavar="RATIO",
            default=DEFAULTS["min_cleanable_dirty_ratio"],
            help="The topic's min.cleanable.dirty.ratio.",
        ),
        click.option(
            "--release",
            type=click.Choice(RELEASES),
            default=DEFAULTS["release"],
            help="Kafka's release. 4.x writes v0 and v1 messages as v2 batches.",
        ),
        size_option(
            "--dedupe-buffer-bytes",
            default="128MiB",
            help="The broker's log.cleaner.dedupe.buffer.size for one thread: 24 bytes for each key.",
        ),
    )
)


@click.command(
    short_help="Remove the records that the log cleaner would remove.",
    epilog="""\b
    Examples:
      magicbyte compact /var/lib/kafka --topic users --dry-run
      magicbyte compact /backup/log-0 --include-active-segment --first-dirty-offset 0 -o /compacted
      magicbyte compact /var/lib/kafka --dry-run --format ndjson | jq 'select(.is_compacted | not)'
    """,
)
@paths_argument
@settings_options
@writing_options
@source_options
@click.pass_context
def compact(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    now: datetime | int | None,
    first_dirty_offset: int | None,
    include_active_segment: bool,
    delete_retention_ms: int,
    min_compaction_lag_ms: int,
    max_compaction_lag_ms: int | None,
    min_cleanable_dirty_ratio: float,
    dedupe_buffer_bytes: int,
    release: str,
    writing: WritingChoices,
    selection: SourceSelection,
) -> None:
    """Write partitions into the new folder OUT as a round of Kafka's log cleaner would leave them.

    All selected partitions are compacted, since files do not tell whether a topic is, and whether or not the round is
    due. Records keep their offsets. To continue a run that did not finish, give it the same --now.

    With --dry-run, prints how many records the round would remove, and why. `due` is `yes` if a broker would clean the
    partition now. `compacted` is `yes` if the round would remove no record, and earlier rounds have left none that they
    should have removed.
    """
    sizes = {} if writing.segment_bytes is None else {"segment_bytes": writing.segment_bytes}
    settings = CleanerSettings(
        now_ms=_milliseconds(now),
        first_dirty_offset=first_dirty_offset,
        includes_active_segment=include_active_segment,
        delete_retention_ms=delete_retention_ms,
        min_compaction_lag_ms=min_compaction_lag_ms,
        max_compaction_lag_ms=max_compaction_lag_ms,
        min_cleanable_dirty_ratio=min_cleanable_dirty_ratio,
        dedupe_buffer_bytes=dedupe_buffer_bytes,
        release=release,
        **sizes,
    )
    dataset = selection.open(paths)
    if writing.target is None:
        status = _print_estimates(dataset, settings, writing.format_name)
        warn_of_findings(dataset.unreadable)
        warn_of_unread(dataset.unread)
        status = max(status, exit_status(dataset.unreadable, dataset.unread))
    else:

        def write(dataset: mb.Dataset, out: Path, **arguments: Any) -> RewriteReport:
            del arguments["segment_bytes"]  # it is one of the settings
            return write_compacted(dataset, out, settings, **arguments)

        _, status = writing.run(dataset, write)
    ctx.exit(status)


def _print_estimates(dataset: mb.Dataset, settings: CleanerSettings, format_name: str) -> int:
    """Print an estimate for each partition; return the exit status: 1 if one cannot be cleaned."""
    estimates = []
    out = sys.stdout.buffer
    for estimate in _estimates(dataset, settings):
        estimates.append(estimate)
        if format_name == "ndjson":
            out.write(object_line(estimate.row()))
    if format_name == "text":
        out.writelines(map(text_line, _text_lines(estimates)))
    out.flush()
    return int(any(estimate.refusal is not None for estimate in estimates))


def _estimates(dataset: mb.Dataset, settings: CleanerSettings) -> Iterator[CompactionEstimate]:
    """Yield the estimates, and print the reason on stderr for a partition that cannot be cleaned."""
    for estimate in dry_run(dataset, settings):
        if estimate.refusal is not None:
            warn(f"{_name(estimate)}: the cleaner would stop: {estimate.refusal}")
        elif estimate.is_map_full:
            warn(
                f"{_name(estimate)}: the keys do not fit into the dedupe buffer; the round ends at offset "
                f"{estimate.end_offset}"
            )
        yield estimate


def _milliseconds(now: datetime | int | None) -> int:
    if now is None:
        return int(time.time() * 1000)
    if isinstance(now, int):
        return now
    return int((now if now.tzinfo else now.replace(tzinfo=UTC)).timestamp() * 1000)


def _text_lines(estimates: Sequence[CompactionEstimate]) -> Iterator[str]:
    heads = ">ratio|>records|>superseded|>no key|>aborted|>expired|>waiting|>freed"
    rows = [
        (
            _name(estimate),
            _answer(estimate.is_due),
            NULL if estimate.cleanable_ratio is None else f"{estimate.cleanable_ratio:.2f}",
            f"{estimate.record_count:,}",
            f"{estimate.superseded_below + estimate.superseded_above:,}",
            f"{estimate.keyless_count:,}",
            f"{estimate.aborted_count:,}",
            f"{estimate.expired_tombstones:,}",
            f"{estimate.waiting_tombstones + estimate.new_tombstones:,}",
            byte_size(estimate.freed_bytes),
            _answer(estimate.is_compacted),
        )
        for estimate in estimates
    ]
    yield from table_lines(("", "due", *heads.split("|"), "compacted"), rows)


def _name(estimate: CompactionEstimate) -> str:
    return NULL if estimate.topic is None else f"{estimate.topic}-{estimate.partition}"


def _answer(is_so: bool | None) -> str:
    return NULL if is_so is None else "yes" if is_so else "no"
