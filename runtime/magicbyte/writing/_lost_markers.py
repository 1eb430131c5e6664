"""Markers for transactions whose own marker is lost, at offsets that the damage has left free.

A broker does not notice a missing marker: the next marker of the producer then ends both transactions, so that aborted
records become committed ones, or the reverse (in 109 of 118 cases, Kafka 4.3.1). So the outcome that the reader of the partition has
found is written as a marker, between the last record of the transaction and the next batch of its producer.
"""

import heapq
from dataclasses import dataclass, field

import numpy as np

from magicbyte.reading.entry_runs import SourceRun
from magicbyte.tables.arrays import Mask
from magicbyte.tables.schemas import OUTCOMES

COMMITTED, ABORTED, OPEN, UNDECIDED = range(len(OUTCOMES))

MARKED = (COMMITTED, ABORTED, UNDECIDED)
"""Outcomes that a marker states. Records of an undecided transaction are withheld, so its marker aborts it."""


@dataclass(slots=True)
class _PendingTransaction:
    """Data of a producer after its last marker."""

    outcome: int
    first_offset: int
    last_offset: int
    producer_epoch: int
    timestamp: int


@dataclass(frozen=True, slots=True)
class LostMarker:
    """A marker that is to be written."""

    producer_id: int
    producer_epoch: int
    is_commit: bool
    timestamp: int
    first_offset: int
    """First offset of the transaction's data."""
    last_offset: int
    """Last offset of the transaction's data."""
    deadline: int | None
    """Offset of the producer's next batch; None: it has none."""


@dataclass(slots=True)
class MarkerPlan:
    """Finds the markers that are lost, and free offsets for them, in a pass over the headers of a partition."""

    placed: list[tuple[int, LostMarker]] = field(default_factory=list)
    """Markers and their offsets, in order."""
    at_end: list[LostMarker] = field(default_factory=list)
    """Markers that follow the last entry."""
    without_offset: list[LostMarker] = field(default_factory=list)
    """Transactions for whose marker no offset is free: their data is left out."""
    refused: set[int] = field(default_factory=set)
    """First offsets of batches outside of a transaction whose producer has an open one: a broker would not start."""
    spanned_gaps: dict[int, int] = field(default_factory=dict)
    """Ranges of lost offsets inside of a transaction: the first offset, and the one after the last."""
    last_offset: int = -1
    _has_lost_bytes: bool = False
    """True if bytes after the last entry are lost."""
    _pending: dict[int, _PendingTransaction] = field(default_factory=dict)
    _lost: list[LostMarker] = field(default_factory=list)
    _gap_starts: list[int] = field(default_factory=list)
    _gap_ends: list[int] = field(default_factory=list)

    def add_lost_bytes(self) -> None:
        """Note that bytes after the last entry are lost."""
        self._has_lost_bytes = True

    def add(self, source_run: SourceRun) -> None:
        """Follow the entries of *source_run*, which are in order."""
        column = source_run.entries.column
        firsts, lasts = column("first_offset"), column("last_offset")
        previous_lasts = np.append(self.last_offset, lasts[:-1])
        gaps = np.flatnonzero((firsts > previous_lasts + 1) & (previous_lasts >= 0))
        self._gap_starts += (previous_lasts[gaps] + 1).tolist()
        self._gap_ends += firsts[gaps].tolist()
        self.last_offset = int(lasts[-1])
        is_control, producers = column("is_control") != 0, column("producer_id")
        is_data = (column("is_transactional") != 0) & ~is_control
        concerned = is_data | is_control
        if self._pending or is_data.any():
            concerned |= producers >= 0
        if (
            self._has_lost_bytes
            and self._pending
            and int(firsts[0]) > int(previous_lasts[0]) + 1 > 0
        ):
            self.spanned_gaps[int(previous_lasts[0]) + 1] = int(firsts[0])
        self._has_lost_bytes = False
        outcomes = source_run.outcomes
        for number in np.flatnonzero(concerned & (producers >= 0)).tolist():
            producer, first = int(producers[number]), int(firsts[number])
            outcome = OPEN if outcomes is None else int(outcomes[number])
            if is_control[number]:
                self._end(producer, first, outcome)
            elif is_data[number]:
                entry = source_run.entries[number]
                pending = _PendingTransaction(
                    outcome,
                    first,
                    entry.last_offset,
                    entry.producer_epoch,
                    entry.max_timestamp or 0,
                )
                self._add_data(producer, pending)
            elif producer in self._pending:
                self.refused.add(first)

    def _add_data(self, producer: int, transaction: _PendingTransaction) -> None:
        pending = self._pending.get(producer)
        if pending is not None and pending.outcome != transaction.outcome:
            self._lose(producer, pending, transaction.first_offset)
            pending = None
        if pending is None:
            self._pending[producer] = transaction
            return
        pending.last_offset, pending.producer_epoch = (
            transaction.last_offset,
            transaction.producer_epoch,
        )
        pending.timestamp = max(pending.timestamp, transaction.timestamp)

    def _end(self, producer: int, offset: int, outcome: int) -> None:
        """Follow a control batch that gives *outcome*; other control batches end nothing."""
        if outcome not in (COMMITTED, ABORTED):
            return
        pending = self._pending.pop(producer, None)
        if pending is not None and pending.outcome != outcome:
            self._lose(producer, pending, offset)

    def _lose(self, producer: int, pending: _PendingTransaction, deadline: int | None) -> None:
        if pending.outcome in MARKED:
            self._lost.append(
                LostMarker(
                    producer_id=producer,
                    producer_epoch=pending.producer_epoch,
                    is_commit=pending.outcome == COMMITTED,
                    timestamp=pending.timestamp,
                    first_offset=pending.first_offset,
                    last_offset=pending.last_offset,
                    deadline=deadline,
                )
            )

    def finish(self) -> None:
        """Choose offsets for the markers, when all entries were added: those with the first deadline come first."""
        for producer, pending in self._pending.items():
            self._lose(producer, pending, None)
        lost = sorted(self._lost, key=lambda marker: marker.last_offset, reverse=True)
        by_deadline: list[tuple[int, int, LostMarker]] = []
        for start, end in zip(self._gap_starts, self._gap_ends, strict=True):
            while lost and lost[-1].last_offset < start:
                marker = lost.pop()
                if marker.deadline is None:
                    self.at_end.append(marker)
                else:
                    heapq.heappush(by_deadline, (marker.deadline, len(by_deadline), marker))
            offset = start
            while by_deadline and offset < end:
                deadline, _, marker = heapq.heappop(by_deadline)
                if deadline <= start:
                    self.without_offset.append(marker)
                else:
                    self.placed.append((offset, marker))
                    offset += 1
        self.without_offset += [marker for _, _, marker in by_deadline]
        for marker in lost:
            (self.at_end if marker.deadline is None else self.without_offset).append(marker)

    def left_out(self, source_run: SourceRun) -> Mask:
        """Return a mask of the entries of *source_run* that are left out."""
        firsts = source_run.entries.column("first_offset")
        mask = np.zeros(len(firsts), np.bool_)
        if self.refused:
            mask |= np.isin(firsts, list(self.refused))
        for marker in self.without_offset:
            is_its = source_run.entries.column("producer_id") == marker.producer_id
            is_its &= (firsts >= marker.first_offset) & (firsts <= marker.last_offset)
            mask |= is_its & (source_run.entries.column("is_transactional") != 0)
        return mask
