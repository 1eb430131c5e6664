"""Checks producer snapshots against the log that they were taken of."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from magicbyte._transactions import Transaction
from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.companions import TransactionCompanions
from magicbyte.reading._producer_batches import ProducerBatches
from magicbyte.reading._start_snapshot import StartSnapshot
from magicbyte.reading._transaction_table import EVIDENCE_CODES
from magicbyte.reading._transaction_tracker import TransactionTracker
from magicbyte.reading.outcomes import OUTCOME_CODES
from magicbyte_formats.wire import ProducerSnapshotEntry


class SnapshotCheck:
    """Compares the snapshots of a partition with its entries, in order."""

    def __init__(
        self,
        companions: TransactionCompanions,
        tracker: TransactionTracker,
        is_cleaned: Callable[[], bool],
    ) -> None:
        """*is_cleaned* returns whether cleaning may have removed entries so far."""
        self.companions = companions
        self.tracker = tracker
        self.is_cleaned = is_cleaned
        self.findings: list[Finding] = []
        self.pending = sorted(companions.snapshots)
        """Base offsets of the snapshots that have not been compared."""
        self.start = StartSnapshot(companions.start_snapshot or ())
        self._stated_offsets = sorted(
            producer.last_offset
            for producers in companions.snapshots.values()
            for producer in producers
        )
        """The last offsets of producers that snapshots state."""
        self._writers: dict[int, int] = {}
        """The producer ids that wrote the stated offsets; only of offsets in the log."""
        self._epochs: dict[int, int] = {}
        """The highest epoch of each producer so far, markers included."""

    def begin_segment(self, base: int | None) -> None:
        """Report a missing snapshot at *base*, a segment's base offset, if a broker writes one there."""
        companions = self.companions
        if not companions.are_expected or not base or ("snapshot", base) in companions.file_names:
            return
        if self.tracker.last_data or base == companions.first_base:
            self._add("snapshot-missing", base, f"there is no producer snapshot at {base}")

    def add_entries(self, entries: Entries, producer_batches: ProducerBatches) -> None:
        """Add *entries*, in ascending order, before the tracker; *producer_batches* has them by producer.

        No snapshot's offset is between them. Entries of producers in the first snapshot are compared by
        `add_start_entries`, too.
        """
        firsts, lasts = entries.column("first_offset"), entries.column("last_offset")
        self.compare_up_to(int(firsts[0]))
        low = bisect_left(self._stated_offsets, int(firsts[0]))
        stated = self._stated_offsets[low : bisect_right(self._stated_offsets, int(lasts[-1]))]
        if stated:
            indices = np.searchsorted(lasts, stated)
            writers = entries.column("producer_id")[indices].tolist()
            for offset, first, writer in zip(
                stated, firsts[indices].tolist(), writers, strict=True
            ):
                if first <= offset:
                    self._writers[offset] = writer
        if producer_batches:
            for producer_id, epoch in producer_batches.highest_epochs():
                self._epochs[producer_id] = max(self._epochs.get(producer_id, epoch), epoch)

    def add_start_entries(self, producer_batches: ProducerBatches, whole_until: int) -> None:
        """Compare the entries that were added last with the snapshot at the beginning of the log.

        No batch can be missing before those up to the index *whole_until*.
        """
        awaited = self.start.awaited
        if not awaited:
            return
        entries = producer_batches.entries
        indices = {index for one, index in producer_batches.first_data() if one in awaited}
        controls = np.flatnonzero(producer_batches.is_control)
        producers = entries.column("producer_id")[controls].tolist()
        for index, producer_id in zip(controls.tolist(), producers, strict=True):
            if producer_id in awaited:
                indices.add(index)
        for index in sorted(indices):
            self.start.add_entry(entries[index], is_whole=index <= whole_until)

    def compare_up_to(self, offset: int) -> None:
        """Compare the snapshots at or below *offset* with the log up to there."""
        while self.pending and self.pending[0] <= offset:
            base = self.pending.pop(0)
            # Nothing to compare with before the first segment, and after missing entries.
            if base > self.companions.first_base and not self.tracker.num_missing_ranges:
                self._compare_open_transactions(base)
                self._compare_producers(base)

    def _compare_open_transactions(self, base: int) -> None:
        """Report the open transactions of the log that the snapshot at *base* lacks."""
        stated = {
            producer.producer_id: producer.current_transaction_first_offset
            for producer in self.companions.snapshots[base]
            if producer.current_transaction_first_offset >= 0
        }
        for transaction in self._open_transactions():
            if _is_only_stated(transaction):
                continue
            producer_id = transaction.producer_id
            first = stated.get(producer_id)
            # Cleaning may have removed the first batches of a transaction.
            if first is None or first > transaction.first_offset:
                self._add(
                    "snapshot-mismatch",
                    base,
                    f"producer {producer_id} has a transaction open from {transaction.first_offset}",
                    "none" if first is None else str(first),
                    str(transaction.first_offset),
                )

    def _compare_producers(self, base: int) -> None:
        """Report the fields of producers in the snapshot at *base* that the log contradicts."""
        snapshot, tracker = self.companions.snapshots[base], self.tracker
        is_whole = tracker.knows_beginning and not self.is_cleaned()
        first_snapshot = self.companions.snapshots.get(self.companions.first_base, ())
        known_ids = {p.producer_id for p in first_snapshot} | self._epochs.keys()
        # A snapshot may lack producers that have expired, and name some from before the log; but
        # the older ones expire first, so a snapshot with both is of another log.
        lacks_some = bool(tracker.last_data.keys() - {p.producer_id for p in snapshot})
        for producer in snapshot:
            is_known = producer.producer_id in known_ids or not (is_whole or lacks_some)
            for message, found, expected in self._contradictions(producer, is_known, is_whole):
                self._add("snapshot-mismatch", base, message, found, expected)

    def _contradictions(
        self, producer: ProducerSnapshotEntry, is_known: bool, is_whole: bool
    ) -> Iterator[tuple[str, str, str]]:
        """Yield message, stated value and value in the log of each contradiction."""
        producer_id, stated_offset = producer.producer_id, producer.last_offset
        name = f"producer {producer_id}"
        last_data = self.tracker.last_data.get(producer_id)
        writer = self._writers.get(stated_offset, producer_id)
        if writer != producer_id:
            yield (
                f"{name} did not write offset {stated_offset}, another producer did",
                name,
                f"producer {writer}",
            )
        elif not is_known:
            yield f"{name} is not in the log", name, "no such producer"
        elif last_data is not None and 0 <= stated_offset != last_data.last_offset:
            yield (
                f"the last offset of {name} is {last_data.last_offset}",
                str(stated_offset),
                str(last_data.last_offset),
            )
        epoch = self._epochs.get(producer_id, producer.epoch)
        # Cleaning may have removed the marker that raised the epoch.
        if producer.epoch < epoch or (producer.epoch > epoch and not self.is_cleaned()):
            yield f"the epoch of {name} is {epoch}", str(producer.epoch), str(epoch)
        first = producer.current_transaction_first_offset
        if first >= 0 and is_whole and producer_id not in self.tracker.open:
            yield f"{name} has no open transaction", str(first), "none"

    def judge_start(self) -> None:
        """Check the first snapshot, and drop its open transactions if it cannot be trusted.

        It is trusted if nothing contradicts it, and every later one states its open transactions.
        """
        companions, start = self.companions, self.start
        first = companions.first_base
        disputed = {
            finding.file for finding in self.findings if finding.code == "snapshot-mismatch"
        }
        start.add_snapshots(
            {
                base: snapshot
                for base, snapshot in companions.snapshots.items()
                if base > first and companions.file_names["snapshot", base] not in disputed
            }
        )
        for finding in start.findings:
            self._add(finding.code, first, finding.message, finding.found, finding.expected)
        for transaction in self._open_transactions():
            if _is_only_stated(transaction) and (
                start.findings or not self._is_confirmed(transaction)
            ):
                producer_id = transaction.producer_id
                number = self.tracker.open.pop(producer_id)
                self.tracker.transaction_table.rows["is_left_out"][number] = True
                self._add(
                    "snapshot-transaction-ignored",
                    first,
                    f"the open transaction of producer {producer_id} from "
                    f"{transaction.first_offset} is ignored: this snapshot is wrong elsewhere, or "
                    f"a later one does not state it",
                    str(transaction.first_offset),
                )
        has_findings = any(
            finding.file == companions.file_names.get(("snapshot", first))
            for finding in self.findings
        )
        if start.is_unconfirmed and not has_findings:
            self._add(
                "snapshot-unconfirmed",
                first,
                "the log has none of the producers of its first snapshot: they have expired, or "
                "the snapshot is another log's",
                ", ".join(f"producer {p.producer_id}" for p in start.producers[:8]),
            )

    def doubt_open(self, bases: Sequence[int], next_offset: int | None) -> None:
        """Make open transactions of the log undecided that a later snapshot does not state as open.

        *bases* are the segments' base offsets, *next_offset* is the offset after the last entry.
        """
        opened, rows = self._open_transactions(), self.tracker.transaction_table.rows
        for _, transaction in unstated_open(self.companions, opened, bases, next_offset):
            number = self.tracker.open[transaction.producer_id]
            rows["outcome"][number] = OUTCOME_CODES["undecided"]
            rows["evidence"][number] = EVIDENCE_CODES["snapshot"]
            rows["is_uncertain"][number] = True

    def _open_transactions(self) -> list[Transaction]:
        return self.tracker.transaction_table.at(self.tracker.open_numbers())

    def _is_confirmed(self, transaction: Transaction) -> bool:
        """Return whether every later snapshot states the open *transaction*, too."""
        key = transaction.producer_id, transaction.first_offset
        return all(
            key in {(p.producer_id, p.current_transaction_first_offset) for p in snapshot}
            for base, snapshot in self.companions.snapshots.items()
            if base > self.companions.first_base
        )

    def _add(
        self,
        code: str,
        base: int,
        message: str,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        self.findings.append(
            self.companions.finding(code, "snapshot", base, message, found=found, expected=expected)
        )


def _is_only_stated(transaction: Transaction) -> bool:
    """Return whether only the snapshot at the log's beginning shows the open *transaction*."""
    return transaction.begun_before_log and transaction.last_position is None


def unstated_open(
    companions: TransactionCompanions,
    open_transactions: Collection[Transaction],
    bases: Sequence[int],
    next_offset: int | None,
) -> Iterator[tuple[int, Transaction]]:
    """Yield the *open_transactions* that a later snapshot does not state as open, with its base offset.

    A broker that starts from that snapshot does not wait for them, and a read of a range from
    there cannot know them. It ignores a snapshot above *next_offset*, the offset after the last
    entry, and so does this, unless a segment begins there. *bases* are the segments' base offsets.
    """
    first = companions.first_base
    for base, producers in companions.snapshots.items():
        is_above = next_offset is None or base > next_offset
        if base <= first or (is_above and base not in bases):
            continue
        stated = {p.producer_id for p in producers if p.current_transaction_first_offset >= 0}
        num_segments = bisect_left(bases, base)
        for transaction in open_transactions:
            position = transaction.first_position
            if position is None or transaction.producer_id in stated:
                continue
            is_within = num_segments == position.segment + 1 and base not in bases
            if position.segment < num_segments and (
                not is_within or transaction.first_offset < base
            ):
                yield base, transaction
