"""`magicbyte.salvage`: write the sound part of damaged partitions as logs that a broker takes without recovering them."""

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from magicbyte.errors import InputError
from magicbyte.logdir.file_names import MAX_OFFSET
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.entry_runs import LostBytes, PartitionReader, SegmentStart, SourceRun
from magicbyte.reading.read_options import ISOLATION_LEVELS
from magicbyte.writing._batches_without_data import empty_batch, transaction_marker
from magicbyte.writing._comparison import RECORD_COLUMNS, ComparedRecords, check_equal, facts_of
from magicbyte.writing._entry_stages import base_offset_of
from magicbyte.writing._lost_markers import LostMarker, MarkerPlan
from magicbyte.writing._ordered_entries import DisorderedEntries, OrderedPart, ordered_parts
from magicbyte.writing._output_log_dir import RewriteJob
from magicbyte.writing._output_parts import EntryBytes, NewSegment, OutputPart
from magicbyte.writing.copies import CopyChange, job_options, run_job, writer_settings
from magicbyte.writing.rewrite import (
    ChangeCounts,
    Progress,
    RefusedError,
    RewriteReport,
    WrittenPartition,
)

DECODED = ("offset",)
"""Columns that are decoded to find payloads that are damaged although their checksum is right."""


SOUND_LEFT_OUT = ("out-of-order-left-out", "transactional-left-out")
"""Changes that leave out records which a read delivers: a broker would refuse the log with them."""

DELIVERED_COLUMNS = tuple(name for name in RECORD_COLUMNS if name != "outcome")
"""Columns that are compared. An undecided transaction is aborted in the output."""


MAX_EMPTY_OFFSETS = (1 << 31) - 1
"""Most offsets of a batch. A checkpoint that states a log end even farther away is garbage."""


MAX_MISSING_RANGES = 1_000
"""Most ranges of missing offsets, and of batches out of order, in the row of a partition."""


class SalvageChange(CopyChange):
    """Leaves out damage, and ends transactions as their outcomes say where markers are lost."""

    @property
    def expected_findings(self) -> Collection[str]:
        """The offsets of damaged ranges are missing."""
        return ("offset-gap",)

    def parts(
        self, partition_reader: PartitionReader, change_counts: ChangeCounts
    ) -> Iterator[OutputPart]:
        """Yield the sound entries in the order of their offsets, and the markers that were lost."""
        marker_plan = MarkerPlan()
        for part in self._source(partition_reader):
            if isinstance(part, SourceRun):
                marker_plan.add(part)
            elif not isinstance(part, SegmentStart):
                marker_plan.add_lost_bytes()
        marker_plan.finish()
        change_counts.findings += partition_reader.survey().findings
        salvaged_parts = _SalvagedParts(marker_plan, change_counts, partition_reader)
        yield from salvaged_parts.parts(self._source(partition_reader))
        # The survey and the lost bytes may have the same finding.
        change_counts.findings = list(dict.fromkeys(change_counts.findings))
        ranges = salvaged_parts.missing_ranges
        change_counts.details["missing_ranges"] = ranges[:MAX_MISSING_RANGES]
        change_counts.details["missing_range_count"] = len(ranges)
        ranges_left_out = salvaged_parts.ranges_left_out
        change_counts.details["out_of_order_ranges"] = ranges_left_out[:MAX_MISSING_RANGES]
        change_counts.details["out_of_order_range_count"] = len(ranges_left_out)

    def _source(self, partition_reader: PartitionReader) -> Iterator[OrderedPart]:
        return ordered_parts(partition_reader.parts(DECODED, with_outcomes=True))

    def check(self, written: WrittenPartition) -> dict[str, Any]:
        """Compare the records that consumers of both isolation levels get with the records of a read of the source."""
        if any(written.change_counts.entries[name] for name in SOUND_LEFT_OUT):
            return {"compared": "no records: sound batches had to be left out"}
        row: dict[str, Any] = {"compared": "records"}
        for level in ISOLATION_LEVELS:
            compared = ComparedRecords(
                columns=DELIVERED_COLUMNS, dispositions=("delivered",), isolation_level=level
            )
            expected_facts = facts_of(written.source_log, written.dataset.options, compared)
            found_facts = facts_of(written.output_log, written.dataset.options, compared)
            check_equal(
                expected_facts, found_facts, written.source_log, ("num_records", "records_digest")
            )
            row[level] = found_facts.as_row()
        return row


