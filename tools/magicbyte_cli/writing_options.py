"""Options and reports of the commands that write logs into a new folder."""

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from magicbyte import Dataset
from magicbyte.writing.rewrite import RewriteReport
from magicbyte_cli import parameters
from magicbyte_cli.display import byte_size, counted, text_line
from magicbyte_cli.ndjson import object_line
from magicbyte_cli.progress import ProgressBar
from magicbyte_cli.selection import Decorator, flag_option, format_option, size_option, with_options
from magicbyte_cli.stderr_messages import exit_status, warn, warn_of_findings
from magicbyte_cli.unread_messages import warn_of_unread

MAX_NAMES = 3
"""Files that are named in a line."""

MAX_RANGES = 10
"""Ranges of missing offsets, and of batches out of order, that are printed for a partition; NDJSON has more."""

MAX_FAILURES = 10
"""Partitions that failed and are printed one by one."""

CHANGE_TEXTS = {
    "recompressed": "batches recompressed: {}",
    "encoded": "batches encoded again: {}",
    "emptied": "batches emptied: {}",
    "rebuilt": "batches rebuilt: {}",
    "cut": "batches cut: {}",
    "left-out": "batches left out: {}",
    "removed": "batches removed: {}",
    "messages-removed": "messages removed: {}",
    "empty-batch-added": "empty batches added: {}",
    "leader-epoch-set": "leader epoch set in batches: {}",
    "producer-id-shifted": "producer id shifted in batches: {}",
    "abort-marker-added": "abort markers added: {}",
    "commit-marker-added": "commit markers added: {}",
    "damaged-ranges-left-out": "damaged ranges left out: {}",
    "out-of-order-left-out": "batches out of order left out: {}",
    "transactional-left-out": "batches of transactions emptied: {}",
    "erased": "records erased: {}",
    "superseded": "superseded records removed: {}",
    "without-key": "records without key removed: {}",
    "aborted": "aborted records removed: {}",
    "expired-tombstones": "expired tombstones removed: {}",
    "markers": "transaction markers removed: {}",
    "headers": "records that lose headers: {}",
    "producer-ids": "records that lose their producer id: {}",
    "transactions": "records that leave a transaction: {}",
    "timestamps": "records that lose their timestamp: {}",
    "aborted-left-out": "aborted records left out: {}",
    "offsets-at-log-end": "offsets at the log end that are free again: {}",
}
"""Texts for the changes of a partition, by their names in NDJSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingChoices:
    """Values of the options that all commands have which write logs. The fields are named as the options are."""

    out: Path | None
    dry_run: bool
    index_interval_bytes: int
    segment_bytes: int | None
    format_name: str

    @property
    def target(self) -> Path | None:
        """The folder to write; None for a dry run. Raises UsageError if neither or both are given."""
        if self.dry_run == (self.out is not None):
            raise click.UsageError(
                "--dry-run writes nothing: leave out -o OUT"
                if self.dry_run
                else "name the folder to write: -o OUT; or give --dry-run"
            )
        return self.out

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments for the functions that write logs."""
        return {
            "index_interval_bytes": self.index_interval_bytes,
            "segment_bytes": self.segment_bytes,
        }

    def run(self, dataset: Dataset, job: Callable[..., RewriteReport]) -> tuple[RewriteReport, int]:
        """Return the report of *job*, which is printed, and the exit status.

        *job* gets the dataset, the folder to write, `progress` and the `arguments`.
        """
        with ProgressBar() as bar:
            report = job(dataset, self.target, progress=bar.show, **self.arguments)
        warn_of_findings(dataset.unreadable)
        warn_of_unread(dataset.unread)
        status = print_report(report, self.format_name)
        return report, max(status, exit_status(dataset.unreadable, dataset.unread))


_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "-o",
        "--output",
        "out",
        metavar="OUT",
        type=parameters.OutPath(),
        help="New folder to write, outside of every PATH. It is laid out like a log.dir; each partition appears in it "
        "whole or not at all. If a run did not finish, the same command writes what is missing.",
    ),
    flag_option(
        "--dry-run", help="Write nothing; read everything and print what would be written."
    ),
    click.option(
        "--index-interval-bytes",
        type=click.IntRange(0),
        default=4096,
        metavar="N",
        help="The topic's index.interval.bytes, by which the indexes are built.",
    ),
    size_option(
        "--segment-bytes",
        help="Largest size of a segment; a larger one is divided.  [default: 1GiB]",
    ),
    format_option("Format of the report on stdout."),
)


