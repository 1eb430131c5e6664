"""Producer snapshots and transaction indexes beside the log that they were made from.

The log decides. What contradicts it is reported, and an index that does is no evidence.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from magicbyte.engines.protocol import Control, Entries, Entry
from magicbyte.errors import FormatError, MissingError
from magicbyte.findings import Finding
from magicbyte.logdir.companions import (
    MAX_COMPANION_BYTES,
    read_producer_snapshot,
    read_transaction_index,
)
from magicbyte.logdir.discover import PartitionLog
from magicbyte.reading.producer_batches import Producers
from magicbyte.reading.start_snapshot import Beginning
from magicbyte.transactions import Tracker, Transaction
from magicbyte_formats.wire import AbortedTransaction, ControlType, ProducerSnapshotEntry


@dataclass(slots=True)
class Companions:
    """The producer snapshots and transaction indexes of a partition, as far as they can be read."""

    snapshots: dict[int, list[ProducerSnapshotEntry]] = field(default_factory=dict)
    indexes: dict[int, list[AbortedTransaction]] = field(default_factory=dict)
    present_snapshots: set[int] = field(default_factory=set)
    present_indexes: set[int] = field(default_factory=set)
    names: dict[tuple[str, int], str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def read_companions(
    log: PartitionLog, kinds: Collection[str] = ("snapshot", "txnindex")
) -> Companions:
    """Return the companions of *log* of some *kinds*; those that cannot be read become findings."""
    out = Companions()
    for file in log.files:
        if not file.live or file.base_offset is None or file.kind not in kinds:
            continue
        out.names[file.kind, file.base_offset] = file.name
        is_snapshot = file.kind == "snapshot"
        (out.present_snapshots if is_snapshot else out.present_indexes).add(file.base_offset)
        try:
            data = file.read_small(MAX_COMPANION_BYTES)
            if is_snapshot:
                producers = read_producer_snapshot(data)
                for producer in producers:
                    _check_below(producer, file.base_offset)
                out.snapshots[file.base_offset] = producers
            else:
                out.indexes[file.base_offset] = read_transaction_index(data)
        except FormatError as error:
            out.findings.append(error.finding.at(log.topic, log.partition, file.name))
        except MissingError:
            continue  # a live broker removed it meanwhile
    return out


def _check_below(producer: ProducerSnapshotEntry, base: int) -> None:
    """Raise FormatError where a snapshot at *base* knows of an offset that lies above."""
    for name in ("last_offset", "current_transaction_first_offset"):
        offset = getattr(producer, name)
        if offset >= base:
            raise FormatError(
                Finding(
                    code="snapshot-mismatch",
                    message=f"producer {producer.producer_id}: {name} {offset} "
                    f"in the snapshot at {base}",
                    position=0,
                    field=name,
                    found=str(offset),
                    expected=f"below {base}",
                )
            )


class CrossCheck:
    """Follows a pass over a log, and compares its companions with what the log says."""

    def __init__(
        self,
        log: PartitionLog,
        companions: Companions,
        tracker: Tracker,
        *,
        first_base: int | None,
        is_cleaned: Callable[[], bool],
    ) -> None:
        """*is_cleaned* tells whether cleaning may have taken entries out of the log."""
        self.log = log
        self.companions = companions
        self.tracker = tracker
        self.first_base = first_base
        self.is_cleaned = is_cleaned
        self.findings: list[Finding] = []
        self.belongs = bool(log.folder) and log.topic is not None
        """Whether companions would lie beside the segments at all."""
        self.aborts: list[tuple[int, Entry, Transaction | None]] = []
        """The abort markers in sight: segment number, entry, and the transaction each ended."""
        self.stable_offsets: dict[tuple[int, int], int] = {}
        """By producer and offset of an abort marker, the last stable offset when it was written."""
        self.snapshots_to_come = sorted(companions.snapshots)
        self.stated_offsets = sorted(
            producer.last_offset
            for producers in companions.snapshots.values()
            for producer in producers
        )
        """The last offsets that snapshots state of producers."""
        self.writers: dict[int, int] = {}
        """Of those in sight, the producer that really wrote there."""
        self.epochs: dict[int, int] = {}
        """The highest epoch of each producer so far, markers included."""
        self.missing: list[tuple[int, int]] = []
        """Ranges of offsets that holes swallowed."""
        self.beginning = Beginning(companions.snapshots.get(first_base, ()) if first_base else ())

    def entry(self, entry: Entry) -> None:
        """Take note of *entry*, before the tracker does."""
        self.compare_snapshots(entry.first_offset)
        self.begins(entry)
        at = bisect_left(self.stated_offsets, entry.first_offset)
        while at < len(self.stated_offsets) and self.stated_offsets[at] <= entry.last_offset:
            self.writers[self.stated_offsets[at]] = entry.producer_id
            at += 1
        if entry.producer_id >= 0:
            self._raise_epoch(entry.producer_id, entry.producer_epoch)

    def run(self, entries: Entries, producers: Producers) -> None:
        """Take note of *entries* that go on without a gap, all at once, before the tracker does.

        Snapshots lie at most before the first of them. `begins` is for each that it may concern.
        """
        first, last = entries.column("first_offset"), entries.column("last_offset")
        self.compare_snapshots(int(first[0]))
        low = bisect_left(self.stated_offsets, int(first[0]))
        stated = self.stated_offsets[low : bisect_right(self.stated_offsets, int(last[-1]))]
        if stated:
            writers = entries.column("producer_id")[np.searchsorted(last, stated)]
            self.writers.update(zip(stated, writers.tolist(), strict=True))
        if producers:
            for producer_id, epoch in producers.highest_epochs():
                self._raise_epoch(producer_id, epoch)

    def begins(self, entry: Entry) -> None:
        """Compare *entry* with the snapshot at the log's beginning."""
        self.beginning.entry(entry, is_whole=self._is_whole)

    def _raise_epoch(self, producer_id: int, epoch: int) -> None:
        self.epochs[producer_id] = max(self.epochs.get(producer_id, epoch), epoch)

    def marker(
        self, segment: int, entry: Entry, control: Control, ended: Transaction | None
    ) -> None:
        """Take note of a marker, after the tracker did; *ended* was open when it came."""
        if control.type == ControlType.ABORT:
            self.aborts.append((segment, entry, ended))
            firsts = [found.first_offset for found in self.tracker.open.values()]
            stable = min([*firsts, entry.last_offset + 1])
            self.stable_offsets[entry.producer_id, entry.last_offset] = stable

    def _is_whole(self) -> bool:
        """Return whether no entry is known to be missing so far."""
        return not self.tracker.num_holes and not self.is_cleaned()

    def _find(
        self,
        code: str,
        kind: str,
        base: int,
        message: str,
        *,
        found: str | None = None,
        expected: str | None = None,
    ) -> None:
        self.findings.append(
            Finding(
                code=code,
                message=message,
                topic=self.log.topic,
                partition=self.log.partition,
                file=self._name(kind, base),
                found=found,
                expected=expected,
            )
        )

    def _name(self, kind: str, base: int) -> str:
        return self.companions.names.get((kind, base), f"{base:020}.{kind}")

    def miss_snapshot(self, base: int | None) -> None:
        """Report that there is no producer snapshot at the segment's *base*, where one belongs."""
        if not self.belongs or not base or base in self.companions.present_snapshots:
            return
        if self.tracker.producers or base == self.first_base:
            self._find(
                "snapshot-missing", "snapshot", base, f"there is no producer snapshot at {base}"
            )

    def compare_snapshots(self, offset: int) -> None:
        """Compare the snapshots at or below *offset* with what the log says up to there."""
        while self.snapshots_to_come and self.snapshots_to_come[0] <= offset:
            base = self.snapshots_to_come.pop(0)
            if base <= (self.first_base or 0) or self.tracker.num_holes:
                continue  # nothing in sight to compare it with
            for message, found, expected in self._differences(base):
                self._find(
                    "snapshot-mismatch", "snapshot", base, message, found=found, expected=expected
                )

    def _differences(self, base: int) -> Iterator[tuple[str, str, str]]:
        """Yield where the snapshot at *base* and the log before it cannot both be right."""
        tracker, snapshot = self.tracker, self.companions.snapshots[base]
        stated = {
            producer.producer_id: producer.current_transaction_first_offset
            for producer in snapshot
            if producer.current_transaction_first_offset >= 0
        }
        for producer_id, found in tracker.open.items():
            if _is_hearsay(found):
                continue
            first = stated.get(producer_id)
            # Cleaning may have taken the first batches of a transaction.
            if first is None or first > found.first_offset:
                yield (
                    f"producer {producer_id} has a transaction open from {found.first_offset}",
                    "none" if first is None else str(first),
                    str(found.first_offset),
                )
        is_whole = tracker.knows_beginning and not self.is_cleaned()
        start = self.first_base or 0
        known_ids = {p.producer_id for p in self.companions.snapshots.get(start, ())}
        known_ids |= self.epochs.keys()
        # A snapshot may lack producers that have expired, and name some from before the log; but
        # the older ones expire first, so both at once is another log's.
        is_missing_some = bool(set(tracker.producers) - {p.producer_id for p in snapshot})
        for producer in snapshot:
            known = tracker.producers.get(producer.producer_id)
            name = f"producer {producer.producer_id}"
            first, last = producer.current_transaction_first_offset, producer.last_offset
            if self.writers.get(last, producer.producer_id) != producer.producer_id:
                yield (
                    f"{name} did not write offset {last}, another producer did",
                    name,
                    f"producer {self.writers[last]}",
                )
            elif producer.producer_id not in known_ids and (is_whole or is_missing_some):
                yield f"{name} is not in the log", name, "no such producer"
            elif known is not None and last >= 0 and last != known.last_offset:
                yield (
                    f"the last offset of {name} is {known.last_offset}",
                    str(last),
                    str(known.last_offset),
                )
            epoch = self.epochs.get(producer.producer_id, producer.epoch)
            # Cleaning may have taken the marker that raised it.
            if producer.epoch < epoch or (producer.epoch > epoch and not self.is_cleaned()):
                yield f"the epoch of {name} is {epoch}", str(producer.epoch), str(epoch)
            if first >= 0 and is_whole and producer.producer_id not in tracker.open:
                yield f"{name} has no open transaction", str(first), "none"

    def judge_beginning(self) -> None:
        """Judge the first snapshot, and ignore what it calls open where it cannot be believed.

        It is believed where nothing contradicts it, and every later one names what it calls open.
        """
        first = self.first_base or 0
        disputed = {found.file for found in self.findings if found.code == "snapshot-mismatch"}
        later = {
            base: snapshot
            for base, snapshot in self.companions.snapshots.items()
            if base > first and self.companions.names["snapshot", base] not in disputed
        }
        self.beginning.later(later)
        for finding in self.beginning.findings:
            name = self._name("snapshot", first)
            self.findings.append(finding.at(self.log.topic, self.log.partition, name))
        for producer_id, transaction in list(self.tracker.open.items()):
            if _is_hearsay(transaction) and (
                self.beginning.findings or not self._is_confirmed(transaction)
            ):
                del self.tracker.open[producer_id]
                self._find(
                    "snapshot-transaction-ignored",
                    "snapshot",
                    first,
                    f"the transaction of producer {producer_id} from {transaction.first_offset} "
                    f"does not count: this snapshot is wrong elsewhere, or a later one does not "
                    f"name it",
                    found=str(transaction.first_offset),
                )
        is_known = any(
            found.file == self.companions.names.get(("snapshot", first)) for found in self.findings
        )
        if self.beginning.is_unconfirmed and not is_known:
            self._find(
                "snapshot-unconfirmed",
                "snapshot",
                first,
                "the log knows none of the producers of its first snapshot: they have expired, "
                "or it is another log's",
                found=", ".join(f"producer {p.producer_id}" for p in self.beginning.stated[:8]),
            )

    def _is_confirmed(self, transaction: Transaction) -> bool:
        """Return whether every later snapshot names what the first one calls open."""
        first = transaction.producer_id, transaction.first_offset
        return all(
            first in {(p.producer_id, p.current_transaction_first_offset) for p in snapshot}
            for base, snapshot in self.companions.snapshots.items()
            if base > (self.first_base or 0)
        )

    # Transaction indexes

    def trusted_index_entries(self, bases: Sequence[int]) -> list[AbortedTransaction]:
        """Return the entries of the indexes that do not contradict the log; report the others.

        *bases* are those of the segments that were read.
        """
        trusted: list[AbortedTransaction] = []
        for base, entries in self.companions.indexes.items():
            stop = min((other for other in bases if other > base), default=None)
            number = bases.index(base) if base in bases else None
            wrong = list(self._contradictions(number, base, stop, entries))
            for message, found, expected in wrong:
                self._find(
                    "txnindex-mismatch", "txnindex", base, message, found=found, expected=expected
                )
            if not wrong:
                trusted.extend(entries)
        for number, base in enumerate(bases):
            has_aborts = self.belongs and any(
                n == number and found is not None for n, _, found in self.aborts
            )
            if has_aborts and base not in self.companions.present_indexes:
                self._find(
                    "txnindex-missing",
                    "txnindex",
                    base,
                    f"transactions were aborted here, and there is no {base:020}.txnindex",
                )
        return trusted

    def _contradictions(
        self,
        number: int | None,
        base: int,
        stop: int | None,
        entries: list[AbortedTransaction],
    ) -> Iterator[tuple[str, str, str]]:
        markers = {
            (marker.producer_id, marker.last_offset): found
            for n, marker, found in self.aborts
            if n == number
        }
        is_cleaned = number is None or self.is_cleaned()
        listed = set()
        for entry in entries:
            key = entry.producer_id, entry.last_offset
            name = f"producer {entry.producer_id}, {entry.first_offset} to {entry.last_offset}"
            if entry.last_offset < base or (stop is not None and entry.last_offset >= stop):
                yield f"{name}: outside the segment", str(entry.last_offset), f"{base} to {stop}"
            elif key in markers:
                listed.add(key)
                found = markers[key]
                if found is None:
                    continue  # its data is gone, or lies before the log
                may_be_lower = found.is_continuation or is_cleaned
                if entry.first_offset != found.first_offset and not (
                    may_be_lower and entry.first_offset < found.first_offset
                ):
                    yield (
                        f"{name}: its first offset is {found.first_offset}",
                        str(entry.first_offset),
                        str(found.first_offset),
                    )
                stable = self.stable_offsets[key]
                is_known = self.tracker.knows_beginning and not self.tracker.num_holes
                if is_known and not is_cleaned and entry.last_stable_offset != stable:
                    yield (
                        f"{name}: the last stable offset was {stable}",
                        str(entry.last_stable_offset),
                        str(stable),
                    )
            elif not is_cleaned and not self._is_missing(entry.last_offset):
                yield f"{name}: there is no such abort marker", name, "an abort marker"
        for key, found in markers.items():
            if key not in listed and found is not None and found.last_place is not None:
                yield (
                    f"the abort marker of producer {key[0]} at {key[1]} is not listed",
                    "no entry",
                    f"producer {key[0]}, {found.first_offset} to {key[1]}",
                )

    def _is_missing(self, offset: int) -> bool:
        """Return whether *offset* lies in a hole, so that nothing in sight speaks against it."""
        return any(low <= offset < high for low, high in self.missing)


def _is_hearsay(transaction: Transaction) -> bool:
    """Return whether only the snapshot at the log's beginning knows the open *transaction*."""
    return transaction.begun_before_log and transaction.last_place is None
