"""`magicbyte verify`: checks logs and predicts what a broker would do with them on startup."""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import click

import magicbyte as mb
from magicbyte import CODES, InputError
from magicbyte.reading.table_rows import finding_order
from magicbyte.verification.startup import INDEX_INTERVAL_BYTES
from magicbyte_cli.display import counted, text_line
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.produced_files import check_files
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.selection import LogSelection, flag_option, format_option, log_selection_options
from magicbyte_cli.stderr_messages import counted_severities, exit_status

BAD_VERDICTS = ("starts-damaged", "refuses-to-start")
"""Verdicts that count as errors."""

PREDICTIONS = {
    "ok": "on startup the broker would leave the segments of this partition unchanged",
    "recovers": "on startup the broker would recover this partition",
    "starts-damaged": "on startup the broker would change nothing; consumers would meet the damage",
    "refuses-to-start": "the broker would fail to start because of this partition",
    "unknown": "what the broker would do on startup cannot be predicted",
}
"""Sentences for the verdicts, after the name of the partition."""


@click.command(
    short_help="Check everything, and predict a broker's startup.",
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
@flag_option("--quick", help="Read only the headers of batches, and check no CRC.")
@format_option(
    "Lines of text, or one JSON object per line, whose `kind` is segment, partition, problem or "
    "summary."
)
@click.option("--explain", metavar="CODE", help="Explain the code of a finding; needs no PATH.")
@flag_option(
    "--produced",
    help="Check files that each hold the `records` field of a produce request for one partition.",
)
@click.option(
    "--clean-shutdown/--unclean-shutdown",
    default=None,
    help="Predict the startup after a clean or an unclean shutdown.  [default: clean if the "
    "log.dir has a file .kafka_cleanshutdown]",
)
@click.option(
    "--index-interval-bytes",
    type=click.IntRange(0),
    default=INDEX_INTERVAL_BYTES,
    metavar="BYTES",
    help="Value of index.interval.bytes for these topics. It affects how a broker would recover "
    "some damage.",
)
@click.option(
    "--processes",
    type=click.IntRange(1),
    default=1,
    metavar="N",
    help="Processes to use; each verifies one partition at a time. The output is the same for any "
    "number.",
)
@flag_option("--compacted", help="With --produced: the batches are sent to a compacted topic.")
@log_selection_options
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
    selection: LogSelection,
) -> None:
    """Check everything in a log, and predict what a broker would do with it on startup.

    Checks the framing of batches, checksums, records, offsets, transactions, indexes, snapshots and
    checkpoint files, in all replicas and internal topics, and compares the replicas of a partition.
    Prints a line per finding, a line per partition that a broker would change or could not serve,
    and a summary. Exit status 1 also means that a broker would fail to start, or serve damage.
    """
    out = sys.stdout.buffer
    if explain is not None:
        out.write(_explanation(explain).encode("utf-8"))
        out.flush()
        return
    if not paths:
        raise click.UsageError("Missing argument 'PATH...'.", ctx)
    if produced:
        if quick or selection.topic or selection.partition:
            raise click.UsageError(
                "--produced cannot be combined with --quick, --topic or --partition.", ctx
            )
        arguments = selection.arguments
        check = check_files(
            paths,
            compacted=compacted,
            limits=arguments["limits"],
            storage_options=selection.storage_option,
        )
        out.writelines(check.ndjson_lines() if format_name == "ndjson" else check.text_lines())
        out.flush()
        ctx.exit(exit_status(check.findings))
    if compacted:
        raise click.UsageError("--compacted needs --produced.", ctx)
    with ProgressBar() as bar:
        verification = mb.verify(
            *paths,
            quick=quick,
            clean_shutdown=clean_shutdown,
            index_interval_bytes=index_interval_bytes,
            processes=processes,
            progress=bar.show,
            **selection.arguments,
        )
    lines = _ndjson_lines if format_name == "ndjson" else _text_lines
    out.writelines(lines(verification))
    out.flush()
    is_bad = any(row["verdict"] in BAD_VERDICTS for row in verification.partitions)
    ctx.exit(exit_status(verification.findings) or int(is_bad))


def _explanation(name: str) -> str:
    """Return the severity, the sentence and the source of the code *name*."""
    if name not in CODES:
        raise InputError(f"no code {name!r}", f"one of {', '.join(CODES)}")
    code = CODES[name]
    return f"{code.name} ({code.severity})\n{code.sentence}\nSource: {code.source}\n"


def _ndjson_lines(verification: mb.Verification) -> Iterator[bytes]:
    for kind, rows in (
        ("segment", verification.segments),
        ("partition", verification.partitions),
        ("problem", verification.problems),
        ("summary", [verification.summary]),
    ):
        for row in rows:
            yield object_line({"kind": kind, **row})


def _text_lines(verification: mb.Verification) -> Iterator[bytes]:
    """Yield a line per finding, the predictions of partitions, and a summary."""
    for finding in sorted(verification.findings, key=finding_order):
        yield text_line(f"{finding} [{finding.severity}: {finding.code}]")
    counts = Counter(_partition_name(row) for row in verification.partitions)
    for row in verification.partitions:
        is_predicted = row["verdict"] != "ok" or row["recovery"]
        # With --quick nothing is predicted, so `unknown` says nothing about the partition.
        if not is_predicted or (verification.quick and row["verdict"] == "unknown"):
            continue
        name = _partition_name(row)
        if counts[name] > 1:
            name = f"{row['log_dir']}/{name}"
        yield text_line(f"{name}: {_prediction(row)} [{row['verdict']}]")
        for sentence in row["recovery"]:
            yield text_line(f"  {sentence}")
    yield text_line(_summary(verification))


def _partition_name(row: dict[str, Any]) -> str:
    return "these segments" if row["topic"] is None else f"{row['topic']}-{row['partition']}"


def _prediction(row: dict[str, Any]) -> str:
    """Return in words what a broker would do on startup with the partition of *row*."""
    before, after = row["log_end_offset"], row["log_end_offset_after_recovery"]
    prediction = PREDICTIONS[row["verdict"]]
    is_recovered = row["verdict"] == "recovers"
    if after is None or (after == before and not is_recovered):
        return prediction
    if after == before:
        # Offsets below the end may still be lost: a segment is truncated, and later ones are kept.
        return f"{prediction}; its log end offset would stay {after}"
    if is_recovered and before is not None and after < before:
        return (
            f"on startup the broker would truncate this partition from offset {before} to {after}: "
            f"{counted(before - after, 'offset')} lost"
        )
    return f"{prediction}, with log end offset {after} instead of {before}"


def _summary(verification: mb.Verification) -> str:
    summary = verification.summary
    parts = [
        counted(summary["partitions"], "partition"),
        counted(summary["segments"], "segment"),
        counted(summary["size_bytes"], "byte"),
    ]
    if summary["records"] is not None:
        parts.append(counted(summary["records"], "record"))
    if summary["damaged_bytes"]:
        parts.append(f"{counted(summary['damaged_bytes'], 'byte')} damaged")
    line = f"{', '.join(parts)}: {counted_severities(summary)}"
    return line if summary["crc_checked"] else f"{line}; CRC not checked"