@dataclass(slots=True)
class _SalvagedParts:
    """Makes the parts of the output of one partition."""

    marker_plan: MarkerPlan
    change_counts: ChangeCounts
    partition_reader: PartitionReader
    next_offset: int = 0
    leader_epoch: int = 0
    timestamp: int = -1
    gap_start: int = 0
    """Offset after the last entry of the source."""
    base_offset: int | None = None
    """Base offset of the next segment, which has not begun yet."""
    is_open: bool = False
    """True if a segment has begun."""
    lost_from: int | None = None
    """First offset that the bytes lost since the last entry may have had; None where none are lost."""
    missing_ranges: list[tuple[int, int | None]] = field(default_factory=list)
    """First and last offset of each range that damage has taken; the last is None if nothing states it."""
    ranges_left_out: list[tuple[int, int]] = field(default_factory=list)
    """First and last offset of neighbouring sound entries that are left out because they are out of order."""

    def parts(self, ordered: Iterable[OrderedPart]) -> Iterator[OutputPart]:
        """Yield the parts for the entries of *ordered*, and what follows them."""
        for part in ordered:
            match part:
                case SegmentStart():
                    yield from self._start_segment(part)
                case LostBytes():
                    self.change_counts.entries["damaged-ranges-left-out"] += 1
                    self.change_counts.findings += part.findings
                    if self.lost_from is None:
                        self.lost_from = max(self.gap_start, self.base_offset or 0)
                case DisorderedEntries():
                    self._leave_out(part.source_run)
                case SourceRun():
                    yield from self._run(part)
        yield from self._end()

    def _leave_out(self, source_run: SourceRun) -> None:
        """Count the entries of *source_run*, which are out of order, and note which offsets their headers have."""
        self.change_counts.entries["out-of-order-left-out"] += len(source_run.entries)
        column = source_run.entries.column
        ranges = self.ranges_left_out
        offsets = (column("first_offset").tolist(), column("last_offset").tolist())
        for first, last in zip(*offsets, strict=True):
            if ranges and ranges[-1][1] + 1 == first <= last:
                ranges[-1] = ranges[-1][0], last
            else:
                ranges.append((first, last))

    def _start_segment(self, segment_start: SegmentStart) -> Iterator[OutputPart]:
        base_offset = base_offset_of(segment_start.file)
        if base_offset is None or base_offset < self.next_offset:
            return  # its offsets are repeated
        if segment_start.file.start and (self.is_open or self.base_offset is not None):
            return  # the rest of a segment, after a part from another replica
        if self.base_offset is not None:
            yield NewSegment(self.base_offset)  # it has no entries
            self.is_open = True
        self.base_offset = base_offset

    def _run(self, source_run: SourceRun) -> Iterator[OutputPart]:
        self._end_missing_range(int(source_run.entries.column("first_offset")[0]))
        left_out = self.marker_plan.left_out(source_run)
        if not left_out.any():
            yield from self._with_markers(source_run)
            return
        for number in range(len(left_out)):
            if not left_out[number]:
                yield from self._with_markers(source_run.part(number, number + 1))
                continue
            # An empty batch takes its offsets, so that no reader expects a marker there.
            entry = source_run.entries[number]
            self.change_counts.entries["transactional-left-out"] += 1
            self.next_offset = entry.first_offset
            yield from self._empty_batch(entry.last_offset + 1)
            self.gap_start = self.next_offset

    def _end_missing_range(self, end_offset: int, *, is_end: bool = False) -> None:
        """End the range of missing offsets before *end_offset*; *is_end*: the log has no entry there."""
        first, self.lost_from = self.lost_from, None
        if first is not None and first < end_offset:
            self.missing_ranges.append((first, end_offset - 1))
        elif first is not None and is_end:
            self.missing_ranges.append((first, None))

    def _with_markers(self, source_run: SourceRun) -> Iterator[OutputPart]:
        """Yield the entries of *source_run*, and before each the markers whose offsets are below it."""
        firsts = source_run.entries.column("first_offset")
        while self.marker_plan.placed and self.marker_plan.placed[0][0] < int(firsts[-1]):
            offset, marker = self.marker_plan.placed.pop(0)
            count = int(np.searchsorted(firsts, offset))
            if count:
                yield from self._entries(source_run.part(0, count))
                source_run = source_run.part(count, len(firsts))
                firsts = firsts[count:]
            yield from self._marker(offset, marker)
        yield from self._entries(source_run)

    def _entries(self, source_run: SourceRun) -> Iterator[OutputPart]:
        column = source_run.entries.column
        first_offset = int(column("first_offset")[0])
        gap_end = self.marker_plan.spanned_gaps.get(self.gap_start)
        if gap_end == first_offset > self.next_offset:
            # Without a gap, no partition_reader has to doubt the outcome of the transaction around it.
            yield from self._empty_batch(first_offset)
        yield from self._open_segment(first_offset)
        self.next_offset = self.gap_start = int(column("last_offset")[-1]) + 1
        self.leader_epoch = max(self.leader_epoch, int(column("leader_epoch").max()))
        self.timestamp = max(self.timestamp, int(column("max_timestamp").max()))
        yield EntryBytes(source_run.data, source_run.entries)

    def _open_segment(self, offset: int) -> Iterator[OutputPart]:
        """Begin the next segment if the entry at *offset* belongs to it."""
        if not self.is_open:
            # A broker refuses an entry below the name of its file.
            yield NewSegment(offset if self.base_offset is None else min(self.base_offset, offset))
            self.base_offset, self.is_open = None, True
        elif self.base_offset is not None and offset >= self.base_offset:
            yield NewSegment(max(self.base_offset, self.next_offset))
            self.base_offset = None

    def _empty_batch(self, end_offset: int) -> Iterator[OutputPart]:
        """Yield a batch without records that has the offsets up to *end_offset*."""
        yield from self._open_segment(self.next_offset)
        self.change_counts.entries["empty-batch-added"] += 1
        yield _entry(
            empty_batch(
                first_offset=self.next_offset,
                last_offset=end_offset - 1,
                leader_epoch=self.leader_epoch,
                timestamp=self.timestamp,
            )
        )
        self.next_offset = end_offset

    def _marker(self, offset: int, marker: LostMarker) -> Iterator[OutputPart]:
        if offset >= MAX_OFFSET:
            raise RefusedError(
                f"no offset is left for the marker that ends the transaction of producer {marker.producer_id}",
                f"a free offset below {MAX_OFFSET}",
            )
        yield from self._open_segment(offset)
        self.next_offset = offset + 1
        name = "commit-marker-added" if marker.is_commit else "abort-marker-added"
        self.change_counts.entries[name] += 1
        yield _entry(
            transaction_marker(
                offset=offset,
                is_commit=marker.is_commit,
                producer_id=marker.producer_id,
                producer_epoch=marker.producer_epoch,
                coordinator_epoch=0,
                timestamp=marker.timestamp,
                leader_epoch=self.leader_epoch,
            )
        )

    def _end(self) -> Iterator[OutputPart]:
        """Yield the markers after the last entry, and an empty batch that keeps the log end offset."""
        self._end_missing_range(self._log_end_offset(), is_end=True)
        for marker in self.marker_plan.at_end:
            yield from self._marker(self.next_offset, marker)
        if self.base_offset is not None or not self.is_open:  # the last segment has no entries
            if self.is_open:
                # A broker gives no entry to a consumer below this segment, which would wait there for ever.
                yield from self._empty_batch_before_end(self.base_offset or 0)
            self.next_offset = max(self.next_offset, self.base_offset or 0)
            yield from self._open_segment(self.next_offset)
        yield from self._empty_batch_before_end(self._log_end_offset())

    def _empty_batch_before_end(self, end_offset: int) -> Iterator[OutputPart]:
        """Yield an empty batch that keeps the log end offset *end_offset*, unless it is too far away."""
        if self.next_offset < end_offset <= self.next_offset + MAX_EMPTY_OFFSETS:
            yield from self._empty_batch(end_offset)

    def _log_end_offset(self) -> int:
        """Return the log end offset as far as checkpoints, and the headers of entries that are lost, state it."""
        survey = self.partition_reader.survey()
        end = survey.log.acknowledged_offset or 0
        if self.change_counts.entries["out-of-order-left-out"]:
            return end  # headers state offsets that cannot be right
        return min(max(end, survey.log_end_offset or 0), MAX_OFFSET)


