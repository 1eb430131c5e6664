"""The engine of all commands that write logs: partitions in, rewritten partitions out, in a new folder.

A command is a `Change`: it says which log entries the output has. The engine reads, writes, builds the companion
files, verifies the output, compares it with its source, and publishes each partition as a whole.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from magicbyte.errors import (
    ChangedError,
    FormatError,
    InputError,
    LimitError,
    UnreadableError,
    error_of,
)
from magicbyte.findings import Finding
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.entry_runs import PartitionReader
from magicbyte.reading.opening import open as open_logs
from magicbyte.storage.output_folder import LocalFolder
from magicbyte.verification.verify import verify
from magicbyte.writing._counting_folder import CountingFolder
from magicbyte.writing._output_log_dir import CheckpointOffsets, OutputLogDir
from magicbyte.writing._output_parts import OutputPart
from magicbyte.writing._partition_writer import DEFAULT_SEGMENT_BYTES, FileSink, PartitionWriter

Progress = Callable[[int, int], None]
"""Called with the bytes that are done, and those in all."""


class RefusedError(InputError):
    """A partition cannot be changed as asked, or only with a loss that was not allowed; others can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterSettings:
    """Settings of the topic that the output is for."""

    index_interval_bytes: int = 4096
    segment_bytes: int = DEFAULT_SEGMENT_BYTES


@dataclass(slots=True)
class ChangeCounts:
    """Numbers about the changes of a partition."""

    entries: Counter[str] = field(default_factory=Counter)
    """Log entries by their change; others were copied byte for byte."""
    records: Counter[str] = field(default_factory=Counter)
    """Records that the output lacks or has changed, by the change."""
    findings: list[Finding] = field(default_factory=list)
    """Findings about the source that the command has dealt with."""
    details: dict[str, Any] = field(default_factory=dict)
    """More columns of the partition's row in the report."""


@dataclass(frozen=True, slots=True)
class WrittenPartition:
    """A partition that was written and verified, and its source."""

    dataset: Dataset
    """The dataset of the source."""
    source_log: PartitionLog
    output_log: PartitionLog
    change_counts: ChangeCounts


class Change(Protocol):
    """The change that a command makes to a partition."""

    @property
    def expected_findings(self) -> Collection[str]:
        """Codes of errors that `verify` may find in the output."""

    def parts(
        self, partition_reader: PartitionReader, change_counts: ChangeCounts
    ) -> Iterator[OutputPart]:
        """Yield the segments and log entries of the output for the partition of *partition_reader*."""

    def append_at_end(self, writer: PartitionWriter, change_counts: ChangeCounts) -> None:
        """Write entries that follow all others."""

    def log_start_offset(self, log_start_offset: int | None) -> int | None:
        """Return the log start offset of the output, where its source has *log_start_offset*."""

    def cleaner_offset(self, log: PartitionLog) -> int | None:
        """Return the offset up to which the output of *log* is compacted; None if that is not known."""

    def details(self, log: PartitionLog) -> dict[str, Any]:
        """Return further fields of the row of *log* in the report."""

    def check(self, written: WrittenPartition) -> dict[str, Any]:
        """Compare a partition with its source, and return figures for the report. Raise FormatError for a difference."""


@dataclass(slots=True)
class RewriteReport:
    """Result of a command that writes logs.

    Attributes:
        command: The command and its options.
        output_path: The folder that was written; None for a dry run.
        partitions: A dict for each partition: `topic`, `partition`, `outcome` (`written`, `unchanged since an
            earlier run`, `failed`), bytes and entries before and after, and the changes.
        findings: Findings about the sources.
    Example:
        >>> report = mb.rewrite(mb.open("log-0", topics=["fenced"]), None)
        >>> [row["outcome"] for row in report.partitions]
        ['counted', 'counted']
    """

    command: str
    output_path: str | None
    partitions: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def failures(self) -> list[dict[str, Any]]:
        """The rows of partitions that could not be written."""
        return [row for row in self.partitions if row["outcome"] == "failed"]

    @property
    def summary(self) -> dict[str, Any]:
        """Totals over all partitions."""
        entries: Counter[str] = Counter()
        records: Counter[str] = Counter()
        for row in self.partitions:
            entries.update(row.get("changed_entries", {}))
            records.update(row.get("changed_records", {}))
        return {
            "command": self.command,
            "output": self.output_path,
            "partitions": len(self.partitions),
            "failed": len(self.failures),
            "source_bytes": sum(row.get("source_bytes", 0) for row in self.partitions),
            "output_bytes": sum(row.get("output_bytes", 0) for row in self.partitions),
            "changed_entries": nonzero(entries),
            "changed_records": nonzero(records),
        }


def rewrite_partitions(
    dataset: Dataset,
    change: Change,
    output_dir: OutputLogDir | None,
    settings: WriterSettings,
    *,
    command: str,
    progress: Progress | None = None,
) -> RewriteReport:
    """Write each partition of *dataset*, changed by *change*, into *output_dir*; None: only count what would be written.

    A partition whose source is damaged, or cannot be read, fails, and the others are written. Raises OSError where the output cannot
    be written, and ChangedError where a source changes while it is read.
    """
    report = RewriteReport(command, None if output_dir is None else output_dir.given_path)
    if output_dir is None:
        _rewrite_all(dataset, change, None, settings, report, progress)
        return report
    output_dir.open()
    try:
        _rewrite_all(dataset, change, output_dir, settings, report, progress)
    except BaseException:
        with suppress(OSError):  # the first error is the one to report
            output_dir.save()
        raise
    output_dir.save()
    return report


