"""The outcomes of a partition's transactions, from its entries in order.

Markers in the log decide. They are matched by producer id alone, because a marker's epoch may be
the data's or one more (KIP-890, fencing). Missing entries may include a marker: every transaction
that was open before them is `undecided` unless other evidence proves its outcome. So a
damaged abort marker never turns aborted records into committed ones.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from magicbyte.reading._producer_batches import ProducerBatches, TransactionParts
from magicbyte.reading._run_transactions import (
    ABORTED,
    COMMITTED,
    NO_ROW,
    UNDECIDED,
    MarkerContents,
    RunTransactions,
)
from magicbyte.reading._transaction_table import EVIDENCE_CODES, TransactionTable
from magicbyte.tables.arrays import Array, Indices, Mask, StructuredRows
from magicbyte_formats.wire import AbortedTransaction, ProducerSnapshotEntry

_EPOCHS = np.dtype([("producer_id", np.int64), ("epoch", np.int16)])


class _LaterMarker(NamedTuple):
    """The first marker of a producer after missing entries."""

    offset: int
    timestamp: int
    epoch: int
    outcome: int
    coordinator_epoch: int | None
    ended: int
    """The number of the transaction that was open at the marker; NO_ROW if there was none."""


class LastData(NamedTuple):
    """The last data batch that a producer has written so far."""

    last_offset: int
    epoch: int


@dataclass(slots=True)
class TransactionTracker:
    """Follows the transactions of a partition through its sound entries, in order."""

    transaction_table: TransactionTable = field(default_factory=TransactionTable)
    open: dict[int, int] = field(default_factory=dict)
    """The numbers of the open transactions in the table, by producer id."""
    uncertain: dict[int, list[int]] = field(default_factory=dict)
    """Transactions that were open where entries may be missing, by producer id."""
    last_data: dict[int, LastData] = field(default_factory=dict)
    """The last data batch of each producer id."""
    knows_beginning: bool = True
    """True if it is known which transactions were open before the first entry."""
    num_missing_ranges: int = 0
    _awaiting: dict[int, list[int]] = field(default_factory=dict)
    """Uncertain transactions without a marker after them so far, by producer id."""
    _later_markers: dict[int, _LaterMarker] = field(default_factory=dict)
    """The next marker after each uncertain transaction, by its number."""
    _empty_epochs: list[StructuredRows] = field(default_factory=list)
    """Producers and epochs of the markers that ended nothing."""
    _has_equal_epochs: bool = False
    """True if some marker has its data's epoch, as transaction versions 0 and 1 write it."""

    def begin(self, snapshot: Iterable[ProducerSnapshotEntry]) -> None:
        """Start with the transactions that the snapshot at the log's first base states as open."""
        self.open |= add_open_in_snapshot(self.transaction_table, snapshot)

    def open_numbers(self) -> Indices:
        """Return the numbers of the open transactions."""
        return np.fromiter(self.open.values(), np.intp, len(self.open))

    def add_last_data(self, producer_id: int, last_offset: int, epoch: int) -> None:
        """Note the last data batch of a producer, in a transaction or not."""
        self.last_data[producer_id] = LastData(last_offset, epoch)

    def add_run(
        self, producer_batches: ProducerBatches, marker_contents: MarkerContents, segment: int
    ) -> RunTransactions:
        """Add the data of transactions in *producer_batches*, and the markers among them, whose offsets increase.

        *segment* is the number of the segment that holds them.
        """
        run_parts = producer_batches.transaction_parts(marker_contents.is_end)
        before = self.open_numbers()
        numbers = np.full(len(run_parts), NO_ROW, np.intp)
        firsts = np.flatnonzero(run_parts.is_first)
        numbers[firsts] = [
            self.open.get(one, NO_ROW) for one in run_parts.producer_ids[firsts].tolist()
        ]
        has_end = run_parts.end_control < len(run_parts.entries)
        is_earlier = numbers >= 0
        begun = np.flatnonzero(run_parts.has_data & ~is_earlier)
        begun = begun[np.argsort(run_parts.first_batch[begun])]
        self._extend(run_parts, np.flatnonzero(run_parts.has_data & is_earlier), numbers, segment)
        length = len(self.transaction_table.rows)
        numbers[begun] = np.arange(length, length + len(begun))
        self._begin(run_parts, begun, segment)
        is_doubtful = has_end.copy()
        is_doubtful[has_end] = marker_contents.is_doubtful[run_parts.end_control[has_end]]
        marked = np.flatnonzero(has_end & ~is_doubtful)
        self._end(run_parts, marked, marker_contents, numbers)
        for producer in run_parts.producer_ids[is_earlier & has_end].tolist():
            self.open.pop(producer)
        still_open = begun[~has_end[begun]]
        self.open.update(
            zip(
                run_parts.producer_ids[still_open].tolist(),
                numbers[still_open].tolist(),
                strict=True,
            )
        )
        self.num_missing_ranges += int(np.count_nonzero(marker_contents.is_doubtful))
        self._follow_uncertain(run_parts, is_doubtful, has_end, marker_contents, numbers)
        ended = np.full(len(run_parts.entries), NO_ROW, np.intp)
        ended[run_parts.end_control[has_end]] = numbers[has_end]
        before_ends = _values_by_key(
            numbers[is_earlier], run_parts.end_control[is_earlier], before, len(run_parts.entries)
        )
        return RunTransactions(
            ended=ended,
            open_before=before,
            before_ends=before_ends,
            begun=numbers[begun],
            begun_at=run_parts.first_batch[begun],
            begun_ends=run_parts.end_control[begun],
        )

    def _begin(
        self,
        run_parts: TransactionParts,
        begun: Indices,
        segment: int,
    ) -> None:
        """Add the transactions of the parts *begun*, in this order, to the table."""
        if not len(begun):
            return
        column, first, last = (
            run_parts.entries.column,
            run_parts.first_batch[begun],
            run_parts.last_batch[begun],
        )
        rows = self.transaction_table.add(len(begun))
        rows["producer_id"] = run_parts.producer_ids[begun]
        rows["first_offset"] = column("first_offset")[first]
        rows["first_timestamp"] = column("base_timestamp")[first]
        rows["first_position"] = column("position")[first]
        rows["first_segment"] = segment
        rows["has_data"] = True
        rows["is_continuation"] = not self.knows_beginning
        _set_last(rows, run_parts, last, segment)
        rows["record_count"] = run_parts.record_counts[begun]
        rows["size_bytes"] = run_parts.sizes[begun]
        if self.uncertain:
            rows["is_continuation"] |= [
                one in self.uncertain for one in run_parts.producer_ids[begun].tolist()
            ]

    def _extend(
        self, run_parts: TransactionParts, indices: Indices, numbers: Indices, segment: int
    ) -> None:
        """Add the data of the parts *indices* to the transactions *numbers*, which began before."""
        if not len(indices):
            return
        column, first = run_parts.entries.column, run_parts.first_batch[indices]
        numbers = numbers[indices]
        rows: StructuredRows = self.transaction_table.rows[numbers]
        is_new = ~rows["has_data"]
        for name, values in (
            ("first_timestamp", column("base_timestamp")[first]),
            ("first_position", column("position")[first]),
            ("first_segment", np.full(len(first), segment)),
        ):
            rows[name][is_new] = values[is_new]
        rows["has_data"] = True
        _set_last(rows, run_parts, run_parts.last_batch[indices], segment)
        rows["record_count"] += run_parts.record_counts[indices]
        rows["size_bytes"] += run_parts.sizes[indices]
        self.transaction_table.rows[numbers] = rows

    def _end(
        self,
        run_parts: TransactionParts,
        marked: Indices,
        marker_contents: MarkerContents,
        numbers: Indices,
    ) -> None:
        """End the transactions of the parts *marked* by their markers."""
        column = run_parts.entries.column
        is_empty = numbers[marked] < 0
        if is_empty.any():
            empty = np.zeros(int(np.count_nonzero(is_empty)), _EPOCHS)
            empty["producer_id"] = run_parts.producer_ids[marked[is_empty]]
            empty["epoch"] = column("producer_epoch")[run_parts.end_control[marked[is_empty]]]
            self._empty_epochs.append(empty)
            marked = marked[~is_empty]
        if not len(marked):
            return
        ended, end = numbers[marked], run_parts.end_control[marked]
        rows = self.transaction_table.rows
        epochs = column("producer_epoch")[end]
        rows["outcome"][ended] = marker_contents.outcome_codes[end]
        rows["evidence"][ended] = EVIDENCE_CODES["marker"]
        rows["marker_offset"][ended] = column("last_offset")[end]
        rows["marker_timestamp"][ended] = column("max_timestamp")[end]
        rows["marker_epoch"][ended] = epochs
        rows["coordinator_epoch"][ended] = marker_contents.coordinator_epochs[end]
        rows["has_coordinator_epoch"][ended] = marker_contents.has_coordinator_epoch[end]
        rows["has_marker"][ended] = rows["has_marker_offset"][ended] = True
        if not self._has_equal_epochs:
            is_equal = (rows["producer_epoch"][ended] == epochs) & rows["has_data"][ended]
            self._has_equal_epochs = bool(is_equal.any())

    def _follow_uncertain(
        self,
        run_parts: TransactionParts,
        is_doubtful: Mask,
        has_end: Mask,
        marker_contents: MarkerContents,
        numbers: Indices,
    ) -> None:
        """Put transactions in doubt that a control batch ends which cannot be read; note later markers."""
        doubted = set(run_parts.producer_ids[is_doubtful & (numbers >= 0)].tolist())
        if not doubted and not self._awaiting:
            return
        followed = doubted | self._awaiting.keys()
        column, rows = run_parts.entries.column, self.transaction_table.rows
        is_followed = [one in followed for one in run_parts.producer_ids.tolist()]
        for index in np.flatnonzero(is_followed).tolist():
            producer, number, end = (
                int(values[index])
                for values in (run_parts.producer_ids, numbers, run_parts.end_control)
            )
            if producer in doubted and producer in self.uncertain and run_parts.has_data[index]:
                rows["is_continuation"][number] |= not run_parts.is_first[index]
            if not has_end[index]:
                continue
            if is_doubtful[index]:
                if number >= 0:
                    self._add_uncertain(producer, number)
                continue
            marker = _LaterMarker(
                offset=int(column("last_offset")[end]),
                timestamp=int(column("max_timestamp")[end]),
                epoch=int(column("producer_epoch")[end]),
                outcome=int(marker_contents.outcome_codes[end]),
                coordinator_epoch=int(marker_contents.coordinator_epochs[end])
                if marker_contents.has_coordinator_epoch[end]
                else None,
                ended=number,
            )
            for uncertain in self._awaiting.pop(producer, ()):
                self._later_markers[uncertain] = marker

    def _add_uncertain(self, producer: int, number: int) -> None:
        self.transaction_table.rows["is_uncertain"][number] = True
        self.uncertain.setdefault(producer, []).append(number)
        self._awaiting.setdefault(producer, []).append(number)

    def mark_uncertain(self) -> None:
        """Mark all open transactions as uncertain: entries may be missing."""
        self.num_missing_ranges += 1
        for producer, number in self.open.items():
            self._add_uncertain(producer, number)
        self.open.clear()

    def finish(self, indexed: Sequence[StructuredRows]) -> TransactionTable:
        """Return the table, with an outcome of each transaction wherever one is proven.

        *indexed* are the entries of transaction indexes that do not contradict the log.
        """
        if self.uncertain:
            marker_epochs = self._marker_epochs()
            aborted = _aborts_of(self.uncertain, indexed)
            rows = self.transaction_table.rows
            for producer, numbers in self.uncertain.items():
                epochs = marker_epochs.get(producer, set())
                for number in numbers:
                    if not self._is_proven_committed(number, epochs) and not _is_proven_aborted(
                        rows[number], aborted.get(producer, [])
                    ):
                        rows["outcome"][number] = UNDECIDED
        self.transaction_table.list_transactions()
        return self.transaction_table

    def _marker_epochs(self) -> dict[int, set[int]]:
        """Return the epochs of all markers of each producer that has an uncertain transaction."""
        rows = self.transaction_table.rows
        by_producer: dict[int, set[int]] = {producer: set() for producer in self.uncertain}
        ended = rows[["producer_id", "marker_epoch"]][rows["has_marker"]]
        for producers, epochs in (
            (ended["producer_id"], ended["marker_epoch"]),
            *((empty["producer_id"], empty["epoch"]) for empty in self._empty_epochs),
        ):
            for producer, epoch in zip(producers.tolist(), epochs.tolist(), strict=True):
                if producer in by_producer:
                    by_producer[producer].add(epoch)
        return by_producer

    def _is_proven_committed(self, number: int, marker_epochs: set[int]) -> bool:
        """Commit transaction *number* if no other can have the COMMIT after missing entries.

        In transaction version 2 a marker has its data's epoch + 1, and the next transaction uses
        that epoch. In versions 0 and 1 a producer keeps its epoch, and a COMMIT of epoch + 1 may
        end a later transaction whose data is missing: so nothing in the log may look like those
        versions. ABORT of epoch + 1 proves nothing, since fencing writes it.
        """
        later = self._later_markers.get(number)
        if later is None or later.outcome != COMMITTED:
            return False
        rows = self.transaction_table.rows
        row, rest = rows[number], None if later.ended < 0 else rows[later.ended]
        epoch = int(row["producer_epoch"])
        if (
            later.epoch != epoch + 1
            or self._has_equal_epochs
            or epoch in marker_epochs
            or (rest is not None and rest["producer_epoch"] != epoch)
        ):
            return False
        if rest is not None and not rest["is_left_out"]:
            rest["is_left_out"] = True
            for name in ("last_offset", "last_position", "last_segment"):
                row[name] = rest[name]
            for name in ("record_count", "size_bytes"):
                row[name] += rest[name]
        row["outcome"], row["evidence"] = COMMITTED, EVIDENCE_CODES["later-marker"]
        row["marker_offset"], row["marker_timestamp"] = later.offset, later.timestamp
        row["has_marker"] = row["has_marker_offset"] = True
        if later.coordinator_epoch is not None:
            row["coordinator_epoch"], row["has_coordinator_epoch"] = later.coordinator_epoch, True
        return True


