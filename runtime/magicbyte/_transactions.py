"""The outcomes of a partition's transactions, from its entries in order.

Markers in the log decide. They are matched by producer id alone, because a marker's epoch may be
the data's or one more (KIP-890, fencing). Missing entries may include a marker: every transaction
that was open before them is `undecided` unless other evidence proves its outcome. So a
damaged abort marker never turns aborted records into committed ones.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from magicbyte.engines.protocol import Control, Entry
from magicbyte_formats.wire import AbortedTransaction, ControlType, ProducerSnapshotEntry


class LogPosition(NamedTuple):
    """An entry's position in a partition: the segment's number, counted from 0, and the byte."""

    segment: int
    position: int


OUTCOME_OF: dict[int, str] = {ControlType.COMMIT: "committed", ControlType.ABORT: "aborted"}


def outcome_of(control: Control | None) -> str | None:
    """Return the outcome that *control* gives a transaction; None if it ends no transaction."""
    return None if control is None else OUTCOME_OF.get(control.type)


@dataclass(slots=True, eq=False)
class Transaction:
    """A transaction in one partition, or the part of it that missing entries leave."""

    producer_id: int
    producer_epoch: int
    """Epoch of its last data batch in the log."""
    first_offset: int
    last_offset: int
    begun_before_log: bool = False
    first_timestamp: int | None = None
    record_count: int = 0
    size_bytes: int = 0
    first_position: LogPosition | None = None
    last_position: LogPosition | None = None
    """None for a transaction that only the producer snapshot states."""
    is_continuation: bool = False
    """True if earlier data may be missing: lost, or from before a log that has no snapshot."""
    is_uncertain: bool = False
    """True if entries may be missing after its last data, so that its outcome must be proven."""
    outcome: str = "open"
    evidence: str | None = None
    marker_offset: int | None = None
    marker_timestamp: int | None = None
    coordinator_epoch: int | None = None

    def decide(
        self, outcome: str, evidence: str, marker: Entry | None, control: Control | None
    ) -> None:
        self.outcome, self.evidence = outcome, evidence
        if marker is not None:
            self.marker_offset = marker.last_offset
            self.marker_timestamp = marker.max_timestamp
        if control is not None:
            self.coordinator_epoch = control.coordinator_epoch

    def absorb(self, later: "Transaction") -> None:
        """Add the data of *later*, which has turned out to be the rest of this transaction."""
        self.last_offset, self.last_position = later.last_offset, later.last_position
        self.record_count += later.record_count
        self.size_bytes += later.size_bytes


def open_in_snapshot(snapshot: Iterable[ProducerSnapshotEntry]) -> dict[int, Transaction]:
    """Return the transactions that *snapshot* states as open, by producer id."""
    return {
        producer.producer_id: Transaction(
            producer.producer_id,
            producer.epoch,
            first_offset=first,
            last_offset=max(producer.last_offset, first),
            begun_before_log=True,
        )
        for producer in snapshot
        if (first := producer.current_transaction_first_offset) >= 0
    }


@dataclass(slots=True)
class _LaterMarker:
    """The first marker of a producer after missing entries."""

    marker: Entry
    control: Control
    ended: Transaction | None
    """The transaction that was open at the marker."""


class LastData(NamedTuple):
    """The last data batch that a producer has written so far."""

    last_offset: int
    epoch: int


class TransactionData(NamedTuple):
    """Data batches, at least one, of a producer's transaction, with no control batch between them."""

    producer_id: int
    producer_epoch: int
    """Producer epoch of the last batch."""
    first_offset: int
    last_offset: int
    first_timestamp: int | None
    record_count: int
    size_bytes: int
    first_position: LogPosition
    last_position: LogPosition