def _rewrite_all(
    dataset: Dataset,
    change: Change,
    output_dir: OutputLogDir | None,
    settings: WriterSettings,
    report: RewriteReport,
    progress: Progress | None,
) -> None:
    """Write each partition that an earlier run has not finished, and add its row to *report*."""
    num_bytes, done = sum(log.log_bytes for log in dataset.logs), 0
    for log in dataset.logs:
        row = None if output_dir is None else output_dir.finished(log)
        if row is not None:
            row = {**row, "outcome": "written by an earlier run"}
        else:
            try:
                row = _rewrite_partition(dataset, log, change, output_dir, settings, report)
            except (FormatError, LimitError, UnreadableError) as error:
                report.findings.append(error.finding)
                row = partition_row_of(log, "failed", error=str(error))
            except RefusedError as error:
                row = partition_row_of(log, "failed", error=str(error))
        report.partitions.append(row)
        done += log.log_bytes
        if progress is not None:
            progress(done, num_bytes)


def nonzero(change_counts: Counter[str]) -> dict[str, int]:
    """Return the numbers of changes that are not 0, by name in order."""
    return {name: count for name, count in sorted(change_counts.items()) if count}


def partition_row_of(log: PartitionLog, outcome: str, **fields: Any) -> dict[str, Any]:
    """Return the row of *log* in a report, with further *fields*."""
    return {
        "topic": log.topic,
        "partition": log.partition,
        "source": log.folder,
        "outcome": outcome,
        "source_bytes": log.log_bytes,
        **fields,
    }


def _rewrite_partition(
    dataset: Dataset,
    log: PartitionLog,
    change: Change,
    output_dir: OutputLogDir | None,
    settings: WriterSettings,
    report: RewriteReport,
) -> dict[str, Any]:
    """Write *log* and return its row. Nothing of it is left in *output_dir* if that fails."""
    versions = file_versions(log)
    change_counts = ChangeCounts()
    partition_reader = PartitionReader(dataset, log)
    start = change.log_start_offset(partition_reader.survey().log_start_offset)
    offsets = CheckpointOffsets(
        log_start=_start_inside(start, log), cleaner=change.cleaner_offset(log)
    )
    sink: FileSink = CountingFolder() if output_dir is None else output_dir.draft(log, offsets)
    try:
        writer = PartitionWriter(
            sink,
            limits=dataset.options.limits,
            index_interval_bytes=settings.index_interval_bytes,
            segment_bytes=settings.segment_bytes,
        )
        try:
            writer.write_parts(change.parts(partition_reader, change_counts))
            change.append_at_end(writer, change_counts)
            if not writer.num_segments:
                raise RefusedError(
                    "no segment",
                    "a segment that a broker would load; `magicbyte verify` lists the files",
                )
            writer.finish()
        finally:
            writer.close()
        check_unchanged(log, versions)
        row = partition_row_of(
            log,
            "counted" if output_dir is None else "written",
            output_bytes=writer.num_bytes,
            segments=writer.num_segments,
            output_entries=writer.num_entries,
            changed_entries=nonzero(change_counts.entries),
            changed_records=nonzero(change_counts.records),
            **change_counts.details,
            **change.details(log),
        )
        report.findings.extend(change_counts.findings)
        if isinstance(sink, LocalFolder):
            assert output_dir is not None
            copy = verified_log(
                sink.path, {*change.expected_findings, *_gap_codes(partition_reader)}
            )
            row["comparison"] = change.check(WrittenPartition(dataset, log, copy, change_counts))
            output_dir.publish(log, row, offsets)
        return row
    except BaseException:
        if output_dir is not None:
            output_dir.drop_draft()
        raise


def _gap_codes(partition_reader: PartitionReader) -> set[str]:
    """Return the code of offsets that the source lacks, if it does: a log without erased messages has such gaps."""
    findings = partition_reader.survey().findings
    return {finding.code for finding in findings if finding.code == "offset-gap"}


def _start_inside(log_start: int | None, log: PartitionLog) -> int | None:
    """Return the log start offset for the checkpoint; None where the first segment says it already."""
    first = log.logs[0].base_offset if log.logs else None
    is_inside = log_start is not None and first is not None and log_start > first
    return log_start if is_inside else None


def verified_log(path: str, expected_codes: Collection[str]) -> PartitionLog:
    """Return the log in the folder *path*. Raises FormatError if `verify` finds an error that is not one of *expected_codes*."""
    for finding in verify(path).findings:
        if finding.severity == "error" and finding.code not in expected_codes:
            raise error_of(finding)
    (log,) = open_logs(path, include_internal=True, on_damage="skip").logs
    return log


Versions = Mapping[str, tuple[int, int]]
"""Size and modification time, in nanoseconds, of local segments, by path."""


def file_versions(log: PartitionLog) -> Versions:
    """Return the versions of the closed segments of *log* on this machine."""
    versions = {}
    for file in log.logs[:-1]:
        if file.store is None and file.embedded is None:
            status = os.stat(file.path)
            versions[file.path] = status.st_size, status.st_mtime_ns
    return versions


def check_unchanged(log: PartitionLog, versions: Versions) -> None:
    """Raise ChangedError if a closed segment of *log* was replaced while it was read, as the log cleaner does."""
    try:
        after = file_versions(log)
    except FileNotFoundError as error:
        raise ChangedError("gone", "the file that was read", path=str(error.filename)) from None
    for path, version in versions.items():
        if after[path] != version:
            raise ChangedError("replaced or changed", "the file that was read", path=path)