def _aborts_of(
    producer_ids: Container[int], indexed: Sequence[StructuredRows]
) -> dict[int, list[AbortedTransaction]]:
    """Return the entries of *indexed* of each of *producer_ids*, by producer id."""
    by_producer: dict[int, list[AbortedTransaction]] = {}
    for index in indexed:
        for number, producer in enumerate(index["producer_id"].tolist()):
            if producer in producer_ids:
                entry = AbortedTransaction(*index[number].tolist())
                by_producer.setdefault(producer, []).append(entry)
    return by_producer


def add_open_in_snapshot(
    transaction_table: TransactionTable, snapshot: Iterable[ProducerSnapshotEntry]
) -> dict[int, int]:
    """Add the transactions to *transaction_table* that *snapshot* states as open; return their numbers by producer id."""
    numbers = {}
    stated = {
        producer.producer_id: producer
        for producer in snapshot
        if producer.current_transaction_first_offset >= 0
    }
    for producer_id, producer in stated.items():
        numbers[producer_id] = len(transaction_table.rows)
        row, first = transaction_table.add(1), producer.current_transaction_first_offset
        row["producer_id"], row["producer_epoch"] = producer_id, producer.epoch
        row["first_offset"], row["last_offset"] = first, max(producer.last_offset, first)
        row["begun_before_log"] = True
    return numbers


