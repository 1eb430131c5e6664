"""Outcomes of transactions from a broker's transaction indexes and from headers.

A transaction index lists the offsets of each aborted transaction whose marker is in its segment,
and headers show which transactions are open at the end of the log: all others are committed. So no
payload is read, and outcomes are known even if a marker is damaged. Indexes are trusted only
where headers do not contradict them.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field
from typing import NamedTuple

import numpy as np

from magicbyte._transactions import outcome_of
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Decoded, Entries, Entry
from magicbyte.errors import ChangedError, FormatError, MissingError, UnreadableError
from magicbyte.logdir.companions import MAX_COMPANION_BYTES, transaction_index
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.reading._growing_rows import GrowingRows, blocks
from magicbyte.reading._transaction_table import TransactionTable
from magicbyte.reading._transaction_tracker import add_open_in_snapshot
from magicbyte.reading.outcomes import NO_OUTCOME, OUTCOME_CODES
from magicbyte.tables.arrays import Codes, Indices, Mask, StructuredRows
from magicbyte_formats.wire import ProducerSnapshotEntry


class UntrustedIndexError(Exception):
    """Raised if transaction indexes cannot be trusted; the message is the reason."""


class AbortedTransactions:
    """Aborted transactions, for lookups of many producers and offsets together."""

    def __init__(self, producers: Numbers, firsts: Numbers, lasts: Numbers) -> None:
        order = np.lexsort((lasts, producers))
        self._ids, ranks = np.unique(producers[order], return_inverse=True)
        self._firsts, self._lasts = firsts[order], lasts[order]
        self._sorted_lasts = np.sort(self._lasts)
        self._keys = self._key(ranks, np.searchsorted(self._sorted_lasts, self._lasts))

    @classmethod
    def of(cls, indexes: Iterable[StructuredRows]) -> "AbortedTransactions":
        """Return the transactions that *indexes* list."""
        tables = list(indexes)
        none = np.zeros(0, np.int64)
        return cls(
            *(
                np.concatenate([none, *(table[name].astype(np.int64) for table in tables)])
                for name in ("producer_id", "first_offset", "last_offset")
            )
        )

    def __len__(self) -> int:
        return len(self._keys)

    def _key(self, producer_ranks: Numbers, offset_ranks: Numbers) -> Numbers:
        """Return numbers that sort by the rank of a producer, then by the rank of an offset."""
        keys: Numbers = producer_ranks.astype(np.int64) * (len(self._lasts) + 1) + offset_ranks
        return keys

    def contain(self, producers: Numbers, offsets: Numbers) -> Mask:
        """Return a mask: True where `offsets[i]` is in an aborted transaction of `producers[i]`."""
        if not len(self):
            return np.zeros(len(producers), np.bool_)
        ranks = np.searchsorted(self._ids, producers)
        is_known = self._ids[np.minimum(ranks, len(self._ids) - 1)] == producers
        keys = self._key(ranks, np.searchsorted(self._sorted_lasts, offsets))
        index = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        is_spanned = (self._firsts[index] <= offsets) & (offsets <= self._lasts[index])
        # The next key may be of another producer.
        is_same_producer = self._keys[index] // (len(self._lasts) + 1) == ranks
        is_aborted: Mask = is_known & is_spanned & is_same_producer
        return is_aborted


def read_index(file: LogFile) -> StructuredRows:
    """Return the entries of the transaction index *file*, with the size it had when it was listed.

    Raises FormatError where it is invalid, ChangedError where it is shorter now.
    """
    data = file.read_small(MAX_COMPANION_BYTES)
    if len(data) < file.size_bytes:
        raise ChangedError(
            f"{len(data)} bytes", f"{file.size_bytes}, as when it was listed", path=file.path
        )
    return transaction_index(data[: file.size_bytes])


def indexes_of(log: PartitionLog) -> dict[int, LogFile]:
    """Return the live transaction indexes of *log*, by base offset."""
    return {
        file.base_offset: file
        for file in log.files
        if file.live and file.kind == "txnindex" and file.base_offset is not None
    }


class OpenAtEnd(NamedTuple):
    """A transaction that continues after the end of a split."""

    producer_id: int
    first_offset: int
    outcome: str


@dataclass(frozen=True, slots=True)
class OutcomeIndex:
    """The index file that gives a split's outcomes, and open transactions; small to pickle."""

    file: LogFile | None
    """The transaction index of the split's segment."""
    open_at_end: tuple[OpenAtEnd, ...]


