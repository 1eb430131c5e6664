"""`magicbyte.erase`: write partitions without the records of a person, and say which ones."""

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from magicbyte.engines.encoding import Encoder
from magicbyte.engines.entry import Entry
from magicbyte.engines.factory import encoder, engine
from magicbyte.engines.protocol import Engine
from magicbyte.errors import InputError
from magicbyte.limits import Limits
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.entry_runs import PartitionReader, SourceRun
from magicbyte.tables.arrays import Mask, to_numpy
from magicbyte.writing._batches_without_data import empty_batch
from magicbyte.writing._comparison import RECORD_COLUMNS, ComparedRecords, check_equal, facts_of
from magicbyte.writing._entry_cuts import fields_of
from magicbyte.writing._entry_stages import segment_runs
from magicbyte.writing._offset_ranges import OffsetRanges
from magicbyte.writing._output_log_dir import RewriteJob
from magicbyte.writing._output_parts import EntryBytes, NewSegment, OutputPart
from magicbyte.writing._run_records import ENCODED_COLUMNS, decoded_runs, rows_of
from magicbyte.writing.copies import CopyChange, job_options, run_job, writer_settings
from magicbyte.writing.erasure import ACTIONS, Erasure
from magicbyte.writing.key_set import KeySet
from magicbyte.writing.rewrite import ChangeCounts, Progress, RewriteReport, WrittenPartition

READ_BYTES = 1 << 20
"""Bytes of a segment that are read at a time for its digest."""