def _set_last(
    rows: StructuredRows, run_parts: TransactionParts, last_batches: Indices, segment: int
) -> None:
    """Set the columns of *rows* that are of a transaction's last data batch, whose indices are *last_batches*."""
    column = run_parts.entries.column
    rows["last_offset"] = column("last_offset")[last_batches]
    rows["last_position"] = column("position")[last_batches]
    rows["last_segment"] = segment
    rows["producer_epoch"] = column("producer_epoch")[last_batches]


def _values_by_key(unique_keys: Array, values: Array, wanted: Array, otherwise: int) -> Array:
    """Return the value of each *wanted* key among *keys*, which are unique; *otherwise* where there is none."""
    found = np.full(len(wanted), otherwise)
    if len(unique_keys):
        order = np.argsort(unique_keys)
        at = np.minimum(np.searchsorted(unique_keys[order], wanted), len(unique_keys) - 1)
        is_found = unique_keys[order][at] == wanted
        found[is_found] = values[order][at[is_found]]
    return found


def _is_proven_aborted(
    transaction_row: StructuredRows, indexed: Iterable[AbortedTransaction]
) -> bool:
    """Abort the transaction in *transaction_row* if one of its producer's entries in transaction indexes spans it."""
    first, last = int(transaction_row["first_offset"]), int(transaction_row["last_offset"])
    for entry in indexed:
        begins = (
            entry.first_offset <= first
            if transaction_row["is_continuation"]
            else entry.first_offset == first
        )
        if begins and last < entry.last_offset:
            transaction_row["outcome"], transaction_row["evidence"] = (
                ABORTED,
                EVIDENCE_CODES["txnindex"],
            )
            transaction_row["marker_offset"], transaction_row["has_marker_offset"] = (
                entry.last_offset,
                True,
            )
            return True
    return False
