"""`magicbyte.rewrite`: copy partitions unchanged, with new companion files."""

import os
from collections.abc import Collection, Iterator
from typing import Any

from magicbyte.errors import InputError
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.output_guard import check_outside
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.entry_runs import PartitionReader
from magicbyte.storage import is_url
from magicbyte.writing._comparison import check_equal, facts_of
from magicbyte.writing._entry_stages import copied_parts
from magicbyte.writing._output_log_dir import OutputLogDir, RewriteJob
from magicbyte.writing._output_parts import OutputPart
from magicbyte.writing._partition_writer import PartitionWriter
from magicbyte.writing.rewrite import (
    ChangeCounts,
    Progress,
    RewriteReport,
    WriterSettings,
    WrittenPartition,
    rewrite_partitions,
)


class CopyChange:
    """Copies all entries byte for byte. Changes that alter some of them are derived from it."""

    @property
    def expected_findings(self) -> Collection[str]:
        """Codes of errors that `verify` may find in the output: none."""
        return ()

    def parts(
        self, partition_reader: PartitionReader, change_counts: ChangeCounts
    ) -> Iterator[OutputPart]:
        """Yield the segments and entries of the source."""
        return copied_parts(partition_reader.parts())

    def append_at_end(self, writer: PartitionWriter, change_counts: ChangeCounts) -> None:
        """Append nothing."""

    def log_start_offset(self, log_start_offset: int | None) -> int | None:
        """Return the log start offset of the source."""
        return log_start_offset

    def cleaner_offset(self, log: PartitionLog) -> int | None:
        """Return the offset up to which the source is compacted."""
        return log.cleaner_offset

    def details(self, log: PartitionLog) -> dict[str, Any]:
        """Return no further fields of the report."""
        return {}

    def check(self, written: WrittenPartition) -> dict[str, Any]:
        """Compare all records, unless all bytes were copied: their checksums were verified at both ends."""
        if not written.change_counts.entries:
            return {"compared": "bytes"}
        expected_facts = facts_of(written.source_log, written.dataset.options)
        check_equal(
            expected_facts,
            facts_of(written.output_log, written.dataset.options),
            written.source_log,
        )
        return {"compared": "records", **expected_facts.as_row()}


def rewrite(
    dataset: Dataset,
    output: str | os.PathLike[str] | None,
    *,
    index_interval_bytes: int = 4096,
    segment_bytes: int | None = None,
    progress: Progress | None = None,
) -> RewriteReport:
    """Copy partitions into a new folder, and build their companion files as Kafka's recovery would.

    Args:
        dataset: The partitions to copy, from `open`. Damage raises, or fails its partition; see `salvage`.
        output: New folder, which is laid out like a log.dir. If an earlier call did not finish, the same call
            goes on with the partitions that are missing. None: write nothing, and count the bytes that would be written.
        index_interval_bytes: The topic's ``index.interval.bytes``.
        segment_bytes: Largest size of a segment. Default: 1 GiB; segments of the source are never joined.
        progress: Called after each partition with the bytes that are done, and those in all.
    Returns:
        A report with a row for each partition.
    Raises:
        InputError: *output* is in a log.dir, or holds other files; or the dataset is limited to some offsets.
        ChangedError: A source changed while it was read. Its partition is not in the output.
        OSError: The output cannot be written.
    Example:
        >>> report = mb.rewrite(mb.open("log-0", topics=["fenced"]), None)
        >>> report.summary["output_bytes"] == report.summary["source_bytes"]
        True
    """
    settings = writer_settings(index_interval_bytes, segment_bytes)
    job = RewriteJob("rewrite", job_options(settings))
    return run_job(dataset, CopyChange(), output, job, settings, progress)


def writer_settings(index_interval_bytes: int, segment_bytes: int | None) -> WriterSettings:
    """Return the settings of a topic. Raises InputError for a value that Kafka does not allow."""
    if index_interval_bytes < 0:
        raise InputError(f"index_interval_bytes {index_interval_bytes}", "at least 0")
    if segment_bytes is None:
        return WriterSettings(index_interval_bytes=index_interval_bytes)
    if not 14 <= segment_bytes < 1 << 31:
        raise InputError(f"segment_bytes {segment_bytes}", f"14 to {(1 << 31) - 1}")
    return WriterSettings(index_interval_bytes=index_interval_bytes, segment_bytes=segment_bytes)


def job_options(settings: WriterSettings, **options: Any) -> dict[str, Any]:
    """Return the options that decide the contents of an output, for its manifest."""
    return {
        **{name: value for name, value in options.items() if value is not None},
        "index_interval_bytes": settings.index_interval_bytes,
        "segment_bytes": settings.segment_bytes,
    }


def run_job(
    dataset: Dataset,
    change: CopyChange,
    output: str | os.PathLike[str] | None,
    job: RewriteJob,
    settings: WriterSettings,
    progress: Progress | None = None,
    *,
    may_end_early: bool = False,
) -> RewriteReport:
    """Write the partitions of *dataset*, changed by *change*. Raises InputError if *output* cannot be used.

    *may_end_early*: the dataset may be limited to the offsets or times before some end.
    """
    check_whole(dataset, may_end_early=may_end_early)
    output_dir = None
    if output is not None:
        check_local(output)
        output_dir = OutputLogDir(output, job)
        check_outside(output_dir.path, dataset.all_logs, ())
    return rewrite_partitions(
        dataset, change, output_dir, settings, command=str(job), progress=progress
    )


def check_whole(dataset: Dataset, *, may_end_early: bool = False) -> None:
    """Raise InputError unless *dataset* has whole partitions of known names, or their beginning if that is allowed."""
    bounds = [*dataset.options.offsets, *dataset.options.times]
    limits = bounds[::2] if may_end_early else bounds
    if any(limit is not None for limit in limits):
        raise InputError(
            "a dataset that is limited to some offsets or times", "all offsets of its partitions"
        )
    if dataset.options.transactions == "index":
        raise InputError("a dataset with transactions 'index'", "transactions 'auto' or 'markers'")
    for log in dataset.logs:
        if log.topic is None:
            raise InputError(
                "a log of unknown topic and partition",
                "a folder named <topic>-<number>, after which the output is named",
                path=log.folder,
            )


def check_local(path: str | os.PathLike[str]) -> None:
    """Raise InputError if *path* is a URL."""
    if is_url(os.fspath(path)):
        raise InputError("a URL", "a local folder to write into", path=os.fspath(path))