@dataclass(slots=True)
class TransactionTracker:
    """Follows the transactions of a partition through its sound entries, in order."""

    open: dict[int, Transaction] = field(default_factory=dict)
    uncertain: dict[int, list[Transaction]] = field(default_factory=dict)
    """Transactions that were open where entries may be missing, by producer id."""
    ended: list[Transaction] = field(default_factory=list)
    last_data: dict[int, LastData] = field(default_factory=dict)
    """The last data batch of each producer id."""
    knows_beginning: bool = True
    """True if it is known which transactions were open before the first entry."""
    num_missing_ranges: int = 0
    _later_markers: dict[int, _LaterMarker] = field(default_factory=dict)
    """The next marker after each uncertain transaction, by the id() of the transaction."""
    _marker_epochs: dict[int, set[int]] = field(default_factory=dict)
    _has_equal_epochs: bool = False
    """True if some marker has its data's epoch, as transaction versions 0 and 1 write it."""

    def begin(self, snapshot: Iterable[ProducerSnapshotEntry]) -> None:
        """Start with the transactions that the snapshot at the log's first base states as open."""
        self.open |= open_in_snapshot(snapshot)

    def add_last_data(self, producer_id: int, last_offset: int, epoch: int) -> None:
        """Note the last data batch of a producer, in a transaction or not."""
        self.last_data[producer_id] = LastData(last_offset, epoch)

    def add_data(self, transaction_data: TransactionData) -> None:
        producer = transaction_data.producer_id
        transaction = self.open.get(producer)
        if transaction is None:
            transaction = self.open[producer] = Transaction(
                producer,
                transaction_data.producer_epoch,
                first_offset=transaction_data.first_offset,
                last_offset=transaction_data.last_offset,
                is_continuation=producer in self.uncertain or not self.knows_beginning,
            )
        if transaction.first_position is None:
            transaction.first_position = transaction_data.first_position
            transaction.first_timestamp = transaction_data.first_timestamp
        transaction.last_position = transaction_data.last_position
        transaction.last_offset = transaction_data.last_offset
        transaction.producer_epoch = transaction_data.producer_epoch
        transaction.record_count += transaction_data.record_count
        transaction.size_bytes += transaction_data.size_bytes

    def add_marker(self, entry: Entry, control: Control) -> None:
        """End the open transaction of the producer, if *control* is a commit or an abort."""
        outcome = outcome_of(control)
        if outcome is None or entry.producer_id < 0:
            return
        producer = entry.producer_id
        ended = self.open.pop(producer, None)
        if ended is not None:
            ended.decide(outcome, "marker", entry, control)
            self.ended.append(ended)
            if ended.last_position is not None and ended.producer_epoch == entry.producer_epoch:
                self._has_equal_epochs = True
        self._marker_epochs.setdefault(producer, set()).add(entry.producer_epoch)
        for transaction in self.uncertain.get(producer, ()):
            if id(transaction) not in self._later_markers:
                self._later_markers[id(transaction)] = _LaterMarker(entry, control, ended)

    def mark_uncertain(self, producer_id: int | None = None) -> None:
        """Mark open transactions of *producer_id* (None: all) as uncertain: entries may be missing."""
        self.num_missing_ranges += 1
        for producer in [producer_id] if producer_id is not None else list(self.open):
            transaction = self.open.pop(producer, None)
            if transaction is not None:
                transaction.is_uncertain = True
                self.uncertain.setdefault(producer, []).append(transaction)

    def finish(self, aborted: Iterable[AbortedTransaction]) -> list[Transaction]:
        """Return all transactions by first offset, with an outcome wherever one is proven.

        *aborted* are the entries of transaction indexes that do not contradict the log.
        """
        by_producer: dict[int, list[AbortedTransaction]] = {}
        for entry in aborted:
            by_producer.setdefault(entry.producer_id, []).append(entry)
        for producer, transactions in self.uncertain.items():
            for transaction in transactions:
                if not self._is_proven_committed(transaction) and not _is_proven_aborted(
                    transaction, by_producer.get(producer, [])
                ):
                    transaction.outcome = "undecided"
                self.ended.append(transaction)
        return by_first_offset([*self.ended, *self.open.values()])

    def _is_proven_committed(self, transaction: Transaction) -> bool:
        """Commit *transaction* if no other transaction can have the COMMIT after missing entries.

        In transaction version 2 a marker has its data's epoch + 1, and the next transaction uses
        that epoch. In versions 0 and 1 a producer keeps its epoch, and a COMMIT of epoch + 1 may
        end a later transaction whose data is missing: so nothing in the log may look like those
        versions. ABORT of epoch + 1 proves nothing, since fencing writes it.
        """
        later = self._later_markers.get(id(transaction))
        if later is None or later.control.type != ControlType.COMMIT:
            return False
        epoch, rest = transaction.producer_epoch, later.ended
        if (
            later.marker.producer_epoch != epoch + 1
            or self._has_equal_epochs
            or epoch in self._marker_epochs.get(transaction.producer_id, ())
            or (rest is not None and rest.producer_epoch != epoch)
        ):
            return False
        if rest is not None and rest in self.ended:
            self.ended.remove(rest)
            transaction.absorb(rest)
        transaction.decide("committed", "later-marker", later.marker, later.control)
        return True


def _is_proven_aborted(transaction: Transaction, indexed: Iterable[AbortedTransaction]) -> bool:
    """Abort *transaction* if one of its producer's entries in transaction indexes spans it."""
    for entry in indexed:
        begins = (
            entry.first_offset <= transaction.first_offset
            if transaction.is_continuation
            else entry.first_offset == transaction.first_offset
        )
        if begins and transaction.last_offset < entry.last_offset:
            transaction.decide("aborted", "txnindex", None, None)
            transaction.marker_offset = entry.last_offset
            return True
    return False


def by_first_offset(transactions: Iterable[Transaction]) -> list[Transaction]:
    """Return *transactions* sorted by first offset, then by producer id."""
    return sorted(transactions, key=attrgetter("first_offset", "producer_id"))


def last_stable_offset(transactions: Iterable[Transaction], *, log_start: int, log_end: int) -> int:
    """Return the end of what read_committed reads: the first offset of the oldest open transaction.

    An undecided transaction withholds its own records and does not count here.
    """
    firsts = [txn.first_offset for txn in transactions if txn.outcome == "open"]
    return max(log_start, min([*firsts, log_end]))


@dataclass(frozen=True, slots=True)
class PlannedOutcomes:
    """Outcomes that the plan gives a split because the split's own entries do not show them."""

    at_end: tuple[tuple[int, str], ...] = ()
    """Producer id and outcome of each transaction that is open at the split's end."""
    exceptions: tuple[tuple[int, LogPosition, LogPosition, str], ...] = ()
    """Producer id, first and last position and outcome of each uncertain transaction."""


def outcomes_at(open_transactions: Iterable[Transaction]) -> tuple[tuple[int, str], ...]:
    """Return `PlannedOutcomes.at_end` for a split at whose end *open_transactions* are open."""
    return tuple(sorted((txn.producer_id, txn.outcome) for txn in open_transactions))


def uncertain_outcomes(
    transactions: Iterable[Transaction],
) -> tuple[tuple[int, LogPosition, LogPosition, str], ...]:
    """Return `PlannedOutcomes.exceptions`: transactions whose marker may not be the next one."""
    return tuple(
        (txn.producer_id, txn.first_position, txn.last_position, txn.outcome)
        for txn in transactions
        if txn.is_uncertain and txn.first_position and txn.last_position
    )
