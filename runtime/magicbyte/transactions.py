"""How the transactions of a partition ended, from its entries in order.

The markers in the log decide; they are matched by producer id alone, because a marker's epoch
may be the data's or one more (KIP-890, fencing). Where a hole in the log may have hidden a
marker, what lay open before it is `undecided` unless other evidence is at hand: so a damaged
abort marker never turns aborted rows into committed ones.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from magicbyte.engines.protocol import Control, Entry
from magicbyte_formats.wire import AbortedTransaction, ControlType, ProducerSnapshotEntry


class Place(NamedTuple):
    """Where an entry lies in a partition: the segment's number, counted from 0, and the byte."""

    segment: int
    position: int


OUTCOME_OF: dict[int, str] = {ControlType.COMMIT: "committed", ControlType.ABORT: "aborted"}


def outcome_of(control: Control | None) -> str | None:
    """Return how a transaction ends by *control*; None where that ends none."""
    return None if control is None else OUTCOME_OF.get(control.type)


@dataclass(slots=True, eq=False)
class Transaction:
    """A transaction in one partition, or the part of one that a hole leaves in sight."""

    producer_id: int
    producer_epoch: int
    """Of its last data batch in sight."""
    first_offset: int
    last_offset: int
    begun_before_log: bool = False
    first_timestamp: int | None = None
    record_count: int = 0
    size_bytes: int = 0
    first_place: Place | None = None
    last_place: Place | None = None
    """None for a transaction that the producer snapshot alone knows."""
    is_continuation: bool = False
    """Whether its beginning may lie in a hole, or before the log without a snapshot to say so."""
    is_behind_hole: bool = False
    """Whether a hole lies behind its last data: its end must be proven."""
    outcome: str = "open"
    evidence: str | None = None
    marker_offset: int | None = None
    marker_timestamp: int | None = None
    coordinator_epoch: int | None = None
    marker_place: Place | None = None

    def decide(
        self,
        outcome: str,
        evidence: str,
        marker: Entry | None,
        control: Control | None,
        place: Place | None,
    ) -> None:
        self.outcome, self.evidence, self.marker_place = outcome, evidence, place
        if marker is not None:
            self.marker_offset = marker.last_offset
            self.marker_timestamp = marker.max_timestamp
        if control is not None:
            self.coordinator_epoch = control.coordinator_epoch

    def absorb(self, later: "Transaction") -> None:
        """Take in *later*, which has turned out to be the rest of this one."""
        self.last_offset, self.last_place = later.last_offset, later.last_place
        self.record_count += later.record_count
        self.size_bytes += later.size_bytes


def open_in(snapshot: Iterable[ProducerSnapshotEntry]) -> dict[int, Transaction]:
    """Return what *snapshot* says is open, by producer."""
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
class _Proof:
    """The first marker of a producer behind a hole."""

    marker: Entry
    control: Control
    place: Place
    rest: Transaction | None


@dataclass(slots=True)
class Producer:
    """What the log says of a producer so far."""

    last_offset: int
    epoch: int


class Batches(NamedTuple):
    """Data of a producer's transaction, a batch or more, with no control batch of its between."""

    producer_id: int
    producer_epoch: int
    """That of the last."""
    first_offset: int
    last_offset: int
    first_timestamp: int | None
    record_count: int
    size_bytes: int
    first_place: Place
    last_place: Place