def _entry(entry: bytes) -> EntryBytes:
    return EntryBytes(memoryview(entry))


def salvage(
    dataset: Dataset,
    output: str | os.PathLike[str] | None,
    *,
    index_interval_bytes: int = 4096,
    segment_bytes: int | None = None,
    progress: Progress | None = None,
) -> RewriteReport:
    """Write the sound part of damaged partitions, so that a broker takes it without recovering anything.

    The offsets of damaged ranges stay free, as after compaction. Where the marker of a transaction is lost, the outcome
    that a read finds is written as a marker. Replicas fill each other as in a read.

    Args:
        dataset: The partitions, from `open` with ``on_damage="skip"``.
        output: New folder; see `rewrite`. None: write nothing, and count the bytes that would be written.
        index_interval_bytes: As for `rewrite`.
        segment_bytes: As for `rewrite`.
        progress: As for `rewrite`.
    Returns:
        A report with a row for each partition.
    Raises:
        InputError: *dataset* has another ``on_damage``; or as for `rewrite`.
        OSError: The output cannot be written.
    Example:
        >>> dataset = mb.open("log-0", topics=["fenced"], on_damage="skip")
        >>> mb.salvage(dataset, None).summary["changed_entries"]
        {}
    """
    if dataset.options.on_damage != "skip":
        raise InputError(
            f"on_damage {dataset.options.on_damage!r}", "a dataset with on_damage 'skip'"
        )
    settings = writer_settings(index_interval_bytes, segment_bytes)
    job = RewriteJob("salvage", job_options(settings))
    return run_job(dataset, SalvageChange(), output, job, settings, progress)
