"""`magicbyte compact`: write partitions as a round of Kafka's log cleaner would leave them."""

import os
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from magicbyte.logdir.log_file import PartitionLog
from magicbyte.logdir.metadata_snapshots import METADATA_TOPIC
from magicbyte.reading.dataset import Dataset, planner_of
from magicbyte.reading.entry_runs import PartitionReader
from magicbyte.reading.read_options import ReadOptions
from magicbyte.writing._cleaned_bytes import CleanedBytes
from magicbyte.writing._cleaner_round import (
    CleanedEntries,
    CleanerRound,
    plan_round,
)
from magicbyte.writing._cleaner_rules import Action, StuckError
from magicbyte.writing._cleaner_settings import CleanerSettings
from magicbyte.writing._comparison import LogFacts, check_equal
from magicbyte.writing._output_log_dir import RewriteJob
from magicbyte.writing._output_parts import EntryBytes, NewSegment, OutputPart
from magicbyte.writing._record_digest import RecordDigest
from magicbyte.writing.copies import CopyChange, job_options, run_job, writer_settings
from magicbyte.writing.rewrite import (
    ChangeCounts,
    Progress,
    RefusedError,
    RewriteReport,
    WrittenPartition,
)

COMPARED_COLUMNS = ("offset", "key", "value", "headers")
"""Columns of the last record of each key that the output must have unchanged. Times of v0 messages become -1."""

ACTION_NAMES = {Action.REMOVE: "removed", Action.EMPTY: "emptied", Action.REBUILD: "rebuilt"}


@dataclass(slots=True)
class CompactChange(CopyChange):
    """Removes the records that a round of the log cleaner removes."""

    dataset: Dataset
    settings: CleanerSettings
    rounds: dict[str, CleanerRound] = field(default_factory=dict)
    """Rounds by the name of the partition."""

    @property
    def expected_findings(self) -> Collection[str]:
        """Single messages of v0 and v1 leave gaps when they are removed."""
        return ("offset-gap",)

    def cleaner_offset(self, log: PartitionLog) -> int | None:
        """Return the end of the round, which begins here: its keys are read.

        Raises RefusedError for the log of KRaft.
        """
        if log.topic == METADATA_TOPIC:
            raise RefusedError(
                "the log of KRaft, which has snapshots instead of compaction",
                "a partition of another topic",
            )
        cleaned = plan_round(planner_of(self.dataset), log, self.settings)
        cleaned.build_map()
        self.rounds[log.name] = cleaned
        return cleaned.end_offset

    def parts(
        self, partition_reader: PartitionReader, change_counts: ChangeCounts
    ) -> Iterator[OutputPart]:
        """Yield the segments and entries that the round leaves."""

        def count(cleaned_entries: CleanedEntries) -> None:
            _count(cleaned_entries, change_counts)

        cleaned = self.rounds[partition_reader.log.name]
        try:
            for part in CleanedBytes(cleaned, look=count):
                if part.data:
                    yield EntryBytes(memoryview(part.data))
                else:
                    yield NewSegment(part.base_offset)
                del part  # frees the bytes before more are read
        except StuckError as error:
            raise RefusedError(error.found, error.expected) from error

    def details(self, log: PartitionLog) -> dict[str, Any]:
        """Return the offsets of the round."""
        cleaned = self.rounds.pop(log.name)
        return {
            "first_dirty_offset": cleaned.bounds.first_dirty_offset,
            "end_offset": cleaned.end_offset,
            "key_count": cleaned.num_keys,
            "is_map_full": cleaned.is_map_full,
        }

    def check(self, written: WrittenPartition) -> dict[str, Any]:
        """Compare the last record of each key, which compaction must not change, and the bounds."""
        expected_facts = _latest_facts(written.source_log, written.dataset.options)
        check_equal(
            expected_facts,
            _latest_facts(written.output_log, written.dataset.options),
            written.source_log,
        )
        return {"compared": "last records of keys", **expected_facts.as_row()}


def _count(cleaned_entries: CleanedEntries, change_counts: ChangeCounts) -> None:
    """Add the decisions about some entries to *change_counts*."""
    decisions = cleaned_entries.decisions
    for action, name in ACTION_NAMES.items():
        change_counts.entries[name] += int((decisions.actions == action).sum())
    records = change_counts.records
    records["superseded"] += int(decisions.is_superseded.sum())
    records["without-key"] += int(decisions.is_keyless.sum())
    records["expired-tombstones"] += int(decisions.is_expired.sum())
    by_rule = decisions.is_superseded | decisions.is_keyless | decisions.is_expired
    of_transactions = ~(decisions.is_retained | by_rule)
    entries, decoded = (
        cleaned_entries.segment_entries.entries,
        cleaned_entries.segment_entries.decoded,
    )
    is_control = np.repeat(entries.column("is_control") != 0, decoded.num_rows)
    records["markers"] += int((of_transactions & is_control).sum())
    records["aborted"] += int((of_transactions & ~is_control).sum())


def _latest_facts(log: PartitionLog, options: ReadOptions) -> LogFacts:
    """Return the bounds of *log*, and the digest of the last committed record of each key."""
    options = replace(options, isolation_level="read_committed", threads=1)
    dataset = Dataset([log], options)
    digest = RecordDigest(COMPARED_COLUMNS)
    for rows in dataset.latest(COMPARED_COLUMNS):
        digest.add(rows)
    bounds = dataset.partitions(("log_start_offset", "log_end_offset", "last_stable_offset"))
    (row,) = bounds.to_pylist()
    return LogFacts(num_records=digest.num_records, records_digest=digest.hexdigest(), **row)


def compact(
    dataset: Dataset,
    output: str | os.PathLike[str] | None,
    settings: CleanerSettings,
    *,
    index_interval_bytes: int = 4096,
    progress: Progress | None = None,
) -> RewriteReport:
    """Write partitions as a round of Kafka's log cleaner would leave them, with new companion files.

    Args:
        dataset: The partitions to compact, from `open`. Damage fails its partition.
        output: New folder, which is laid out like a log.dir; None: write nothing, and count.
        settings: Clock and configuration of the round.
        index_interval_bytes: The topic's ``index.interval.bytes``.
        progress: Called after each partition with the bytes that are done, and those in all.
    Returns:
        A report with a row for each partition.
    Raises:
        InputError: *output* is in a log.dir, or holds other files; or the dataset is limited to some offsets.
        ChangedError: A source changed while it was read. Its partition is not in the output.
        OSError: The output cannot be written.
    Example:
        >>> settings = mb.CleanerSettings(now_ms=1_800_000_000_000, includes_active_segment=True)
        >>> report = mb.compact(mb.open("log-0", topics=["fenced"]), None, settings)
        >>> [row["changed_records"] for row in report.partitions]
        [{'aborted': 5}, {'aborted': 3}]
    """
    writer = writer_settings(index_interval_bytes, settings.segment_bytes)
    options = {name: value for name, value in asdict(settings).items() if name != "segment_bytes"}
    job = RewriteJob("compact", job_options(writer, **options))
    change = CompactChange(dataset, settings)
    return run_job(dataset, change, output, job, writer, progress)
