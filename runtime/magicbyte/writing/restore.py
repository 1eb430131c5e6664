"""`magicbyte.restore`: prepare partitions for a running cluster, which takes them when their topic is created.

Properties of a copied folder break a restore; brokers 2.8, 3.9 and 4.3 show each of them. Leader epochs above the epoch of
the new topic stop the followers for ever. Producer ids that the cluster gives out again lead to writes that are
refused, or dropped as duplicates. Transactions that no coordinator knows hold back consumers for ever. See
docs/writing.md.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from magicbyte.errors import InputError
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.entry_runs import PartitionReader
from magicbyte.reading.read_options import NO_RANGE
from magicbyte.writing._batches_without_data import transaction_marker
from magicbyte.writing._comparison import (
    RECORD_COLUMNS,
    ComparedRecords,
    LogFacts,
    check_equal,
    facts_of,
)
from magicbyte.writing._entry_stages import (
    copied_parts,
    cut_after,
    cut_before,
    with_leader_epoch,
    with_producer_ids_above,
)
from magicbyte.writing._output_log_dir import RewriteJob
from magicbyte.writing._output_parts import EntryBytes, OutputPart
from magicbyte.writing._partition_writer import PartitionWriter
from magicbyte.writing.copies import CopyChange, job_options, run_job, writer_settings
from magicbyte.writing.rewrite import ChangeCounts, Progress, RewriteReport, WrittenPartition

PRODUCER_ID_SHIFT = 1 << 62
"""Added to producer ids: a cluster gives out ids from 0 on, and does not get here."""

NEW_TOPIC_EPOCH = 0
"""Leader epoch of a topic that was just created."""

PRODUCER_ID_POLICIES = ("shift", "keep")
OPEN_TRANSACTION_POLICIES = ("abort", "keep")


@dataclass(frozen=True, slots=True)
class RestoreChange(CopyChange):
    """Cuts a partition at its log start, and changes what a new cluster would not take."""

    leader_epoch: int | None
    shifts_producer_ids: bool
    aborts_open_transactions: bool

    def parts(
        self, partition_reader: PartitionReader, change_counts: ChangeCounts
    ) -> Iterator[OutputPart]:
        """Yield the entries from the log start on."""
        changes = change_counts.entries
        parts = copied_parts(partition_reader.parts())
        start = partition_reader.survey().log_start_offset
        if start is not None:
            parts = cut_before(parts, start, changes)
        end = partition_reader.end_offset()
        if end is not None:
            parts = cut_after(parts, max(end, start or 0), changes)
        if self.leader_epoch is not None:
            parts = with_leader_epoch(parts, self.leader_epoch, changes)
        if self.shifts_producer_ids:
            parts = with_producer_ids_above(parts, PRODUCER_ID_SHIFT, changes)
        return parts

    def append_at_end(self, writer: PartitionWriter, change_counts: ChangeCounts) -> None:
        """End the open transactions by abort markers, in the order in which they began."""
        if not self.aborts_open_transactions:
            return
        for transaction in writer.companions.open_transactions:
            marker = transaction_marker(
                offset=writer.companions.log_end_offset,
                is_commit=False,
                producer_id=transaction.producer_id,
                producer_epoch=transaction.producer_epoch,
                coordinator_epoch=max(transaction.coordinator_epoch, 0),
                timestamp=transaction.last_timestamp,
                leader_epoch=self.leader_epoch or 0,
            )
            writer.write(EntryBytes(memoryview(marker)))
            change_counts.entries["abort-marker-added"] += 1

    def log_start_offset(self, log_start_offset: int | None) -> int | None:
        """Return None: the first segment is named after the log start offset."""
        return None

    def check(self, written: WrittenPartition) -> dict[str, Any]:
        """Compare the delivered records and the bounds. Open transactions of the source are aborted in the output."""
        is_cut = has_end(written.dataset)
        # A transaction that ends after the cut is aborted, even if it was committed there.
        changed = {"producer_id"} if self.shifts_producer_ids else set()
        changed |= {"outcome"} if is_cut else set()
        columns = tuple(name for name in RECORD_COLUMNS if name not in changed)
        compared = ComparedRecords(
            columns=columns,
            dispositions=("delivered",),
            ends_open_transactions=self.aborts_open_transactions and not is_cut,
        )
        expected_facts = facts_of(written.source_log, written.dataset.options, compared)
        options = replace(written.dataset.options, offsets=NO_RANGE, times=NO_RANGE)
        found_facts = facts_of(written.output_log, options, compared)
        if is_cut:
            names = ("num_records", "records_digest", "log_start_offset")
            check_equal(expected_facts, found_facts, written.source_log, names)
            return {"compared": "records", **found_facts.as_row()}
        check_equal(
            _with_markers(expected_facts, written.change_counts.entries["abort-marker-added"]),
            found_facts,
            written.source_log,
        )
        return {"compared": "records", **found_facts.as_row()}


def has_end(dataset: Dataset) -> bool:
    """Return whether *dataset* ends before the log end, by offsets or times."""
    return dataset.options.offsets[1] is not None or dataset.options.times[1] is not None


def _with_markers(facts: LogFacts, num_markers: int) -> LogFacts:
    """Return the facts about a log after *num_markers* markers have ended its open transactions."""
    if not num_markers:
        return facts
    end = (facts.log_end_offset or 0) + num_markers
    return replace(facts, log_end_offset=end, last_stable_offset=end)


def restore(
    dataset: Dataset,
    output: str | os.PathLike[str] | None,
    *,
    leader_epoch: int | None = NEW_TOPIC_EPOCH,
    producer_ids: str = "shift",
    open_transaction_policy: str = "abort",
    index_interval_bytes: int = 4096,
    segment_bytes: int | None = None,
    progress: Progress | None = None,
) -> RewriteReport:
    """Write partitions so that a running cluster takes them: placed in a log.dir, before their topic is created.

    The records keep their offsets, timestamps, headers and transactions. Each partition is cut at its log start
    offset, which no file of its folder states.

    Args:
        dataset: The partitions to restore, from `open`. If its *offsets* or *times* have an end, each partition is
            restored as it was there: transactions that had not ended are aborted.
        output: New folder; see `rewrite`. None: write nothing, and count the bytes that would be written.
        leader_epoch: Leader epoch of all batches. None: unchanged. Default: 0, the epoch of a new topic; followers
            refuse batches of a higher one.
        producer_ids: ``"shift"`` adds 2^62 to them, which no cluster gives out. ``"keep"`` is for the cluster that
            gave them out.
        open_transaction_policy: ``"abort"`` appends a marker for each; ``"keep"`` leaves them to
            ``kafka-transactions abort``: consumers with ``read_committed`` wait for it.
        index_interval_bytes: As for `rewrite`.
        segment_bytes: As for `rewrite`.
        progress: As for `rewrite`.
    Returns:
        A report with a row for each partition.
    Raises:
        InputError: As for `rewrite`.
        ChangedError: A source changed while it was read.
        OSError: The output cannot be written.
    Example:
        >>> report = mb.restore(mb.open("log-0", topics=["fenced"]), None)
        >>> report.summary["changed_entries"]["producer-id-shifted"]
        6
    """
    for name, value, allowed in (
        ("producer_ids", producer_ids, PRODUCER_ID_POLICIES),
        ("open_transaction_policy", open_transaction_policy, OPEN_TRANSACTION_POLICIES),
    ):
        if value not in allowed:
            raise InputError(f"{name} {value!r}", " or ".join(allowed))
    if leader_epoch is not None and not 0 <= leader_epoch < 1 << 31:
        # Followers fail for good at an epoch of -1, brokers 3.9.2 and 4.3.1.
        raise InputError(f"leader_epoch {leader_epoch}", "0 or above, or None")
    settings = writer_settings(index_interval_bytes, segment_bytes)
    options = job_options(
        settings,
        leader_epoch=leader_epoch,
        producer_ids=producer_ids,
        open_transaction_policy=open_transaction_policy,
        to_offset=dataset.options.offsets[1],
        to_time=dataset.options.times[1],
    )
    change = RestoreChange(
        leader_epoch, producer_ids == "shift", open_transaction_policy == "abort"
    )
    job = RewriteJob("restore", options)
    return run_job(dataset, change, output, job, settings, progress, may_end_early=True)