@dataclass(slots=True)
class Tracker:
    """Follows the transactions of a partition through its sound entries and holes, in order."""

    open: dict[int, Transaction] = field(default_factory=dict)
    behind_holes: dict[int, list[Transaction]] = field(default_factory=dict)
    """Per producer, what was open when a hole came, and is not proven to have ended since."""
    ended: list[Transaction] = field(default_factory=list)
    producers: dict[int, Producer] = field(default_factory=dict)
    knows_beginning: bool = True
    """Whether what was open before the first entry is known."""
    num_holes: int = 0
    _proofs: dict[int, _Proof] = field(default_factory=dict)
    """By id() of a transaction behind a hole."""
    _marker_epochs: dict[int, set[int]] = field(default_factory=dict)
    _has_equal_epochs: bool = False
    """Whether a marker in sight has its data's epoch, as transaction versions 0 and 1 write it."""

    def begin(self, snapshot: Iterable[ProducerSnapshotEntry]) -> None:
        """Start with what the producer snapshot at the log's first base says is open."""
        self.open |= open_in(snapshot)

    def data(self, entry: Entry, place: Place) -> None:
        """Take a data batch; one without records, left by cleaning, counts too."""
        if entry.producer_id < 0:
            return
        self.wrote(entry.producer_id, entry.last_offset, entry.producer_epoch)
        if entry.is_transactional:
            self.batches(
                Batches(
                    entry.producer_id,
                    entry.producer_epoch,
                    entry.first_offset,
                    entry.last_offset,
                    entry.base_timestamp,
                    entry.record_count or 0,
                    entry.size_bytes,
                    place,
                    place,
                )
            )

    def wrote(self, producer_id: int, last_offset: int, epoch: int) -> None:
        """Take note of the last data of a producer."""
        self.producers[producer_id] = Producer(last_offset, epoch)

    def batches(self, batches: Batches) -> None:
        """Take data of a transaction, which its producer is known to have written."""
        producer = batches.producer_id
        found = self.open.get(producer)
        if found is None:
            found = self.open[producer] = Transaction(
                producer,
                batches.producer_epoch,
                first_offset=batches.first_offset,
                last_offset=batches.last_offset,
                is_continuation=producer in self.behind_holes or not self.knows_beginning,
            )
        if found.first_place is None:
            found.first_place = batches.first_place
            found.first_timestamp = batches.first_timestamp
        found.last_place = batches.last_place
        found.last_offset = batches.last_offset
        found.producer_epoch = batches.producer_epoch
        found.record_count += batches.record_count
        found.size_bytes += batches.size_bytes

    def marker(self, entry: Entry, control: Control, place: Place) -> None:
        """Take a control batch of a transaction; KRaft's own and unknown types end nothing."""
        outcome = outcome_of(control)
        if outcome is None or entry.producer_id < 0:
            return
        producer = entry.producer_id
        found = self.open.pop(producer, None)
        if found is not None:
            found.decide(outcome, "marker", entry, control, place)
            self.ended.append(found)
            if found.last_place is not None and found.producer_epoch == entry.producer_epoch:
                self._has_equal_epochs = True
        self._marker_epochs.setdefault(producer, set()).add(entry.producer_epoch)
        for waiting in self.behind_holes.get(producer, ()):
            if id(waiting) not in self._proofs:
                self._proofs[id(waiting)] = _Proof(entry, control, place, found)

    def hole(self, producer_id: int | None = None) -> None:
        """Take note that entries may be missing here, of *producer_id* or of anybody."""
        self.num_holes += 1
        for producer in [producer_id] if producer_id is not None else list(self.open):
            found = self.open.pop(producer, None)
            if found is not None:
                found.is_behind_hole = True
                self.behind_holes.setdefault(producer, []).append(found)

    def finish(self, aborted: Iterable[AbortedTransaction]) -> list[Transaction]:
        """Return all transactions in order of their first offset, decided as far as can be.

        *aborted* are the entries of those transaction indexes that do not contradict the log.
        """
        index: dict[int, list[AbortedTransaction]] = {}
        for entry in aborted:
            index.setdefault(entry.producer_id, []).append(entry)
        for producer, waiting in self.behind_holes.items():
            for found in waiting:
                if not self._proven_committed(found) and not _indexed(
                    found, index.get(producer, [])
                ):
                    found.outcome = "undecided"
                self.ended.append(found)
        everything = [*self.ended, *self.open.values()]
        return sorted(everything, key=lambda found: (found.first_offset, found.producer_id))

    def _proven_committed(self, found: Transaction) -> bool:
        """Decide *found* by a COMMIT behind the hole that can be no other transaction's.

        In transaction version 2 a marker has its data's epoch + 1, and the next transaction goes
        on with that. In versions 0 and 1 a producer keeps one epoch, and a COMMIT of epoch + 1
        may end a transaction of a successor whose data the hole swallowed: so nothing in sight
        may look like those versions. ABORT of epoch + 1 proves nothing, fencing writes it.
        """
        proof = self._proofs.get(id(found))
        if proof is None or proof.control.type != ControlType.COMMIT:
            return False
        epoch = found.producer_epoch
        if (
            proof.marker.producer_epoch != epoch + 1
            or self._has_equal_epochs
            or epoch in self._marker_epochs.get(found.producer_id, ())
            or (proof.rest is not None and proof.rest.producer_epoch != epoch)
        ):
            return False
        if proof.rest is not None and proof.rest in self.ended:
            self.ended.remove(proof.rest)
            found.absorb(proof.rest)
        found.decide("committed", "later-marker", proof.marker, proof.control, proof.place)
        return True


def _indexed(found: Transaction, entries: list[AbortedTransaction]) -> bool:
    """Decide *found* by an entry of a transaction index that spans it."""
    for entry in entries:
        begins = (
            entry.first_offset <= found.first_offset
            if found.is_continuation
            else entry.first_offset == found.first_offset
        )
        if begins and found.last_offset < entry.last_offset:
            found.decide("aborted", "txnindex", None, None, None)
            found.marker_offset = entry.last_offset
            return True
    return False


def last_stable_offset(transactions: Iterable[Transaction], *, log_start: int, log_end: int) -> int:
    """Return where read_committed ends: below the first offset of the oldest open transaction.

    An undecided one withholds its own records and does not count here.
    """
    firsts = [found.first_offset for found in transactions if found.outcome == "open"]
    return max(log_start, min([*firsts, log_end]))


@dataclass(frozen=True, slots=True)
class Fates:
    """The outcomes that the entries of a split cannot tell by themselves."""

    at_end: tuple[tuple[int, str], ...] = ()
    """Producer id and outcome of what is open behind the split's last entry."""
    exceptions: tuple[tuple[int, Place, Place, str], ...] = ()
    """Producer id, first and last place and outcome of what a hole cut off from its marker."""


def outcomes_at(open_there: Iterable[Transaction]) -> tuple[tuple[int, str], ...]:
    """Return `Fates.at_end` for a place where *open_there* were open."""
    return tuple(sorted((found.producer_id, found.outcome) for found in open_there))


def cut_off(transactions: Iterable[Transaction]) -> tuple[tuple[int, Place, Place, str], ...]:
    """Return `Fates.exceptions`: those of *transactions* that a hole cut off from their markers."""
    return tuple(
        (found.producer_id, found.first_place, found.last_place, found.outcome)
        for found in transactions
        if found.is_behind_hole and found.first_place and found.last_place
    )