class IndexedOutcomes:
    """Finds outcomes of entries in a transaction index; `Outcomes` finds them by markers."""

    def __init__(self, index: OutcomeIndex, aborted: AbortedTransactions) -> None:
        self._aborted = aborted
        self._open = index.open_at_end

    @classmethod
    def read(cls, index: OutcomeIndex) -> "IndexedOutcomes":
        """Read the index file of *index*; return an object that finds outcomes in it."""
        tables = [] if index.file is None else [read_index(index.file)]
        return cls(index, AbortedTransactions.of(tables))

    def of(self, entries: Entries, decoded: Decoded) -> Codes:
        """Return the outcome code of each of *entries*; *decoded* holds their control records."""
        producers, offsets = entries.column("producer_id"), entries.column("last_offset")
        is_control = entries.column("is_control") != 0
        is_transactional = entries.column("is_transactional") != 0
        is_data = (producers >= 0) & is_transactional & ~is_control
        codes = np.full(len(entries), NO_OUTCOME, np.int8)
        codes[is_data] = OUTCOME_CODES["committed"]
        codes[is_data & self._aborted.contain(producers, offsets)] = OUTCOME_CODES["aborted"]
        firsts = entries.column("first_offset")
        for txn in self._open:
            is_its_data = is_data & (producers == txn.producer_id) & (firsts >= txn.first_offset)
            codes[is_its_data] = OUTCOME_CODES[txn.outcome]
        for index in np.flatnonzero(is_control & (producers >= 0)).tolist():
            outcome = outcome_of(decoded.result(index).control)
            if outcome is not None:
                codes[index] = OUTCOME_CODES[outcome]
        return codes


MARKERS = np.dtype(
    [
        ("producer_id", np.int64),
        ("offset", np.int64),
        ("first_offset", np.int64),
        ("previous", np.int64),
    ]
)
"""Control batches, each with the first offset of the transaction that it ends, and with the offset of
the producer's control batch before it, -1 if there is none."""

NO_MARKER = np.array([(-1, -1, -1, -1)], MARKERS)


@dataclass(slots=True)
class HeaderTransactions:
    """Follows transactions through headers: which are open, and what each control batch ended."""

    snapshot: InitVar[Iterable[ProducerSnapshotEntry]] = ()
    """The snapshot at the beginning of the log, which states open transactions."""
    transaction_table: TransactionTable = field(default_factory=TransactionTable)
    """The transactions that are open after some entries that were added together, or have been."""
    open: dict[int, int] = field(default_factory=dict)
    """The numbers of the open transactions, by producer id."""
    _markers: GrowingRows = field(default_factory=lambda: GrowingRows(MARKERS))
    """The control batches so far, in order."""
    _last_markers: dict[int, int] = field(default_factory=dict)
    """The offset of the last control batch of each producer."""

    def __post_init__(self, snapshot: Iterable[ProducerSnapshotEntry]) -> None:
        self.open |= add_open_in_snapshot(self.transaction_table, snapshot)

    def open_numbers(self) -> Indices:
        """Return the numbers of the open transactions."""
        return np.fromiter(self.open.values(), np.intp, len(self.open))

    def add(self, entries: Entries, segment_number: int) -> None:
        """Add *entries* of the segment with the number *segment_number*."""
        if not len(entries):
            return
        producers = entries.column("producer_id")
        is_marker = (producers >= 0) & (entries.column("is_control") != 0)
        is_event = is_marker | ((producers >= 0) & (entries.column("is_transactional") != 0))
        events = np.flatnonzero(is_event)
        if not len(events):
            return
        # By producer, and by offset within each.
        events = events[np.argsort(producers[events], kind="stable")]
        ids = producers[events]
        begins = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
        self._add_markers(entries, events, is_marker[events], begins)
        last_markers = np.maximum.reduceat(
            np.where(is_marker[events], np.arange(len(events)), -1), begins
        )
        ends = np.append(begins[1:], len(events))
        for begin, marker, end in zip(
            begins.tolist(), last_markers.tolist(), ends.tolist(), strict=True
        ):
            first = begin
            if marker >= 0:
                ended = self.open.pop(int(ids[begin]), None)
                if ended is not None:
                    # Unless an index lists it.
                    self.transaction_table.rows["outcome"][ended] = OUTCOME_CODES["committed"]
                first = marker + 1
            if first < end:
                self._add_data(
                    entries[int(events[first])], entries[int(events[end - 1])], segment_number
                )

    def _add_markers(
        self, entries: Entries, events: Numbers, is_marker: Mask, begins: Numbers
    ) -> None:
        """Add the control batches of *events*, which are sorted by producer; *begins*: its first ones."""
        markers = np.flatnonzero(is_marker)
        table = np.zeros(len(markers), MARKERS)
        table["producer_id"] = entries.column("producer_id")[events[markers]]
        table["offset"] = entries.column("last_offset")[events[markers]]
        # A transaction begins after the producer's marker before this one.
        own_begins = begins[np.searchsorted(begins, markers, "right") - 1]
        befores = np.append(-1, markers[:-1])
        starts = np.maximum(own_begins, befores + 1)
        # Without data it begins at its marker.
        table["first_offset"] = entries.column("first_offset")[events[starts]]
        is_first = befores < own_begins
        table["previous"][1:] = table["offset"][:-1]
        for row in np.flatnonzero(is_first).tolist():
            producer = int(table["producer_id"][row])
            table["previous"][row] = self._last_markers.get(producer, -1)
            before = self.open.get(producer)
            if before is not None:
                table["first_offset"][row] = self.transaction_table.rows["first_offset"][before]
        lasts = np.flatnonzero(np.append(is_first[1:], True)) if len(markers) else markers
        self._last_markers.update(
            zip(table["producer_id"][lasts].tolist(), table["offset"][lasts].tolist(), strict=True)
        )
        self._markers.add(len(table))[:] = table[np.argsort(events[markers])]

    def _add_data(self, first: Entry, last: Entry, segment_number: int) -> None:
        """Add the data of *first* to *last* to the producer's open transaction, or begin one."""
        number = self.open.get(first.producer_id)
        if number is None:
            number = self.open[first.producer_id] = len(self.transaction_table.rows)
            begun = self.transaction_table.add(1)
            begun["producer_id"], begun["first_offset"] = first.producer_id, first.first_offset
            del begun  # so that the table can grow in place
        row = self.transaction_table.rows[number]
        if not row["has_data"]:
            row["first_segment"], row["first_position"] = segment_number, first.position
            row["first_timestamp"], row["has_data"] = first.base_timestamp, True
        row["last_segment"], row["last_position"] = segment_number, last.position
        row["last_offset"], row["producer_epoch"] = last.last_offset, last.producer_epoch

    def markers_at(self, producers: Numbers, offsets: Numbers) -> StructuredRows:
        """Return the control batch of `producers[i]` at `offsets[i]`, as MARKERS; offset -1: there is none.

        Offsets of the log increase, and so do *offsets*.
        """
        markers = self._markers.rows
        found = np.repeat(NO_MARKER, len(offsets))
        if not len(markers) or not len(offsets):
            return found
        begin, end = (bisect_left(markers["offset"], int(offsets[index])) for index in (0, -1))
        markers = markers[begin : end + 1]
        at = np.searchsorted(markers["offset"], offsets)
        is_found = at < len(markers)
        found[is_found] = markers[at[is_found]]
        found[(found["offset"] != offsets) | (found["producer_id"] != producers)] = NO_MARKER
        return found


