"""`magicbyte verify`: every check over a directory, and what a broker would make of it."""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import click

import magicbyte as mb
from magicbyte import CODES, Finding, InputError
from magicbyte.storage import StorageOptions
from magicbyte.verification.startup import INDEX_INTERVAL_BYTES
from magicbyte_cli.format_option import format_option
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.printable import text_line
from magicbyte_cli.produced_files import check_files
from magicbyte_cli.progress import Bar
from magicbyte_cli.selection import (
    limit_options,
    limits_of,
    store_options,
    topic_options,
    with_options,
)
from magicbyte_cli.stderr_messages import counted, counted_severities

BAD_VERDICTS = ("starts-damaged", "refuses-to-start")
"""Verdicts that count as errors."""


@click.command(
    short_help="Check everything; say what is wrong.",
    epilog="""\b
    Examples:
      magicbyte verify /var/lib/kafka
      magicbyte verify /var/lib/kafka --topic orders --format ndjson | jq 'select(.kind == "problem")'
      magicbyte verify /var/lib/kafka --processes 4
      magicbyte verify --explain checksum-mismatch
      magicbyte verify --produced batch.bin
    """,
)
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option("--quick", is_flag=True, help="Read headers alone; no CRC is checked.")
@format_option(
    "Lines to read, or a JSON object per line: `kind` is segment, partition, problem, summary."
)
@click.option(
    "--explain", metavar="CODE", help="Say what a code of a finding means; needs no PATH."
)
@click.option(
    "--produced",
    is_flag=True,
    help="Check files that hold what a producer sends, one partition's `records` of a request each.",
)
@click.option(
    "--clean-shutdown/--unclean-shutdown",
    default=None,
    help="Foretell a start behind that; by default, what .kafka_cleanshutdown says.",
)
@click.option(
    "--index-interval-bytes",
    type=click.IntRange(0),
    default=INDEX_INTERVAL_BYTES,
    show_default=True,
    metavar="BYTES",
    help="The topics' index.interval.bytes, on which hangs what a start makes of some damage.",
)
@click.option(
    "--processes",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many verify, each a partition at a time. What is printed is the same.",
)
@click.option("--compacted", is_flag=True, help="With --produced: to a topic that is compacted.")
@with_options((*topic_options, *limit_options, *store_options))
@click.pass_context
def verify(
    ctx: click.Context,
    *,
    paths: tuple[str, ...],
    quick: bool,
    format_name: str,
    explain: str | None,
    produced: bool,
    clean_shutdown: bool | None,
    index_interval_bytes: int,
    processes: int,
    compacted: bool,
    topic: tuple[str, ...],
    partition: tuple[int, ...],
    max_batch_bytes: int | None,
    max_entry_bytes: int | None,
    storage_option: StorageOptions,
) -> None:
    """Check everything in a log: frames, checksums, records, offsets, transactions, companions.

    All replicas and Kafka's own topics are taken; the replicas of a partition are compared. A line
    per problem, a line per partition that is not sound, and a summary.
    """
    out = sys.stdout.buffer
    if explain is not None:
        out.write(_explained(explain).encode("utf-8"))
        out.flush()
        return
    if not paths:
        raise click.UsageError("Missing argument 'PATH...'.", ctx)
    limits = limits_of(max_batch_bytes, max_entry_bytes)
    if produced:
        if quick or topic or partition:
            raise click.UsageError("--produced goes without --quick, --topic and --partition.", ctx)
        made = check_files(
            paths, compacted=compacted, limits=limits, storage_options=storage_option
        )
        out.writelines(made.objects() if format_name == "ndjson" else made.sentences())
        out.flush()
        ctx.exit(0 if made.is_sound else 1)
    if compacted:
        raise click.UsageError("--compacted goes with --produced.", ctx)
    with Bar() as bar:
        found = mb.verify(
            *paths,
            topics=topic or None,
            partitions=partition or None,
            quick=quick,
            clean_shutdown=clean_shutdown,
            index_interval_bytes=index_interval_bytes,
            processes=processes,
            limits=limits,
            progress=bar.bytes,
            storage_options=storage_option,
        )
    lines = _objects(found) if format_name == "ndjson" else _sentences(found)
    for line in lines:
        out.write(line)
    out.flush()
    is_bad = any(row["verdict"] in BAD_VERDICTS for row in found.partitions)
    ctx.exit(0 if found.is_sound and not is_bad else 1)


def _explained(name: str) -> str:
    """Return what the registry says of the code *name*."""
    if name not in CODES:
        raise InputError(f"no code {name!r}", f"one of {', '.join(CODES)}")
    code = CODES[name]
    return f"{code.name} ({code.severity})\n{code.sentence}\nDecided by: {code.source}\n"


def _objects(found: mb.Verification) -> Iterator[bytes]:
    """Yield what was found as lines of NDJSON."""
    for kind, rows in (
        ("segment", found.segments),
        ("partition", found.partitions),
        ("problem", found.problems),
        ("summary", [found.summary]),
    ):
        for row in rows:
            yield object_line({"kind": kind, **row})


def _sentences(found: mb.Verification) -> Iterator[bytes]:
    """Yield what was found as lines to read."""
    for finding in sorted(found.findings, key=_by_place):
        yield text_line(f"{finding} [{finding.severity}: {finding.code}]")
    names = Counter(_name(row) for row in found.partitions)
    for row in found.partitions:
        # Headers alone tell no verdict, so that it is unknown says nothing about the partition.
        is_told = row["verdict"] != "ok" or row["recovery"]
        if not is_told or (found.quick and row["verdict"] == "unknown"):
            continue
        name = _name(row)
        if names[name] > 1:
            name = f"{row['log_dir']}/{name}"
        yield text_line(f"{name}: a broker's start {_verdict(row)}")
        for sentence in row["recovery"]:
            yield text_line(f"  {sentence}")
    yield text_line(_summary(found))


def _by_place(finding: Finding) -> tuple[str, int, str, int]:
    return (
        finding.topic or "",
        -1 if finding.partition is None else finding.partition,
        finding.file or "",
        -1 if finding.position is None else finding.position,
    )


def _name(row: dict[str, Any]) -> str:
    return "the segments" if row["topic"] is None else f"{row['topic']}-{row['partition']}"


VERDICTS = {
    "ok": "changes no segment",
    "recovers": "recovers it",
    "starts-damaged": "changes nothing, and consumers meet the damage",
    "refuses-to-start": "fails",
    "unknown": "is not foretold",
}


def _verdict(row: dict[str, Any]) -> str:
    """Return what a broker's start would do to the partition of *row*, in words."""
    before, after = row["log_end_offset"], row["log_end_offset_after_recovery"]
    words = VERDICTS[row["verdict"]]
    if after is not None and after != before:
        words += f", log end offset {after}, now {before}"
    return f"{words} [{row['verdict']}]"


def _summary(found: mb.Verification) -> str:
    summary = found.summary
    parts = [
        counted(summary["partitions"], "partition"),
        counted(summary["segments"], "segment"),
        f"{summary['size_bytes']} bytes",
    ]
    if summary["records"] is not None:
        parts.append(counted(summary["records"], "record"))
    if summary["damaged_bytes"]:
        parts.append(f"{summary['damaged_bytes']} bytes damaged")
    words = f"{', '.join(parts)}: {counted_severities(summary)}"
    return words if summary["crc_checked"] else f"{words}; CRC not checked"
