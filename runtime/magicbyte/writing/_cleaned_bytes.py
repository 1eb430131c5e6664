"""The bytes of a partition after a round of the log cleaner."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from magicbyte.engines.encoding import BatchFields, Encoder
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.factory import encoder
from magicbyte.engines.protocol import Entry
from magicbyte.logdir.log_file import LogFile
from magicbyte.storage import File
from magicbyte.tables.arrays import Indices
from magicbyte.tables.binary_views import filter_rows
from magicbyte.writing._cleaner_round import CleanedEntries, CleanerRound, read_entries
from magicbyte.writing._cleaner_rules import NO_HORIZON, Action

PAYLOAD_COLUMNS = ("offset", "timestamp", "key", "value", "headers")

MAX_COPIED_BYTES = 1 << 20
"""Bytes of entries that are copied together, unless one entry is larger."""

NO_TIMESTAMP = -1


class SegmentBytes(NamedTuple):
    """Bytes of a segment that follow those before; the first of a segment are empty."""

    base_offset: int
    data: bytes


@dataclass(slots=True)
class CleanedBytes:
    """Yields the segments that a round leaves. Its memory is bounded by a chunk of decoded records.

    An entry that stays whole is copied byte for byte, as Kafka's cleaner does.
    """

    cleaned: CleanerRound
    entry_encoder: Encoder = field(default_factory=encoder)
    look: Callable[[CleanedEntries], None] | None = None
    """Called with the decisions about entries before their bytes are yielded."""

    def __iter__(self) -> Iterator[SegmentBytes]:
        """Yield the bytes of the cleaned segments, and then of the others, which do not change.

        If the active segment was cleaned, an empty one follows: it preserves the log end offset.
        """
        cleaned = self.cleaned
        base_of = {
            number: cleaned.survey.segments[group[0]].file.base_offset or 0
            for group in cleaned.groups()
            for number in group
        }
        bases = sorted(set(base_of.values()))
        yield from self._with_starts(bases, self._cleaned_parts(base_of))
        segments = cleaned.survey.segments[cleaned.num_segments :]
        unchanged = [segment.file.base_offset or 0 for segment in segments]
        yield from self._with_starts(unchanged, self._unchanged_parts())
        end = cleaned.survey.log_end_offset
        last = cleaned.survey.segments[-1].file.base_offset if cleaned.survey.segments else end
        if cleaned.settings.includes_active_segment and end is not None and end != last:
            yield SegmentBytes(end, b"")

    def _with_starts(
        self, bases: list[int], segment_parts: Iterator[SegmentBytes]
    ) -> Iterator[SegmentBytes]:
        """Yield *segment_parts* with an empty part at the start of each segment of *bases*, also of one without entries."""
        num_begun = 0
        for part in segment_parts:
            while num_begun < len(bases) and bases[num_begun] <= part.base_offset:
                yield SegmentBytes(bases[num_begun], b"")
                num_begun += 1
            yield part
            del part  # frees the bytes before more are read
        for base in bases[num_begun:]:
            yield SegmentBytes(base, b"")

    def _cleaned_parts(self, base_of: dict[int, int]) -> Iterator[SegmentBytes]:
        for file, chunks in _by_file(self.cleaned.decisions(PAYLOAD_COLUMNS)):
            with self.cleaned.planner.open_log(file) as log:
                for chunk in chunks:
                    if self.look is not None:
                        self.look(chunk)
                    for data in self._chunk_bytes(log, chunk):
                        yield SegmentBytes(base_of[chunk.segment_entries.segment], data)
                    del chunk  # frees the rows before more are read

    def _unchanged_parts(self) -> Iterator[SegmentBytes]:
        cleaned = self.cleaned
        for read in read_entries(cleaned.planner, cleaned.survey, (), begin=cleaned.num_segments):
            indices = np.arange(len(read.entries))
            positions, sizes = (read.entries.column(name) for name in ("position", "size_bytes"))
            with cleaned.planner.open_log(read.file) as log:
                for begin, end in _copied_runs(indices, positions, sizes):
                    yield SegmentBytes(read.file.base_offset or 0, log.read_at(begin, end - begin))

    def _chunk_bytes(self, log: File, chunk: CleanedEntries) -> Iterator[bytes]:
        """Yield the bytes that stay of the entries of *chunk*, in order."""
        (_, _, entries, decoded), decisions = chunk
        positions, sizes = entries.column("position"), entries.column("size_bytes")
        row_ends = np.cumsum(decoded.num_rows)
        is_copied = decisions.actions == Action.COPY
        # Runs of entries with the same action: one read copies a whole run.
        edges = np.flatnonzero(np.diff(is_copied, prepend=~is_copied[:1]))
        for first, end in zip(edges, [*edges[1:], len(entries)], strict=True):
            if is_copied[first]:
                for begin, stop in _copied_runs(np.arange(first, end), positions, sizes):
                    yield log.read_at(begin, stop - begin)
                continue
            for index in range(int(first), int(end)):
                action = Action(int(decisions.actions[index]))
                if action is Action.REMOVE:
                    continue
                row_begin = int(row_ends[index] - decoded.num_rows[index])
                rows = decoded.rows.slice(row_begin, int(decoded.num_rows[index]))
                is_retained = decisions.is_retained[row_begin : int(row_ends[index])]
                rows = filter_rows(rows, is_retained)
                horizon = int(decisions.horizons[index])
                yield self._entry_bytes(entries[index], action, horizon, rows)

    def _entry_bytes(
        self, entry: Entry, action: Action, horizon: int, rows: pa.RecordBatch
    ) -> bytes:
        """Return the bytes of *entry* with the records *rows* and a delete horizon."""
        if action is Action.EMPTY:
            fields = _empty_fields(entry)
        elif entry.magic == 2:
            fields = _retained_fields(entry, horizon)
        elif self.cleaned.settings.converts_messages:
            fields = _converted_fields(entry, horizon)
        else:
            return self.entry_encoder.messages(
                entry.magic, rows, codec=entry.codec, timestamp_type=entry.timestamp_type or 0
            )
        return self.entry_encoder.batch(fields, rows)


def _by_file(
    chunks: Iterator[CleanedEntries],
) -> Iterator[tuple[LogFile, Iterator[CleanedEntries]]]:
    """Yield each segment with its *chunks*, which must be taken before the next segment."""
    pending = next(chunks, None)

    def of_file(path: str) -> Iterator[CleanedEntries]:
        nonlocal pending
        while pending is not None and pending.segment_entries.file.path == path:
            chunk, pending = pending, None
            yield chunk
            del chunk  # frees the rows before more are read
            pending = next(chunks, None)

    while pending is not None:
        yield pending.segment_entries.file, of_file(pending.segment_entries.file.path)


def _copied_runs(indices: Indices, positions: Numbers, sizes: Numbers) -> Iterator[tuple[int, int]]:
    """Yield ranges of bytes of the entries at *indices*, which are back to back or apart, of bounded length."""
    begin = end = -1
    for position, size in zip(positions[indices].tolist(), sizes[indices].tolist(), strict=True):
        if position != end or end - begin >= MAX_COPIED_BYTES:
            if end > begin:
                yield begin, end
            begin = position
        end = position + size
    if end > begin:
        yield begin, end


def _retained_fields(entry: Entry, horizon: int) -> BatchFields:
    """Return the header fields of the v2 batch *entry* with fewer records, or with a delete horizon."""
    assert entry.base_offset is not None
    has_append_time = entry.timestamp_type == 1
    return BatchFields(
        base_offset=entry.base_offset,
        last_offset_delta=entry.last_offset - entry.base_offset,
        leader_epoch=entry.leader_epoch,
        codec=entry.codec,
        timestamp_type=entry.timestamp_type or 0,
        is_transactional=entry.is_transactional,
        is_control=entry.is_control,
        has_delete_horizon=horizon != NO_HORIZON,
        base_timestamp=None if horizon == NO_HORIZON else horizon,
        max_timestamp=entry.max_timestamp if has_append_time else None,
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        base_sequence=entry.base_sequence,
    )


def _converted_fields(entry: Entry, horizon: int) -> BatchFields:
    """Return the header fields of the v2 batch that the v0 or v1 message *entry* becomes (KAFKA-13093)."""
    has_append_time = entry.timestamp_type == 1
    return BatchFields(
        leader_epoch=-1,
        codec=entry.codec,
        timestamp_type=int(has_append_time),
        has_delete_horizon=horizon != NO_HORIZON,
        base_timestamp=None if horizon == NO_HORIZON else horizon,
        max_timestamp=entry.max_timestamp if has_append_time else None,
    )


def _empty_fields(entry: Entry) -> BatchFields:
    """Return the header fields of *entry* without its records (DefaultRecordBatch.writeEmptyHeader)."""
    assert entry.base_offset is not None
    return BatchFields(
        base_offset=entry.base_offset,
        last_offset_delta=entry.last_offset - entry.base_offset,
        leader_epoch=entry.leader_epoch,
        timestamp_type=entry.timestamp_type or 0,
        is_transactional=entry.is_transactional,
        is_control=entry.is_control,
        base_timestamp=NO_TIMESTAMP,
        max_timestamp=entry.max_timestamp,
        producer_id=entry.producer_id,
        producer_epoch=entry.producer_epoch,
        base_sequence=entry.base_sequence,
    )