def writing_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of WritingChoices to *command*, and pass their values on as `writing`."""
    names = tuple(field.name for field in fields(WritingChoices))

    @functools.wraps(command)
    def with_choices(**arguments: Any) -> Any:
        values = {name: arguments.pop(name) for name in names}
        return command(writing=WritingChoices(**values), **arguments)

    return with_options(_OPTIONS)(with_choices)


def print_report(report: RewriteReport, format_name: str) -> int:
    """Print *report*; return the exit status: 1 if a partition failed, 2 if one could not be read."""
    lines = _ndjson_lines(report) if format_name == "ndjson" else _text_lines(report)
    for line in lines:
        sys.stdout.buffer.write(line)
    failures = report.failures
    for row in failures[:MAX_FAILURES]:
        warn(f"{row['topic']}-{row['partition']} was not written: {row['error']}")
    if len(failures) > MAX_FAILURES:
        warn(f"and {len(failures) - MAX_FAILURES:,} more partitions: see --format ndjson")
    errors = {row["error"] for row in failures}
    others = [finding for finding in report.findings if str(finding) not in errors]
    warn_of_findings(others, see="magicbyte verify")
    return exit_status(report.findings) or int(bool(failures))


def _ndjson_lines(report: RewriteReport) -> Iterator[bytes]:
    for row in report.partitions:
        yield object_line({"kind": "partition", **row})
    yield object_line({"kind": "summary", **report.summary})


def _text_lines(report: RewriteReport) -> Iterator[bytes]:
    for row in report.partitions:
        if row["outcome"] != "failed":
            yield text_line(partition_line(row))
        if row.get("missing_ranges"):
            ranges = _ranges_text(row["missing_ranges"], row["missing_range_count"])
            yield text_line(f"  missing offsets: {ranges}")
        if row.get("out_of_order_ranges"):
            ranges = _ranges_text(row["out_of_order_ranges"], row["out_of_order_range_count"])
            yield text_line(
                f"  offsets of the batches out of order: {ranges}; dump prints their records"
            )
    yield text_line(summary_line(report))


def partition_line(row: dict[str, Any]) -> str:
    """Return the line of a partition: bytes before and after, and the changes."""
    name = f"{row['topic']}-{row['partition']}"
    if "files" in row:
        return _companions_line(name, row)
    sizes = f"{byte_size(row['source_bytes'])} -> {byte_size(row['output_bytes'])}"
    parts = [f"{name}: {sizes} in {counted(row['segments'], 'segment')}"]
    for name, count in {**row["changed_entries"], **row["changed_records"]}.items():
        text = CHANGE_TEXTS.get(name, f"{name.replace('-', ' ')}: {{}}")
        parts.append(text.format(f"{count:,}"))
    if len(parts) == 1:
        parts.append("every batch is copied")
    if row["outcome"] == "written by an earlier run":
        parts.append("written by an earlier run")
    return "; ".join(parts)


def _ranges_text(ranges: Sequence[tuple[int, int | None]], num_ranges: int) -> str:
    """Return the first of *num_ranges* ranges of offsets, each with its last one, and how many more there are."""
    texts = []
    for first, last in ranges[:MAX_RANGES]:
        end = " on" if last is None else f" to {last}"
        texts.append(str(first) if first == last else f"{first}{end}")
    num_more = num_ranges - len(texts)
    more = f" and {num_more:,} more ranges" if num_more else ""
    return f"{', '.join(texts)}{more}"


def _companions_line(name: str, row: dict[str, Any]) -> str:
    """Return the line of a partition whose companion files were written alone."""
    files = counted(row["files"], "companion file")
    line = f"{name}: {files}, {byte_size(row['output_bytes'])}, for {counted(row['segments'], 'segment')}"
    obsolete = row["obsolete_files"]
    if obsolete:
        more = f" and {len(obsolete) - MAX_NAMES:,} more" if len(obsolete) > MAX_NAMES else ""
        line += f"; delete from a copy: {', '.join(obsolete[:MAX_NAMES])}{more}"
    return line


def summary_line(report: RewriteReport) -> str:
    """Return the line about all partitions."""
    summary = report.summary
    count = counted(summary["partitions"] - summary["failed"], "partition")
    sizes = f"{byte_size(summary['source_bytes'])} -> {byte_size(summary['output_bytes'])}"
    target = "nothing was written" if report.output_path is None else f"in {report.output_path}"
    failed = f"; {summary['failed']:,} failed" if summary["failed"] else ""
    return f"{count}, {sizes}, {target}{failed}"