@dataclass(slots=True)
class EraseChange(CopyChange):
    """Encodes the entries again that hold records to erase; copies all others."""

    erasure: Erasure
    erased: dict[str, OffsetRanges] = field(default_factory=dict)
    """Erased offsets by the name of the partition."""

    @property
    def expected_findings(self) -> Collection[str]:
        """Single messages of v0 and v1 leave gaps; so do markers, which are no records."""
        return ("offset-gap",)

    def parts(
        self, partition_reader: PartitionReader, change_counts: ChangeCounts
    ) -> Iterator[OutputPart]:
        """Yield the segments and entries of the output."""
        ranges = self.erased[partition_reader.log.name] = OffsetRanges()
        eraser = _Eraser(self.erasure, partition_reader.limits, change_counts, ranges)
        for part in segment_runs(partition_reader.parts()):
            if isinstance(part, NewSegment):
                yield part
            else:
                yield from eraser.entries(part)
        yield from eraser.end()

    def check(self, written: WrittenPartition) -> dict[str, Any]:
        """Compare the other records, and search the output for records to erase."""
        if not written.change_counts.entries:
            return {"compared": "bytes"}
        columns = tuple(name for name in RECORD_COLUMNS if name != "outcome")
        data = ("delivered", "below_log_start")
        changed = ComparedRecords(columns=columns, dispositions=data, transform=self._expected)
        unchanged = ComparedRecords(columns=columns, dispositions=data)
        expected_facts = facts_of(written.source_log, written.dataset.options, changed)
        check_equal(
            expected_facts,
            facts_of(written.output_log, written.dataset.options, unchanged),
            written.source_log,
        )
        return {
            "compared": "records",
            **expected_facts.as_row(),
            "source_sha256": file_digests(written.source_log),
            "output_sha256": file_digests(written.output_log),
        }

    def details(self, log: PartitionLog) -> dict[str, Any]:
        """Return the erased offsets."""
        return {"erased": self.erased[log.name].as_row()}

    def _expected(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the records of the output for the records *rows* of the source."""
        mask = self.erasure.matches(rows)
        return self.erasure.changed(rows, mask) if mask.any() else rows


class _Eraser:
    """Erases the records of one partition."""

    def __init__(
        self,
        erasure: Erasure,
        limits: Limits,
        change_counts: ChangeCounts,
        erased_ranges: OffsetRanges,
    ) -> None:
        self._erasure, self._limits = erasure, limits
        self._change_counts, self._ranges = change_counts, erased_ranges
        self._engine: Engine = engine("auto")
        self._encoder: Encoder = encoder()
        self._last_offset = self._last_written = -1
        self._last_entry: Entry | None = None

    def entries(self, source_run: SourceRun) -> Iterator[OutputPart]:
        """Yield the entries of the output for *source_run*."""
        self._last_entry = source_run.entries[-1]
        self._last_offset = self._last_entry.last_offset
        columns = (*self._erasure.columns, "offset")
        for decoded in decoded_runs(source_run, self._engine, self._limits, columns):
            assert decoded.decoded is not None
            rows = rows_of(decoded)
            mask = self._erasure.matches(rows)
            mask &= np.repeat(decoded.entries.column("is_control") == 0, decoded.decoded.num_rows)
            if not mask.any():
                self._last_written = last_offset_of(decoded)
                yield EntryBytes(decoded.data, decoded.entries)
                continue
            self._ranges.add(to_numpy(rows.column("offset"))[mask].tolist())
            self._change_counts.records["erased"] += int(np.count_nonzero(mask))
            yield from self._changed(decoded, mask)

    def _changed(self, decoded: SourceRun, mask: Mask) -> Iterator[OutputPart]:
        """Yield the entries of *decoded*; *mask* has the records to erase."""
        assert decoded.decoded is not None
        num_rows = decoded.decoded.num_rows
        ends = np.cumsum(num_rows)
        counts = np.concatenate(([0], np.cumsum(mask)))
        num_erased = counts[ends] - counts[ends - num_rows]
        first = 0
        for number in np.flatnonzero(num_erased).tolist():
            if first < number:
                unchanged = decoded.part(first, number)
                self._last_written = last_offset_of(unchanged)
                yield EntryBytes(unchanged.data, unchanged.entries)
            end = int(ends[number])
            entry_mask = mask[end - int(num_rows[number]) : end]
            yield from self._entry(decoded.part(number, number + 1), entry_mask)
            first = number + 1
        if first < len(decoded.entries):
            unchanged = decoded.part(first, len(decoded.entries))
            self._last_written = last_offset_of(unchanged)
            yield EntryBytes(unchanged.data, unchanged.entries)

    def _entry(self, source_run: SourceRun, mask: Mask) -> Iterator[OutputPart]:
        """Yield the only entry of *source_run* without the records of *mask*."""
        (decoded,) = decoded_runs(source_run, self._engine, self._limits, ENCODED_COLUMNS)
        entry = decoded.entries[0]
        rows = self._erasure.changed(rows_of(decoded), mask)
        if entry.magic < 2:
            if not rows.num_rows:
                self._change_counts.entries["messages-removed"] += 1
                return
            self._change_counts.entries["encoded"] += 1
            messages = self._encoder.messages(
                entry.magic,
                rows,
                codec=entry.codec,
                timestamp_type=int(entry.is_append_time),
            )
            self._last_written = int(rows.column("offset")[-1].as_py())
            yield EntryBytes(memoryview(messages))
            return
        self._change_counts.entries["encoded" if rows.num_rows else "emptied"] += 1
        fields = replace(
            fields_of(entry),
            base_offset=entry.first_offset,
            last_offset_delta=entry.last_offset - entry.first_offset,
            leader_epoch=entry.leader_epoch,
            max_timestamp=entry.max_timestamp,
        )
        if self._erasure.action == "overwrite":
            # The deltas stay, and with them the size of each record.
            fields = replace(fields, base_timestamp=entry.base_timestamp)
        self._last_written = entry.last_offset
        yield EntryBytes(memoryview(self._encoder.batch(fields, rows)))

    def end(self) -> Iterator[OutputPart]:
        """Yield an empty batch if the last message was removed: its offset must not be given out again."""
        if self._last_written < self._last_offset:
            assert self._last_entry is not None
            self._change_counts.entries["empty-batch-added"] += 1
            batch = empty_batch(
                first_offset=self._last_written + 1,
                last_offset=self._last_offset,
                leader_epoch=max(self._last_entry.leader_epoch, 0),
                timestamp=self._last_entry.max_timestamp or -1,
            )
            yield EntryBytes(memoryview(batch))


def last_offset_of(source_run: SourceRun) -> int:
    """Return the last offset of the last entry of *source_run*."""
    return int(source_run.entries.column("last_offset")[-1])


def erasure_of(
    *,
    action: str = "drop",
    keys: Iterable[bytes] | pa.Array | KeySet | None = None,
    key_pattern: str | bytes | None = None,
    value_pattern: str | bytes | None = None,
    header_patterns: Mapping[str, str | bytes] | None = None,
) -> Erasure:
    """Return the erasure of records that fulfil at least one condition.

    Args:
        action: ``"drop"`` removes the record, ``"null"`` leaves a tombstone of its key, ``"overwrite"`` leaves a
            record of the same size whose key, value and header values are zeros.
        keys: Keys of records to erase: bytes, an Arrow array, or a KeySet. 10 million take 0.5 GB.
        key_pattern: Regular expression that is searched for in keys.
        value_pattern: Regular expression that is searched for in values.
        header_patterns: Regular expressions that are searched for in the values of headers, by name of the header.
    Returns:
        A value for `erase` and `search_erased`.
    Raises:
        InputError: There is no condition, or a pattern is no regular expression.
    Example:
        >>> mb.erasure_of(keys=[b"user-7"]).action
        'drop'
    """
    if action not in ACTIONS:
        raise InputError(f"action {action!r}", ", ".join(ACTIONS))
    if keys is None and not (key_pattern or value_pattern or header_patterns):
        raise InputError("no condition", "keys, or a pattern of keys, values or headers")
    key_set = None
    if keys is not None:
        if isinstance(keys, KeySet):
            key_set = keys
        else:
            key_set = KeySet(keys) if isinstance(keys, pa.Array) else KeySet.of(keys)
    header_items = (header_patterns or {}).items()
    return Erasure(
        action=action,
        key_set=key_set,
        key_pattern=_pattern(key_pattern),
        value_pattern=_pattern(value_pattern),
        header_patterns=tuple((name, _required_pattern(text)) for name, text in header_items),
    )


def _pattern(expression: str | bytes | None) -> re.Pattern[bytes] | None:
    return _required_pattern(expression) if expression else None


def _required_pattern(expression: str | bytes) -> re.Pattern[bytes]:
    try:
        return re.compile(expression.encode() if isinstance(expression, str) else expression)
    except re.error as error:
        raise InputError(f"pattern {expression!r}: {error}", "a regular expression") from None


def erase(
    dataset: Dataset,
    output: str | os.PathLike[str] | None,
    erasure: Erasure,
    *,
    index_interval_bytes: int = 4096,
    segment_bytes: int | None = None,
    progress: Progress | None = None,
) -> RewriteReport:
    """Write partitions without some records, and keep all other records with their offsets.

    Batches keep their offsets, also where no record is left in them. The report is a certificate: it lists the erased
    offsets of each partition and digests of the output, and none of the erased data.

    Args:
        dataset: The partitions, from `open`. Erase each replica of a partition, and each copy of it, by itself.
        output: New folder; see `rewrite`. None: write nothing, and count the records that would be erased.
        erasure: The records to erase, from `erasure_of`.
        index_interval_bytes: As for `rewrite`.
        segment_bytes: As for `rewrite`.
        progress: As for `rewrite`.
    Returns:
        A report with a row for each partition, in which `erased` has the offsets.
    Raises:
        InputError: As for `rewrite`.
        ChangedError: A source changed while it was read.
        OSError: The output cannot be written.
    Example:
        >>> erasure = mb.erasure_of(key_pattern="0")
        >>> report = mb.erase(mb.open("log-0", topics=["fenced"]), None, erasure)
        >>> report.summary["output_bytes"] <= report.summary["source_bytes"]
        True
    """
    settings = writer_settings(index_interval_bytes, segment_bytes)
    options = job_options(settings, action=erasure.action, conditions=erasure.digest)
    job = RewriteJob("erase", options)
    return run_job(dataset, EraseChange(erasure), output, job, settings, progress)


def file_digests(log: PartitionLog) -> dict[str, str]:
    """Return the SHA-256 digest of each live segment of *log*, by name."""
    digests = {}
    for file in log.logs:
        digest = hashlib.sha256()
        with file.open_strictly() as segment:
            for position in range(0, segment.size_bytes, READ_BYTES):
                length = min(READ_BYTES, segment.size_bytes - position)
                digest.update(segment.read_at(position, length))
        digests[file.name] = digest.hexdigest()
    return digests