@dataclass(frozen=True, slots=True)
class IndexedSegment:
    """The facts of a segment with which its transaction index must agree."""

    base: int
    end: int | None
    """Base offset of the next segment; None for the last one."""
    is_cleaned: bool


def aborted_by_indexes(
    log: PartitionLog, headers: HeaderTransactions, indexed: Sequence[IndexedSegment]
) -> AbortedTransactions:
    """Return the aborted transactions that the indexes of *log* list.

    Raises UntrustedIndexError where one cannot be read, or contradicts the *headers* of a segment.
    """
    files = indexes_of(log)
    tables = []
    for segment in indexed:
        file = files.pop(segment.base, None)
        if file is not None:
            tables.append(_read_trusted(file, headers, segment))
    if files:
        name = min(file.name for file in files.values())
        raise UntrustedIndexError(f"{name} has no segment")
    return AbortedTransactions.of(tables)


def _read_trusted(
    file: LogFile, headers: HeaderTransactions, indexed: IndexedSegment
) -> StructuredRows:
    try:
        table = read_index(file)
    except FormatError as error:
        raise UntrustedIndexError(f"{file.name}: {error.message}") from error
    except UnreadableError as error:
        raise UntrustedIndexError(error.finding.message) from error
    except MissingError as error:  # a live broker has removed it
        raise UntrustedIndexError(f"{file.name} has been removed") from error
    for block in blocks(len(table)):
        _check_entries(table[block], file.name, headers, indexed)
    return table


def _check_entries(
    index_rows: StructuredRows, name: str, headers: HeaderTransactions, indexed: IndexedSegment
) -> None:
    """Raise UntrustedIndexError where one of the entries in *index_rows*, of the index *name*, is wrong."""
    lasts = index_rows["last_offset"].astype(np.int64)
    producers = index_rows["producer_id"].astype(np.int64)
    is_inside = lasts >= indexed.base
    if indexed.end is not None:
        is_inside &= lasts < indexed.end
    markers = headers.markers_at(producers, lasts)
    has_marker = markers["offset"] >= 0
    # Cleaning removes markers whose data is gone, and leaves the index.
    is_right = is_inside & (has_marker | indexed.is_cleaned)
    if not is_right.all():
        wrong = int(np.argmin(is_right))
        raise UntrustedIndexError(
            f"{name} lists an abort of producer {int(producers[wrong])} at offset "
            f"{int(lasts[wrong])}, where the log has no marker of that producer"
        )
    # Cleaning may have removed the first data of a transaction, but adds none before it.
    firsts = index_rows["first_offset"].astype(np.int64)
    is_right = (markers["previous"] < firsts) & (firsts <= markers["first_offset"])
    is_right |= ~has_marker
    if not is_right.all():
        wrong = int(np.argmin(is_right))
        raise UntrustedIndexError(
            f"{name} lists an abort of producer {int(producers[wrong])} from offset "
            f"{int(firsts[wrong])} to {int(lasts[wrong])}, where the log has a transaction from "
            f"offset {int(markers['first_offset'][wrong])}"
        )
