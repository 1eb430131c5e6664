"""How transactions ended by the indexes that a broker keeps of aborted ones, and headers.

A transaction index says from where to where each aborted transaction of a segment's markers goes,
and headers show which are open at the end: all others are committed. So no payload is read, and
what holes do to markers does not matter. What the headers show must not contradict the indexes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Decoded, Entries, Entry
from magicbyte.errors import ChangedError, FormatError, MissingError
from magicbyte.logdir.companions import MAX_COMPANION_BYTES, transaction_index
from magicbyte.logdir.discover import PartitionLog
from magicbyte.logdir.log_file import LogFile
from magicbyte.logdir.row_files import StructuredRows
from magicbyte.reading.outcomes import NO_OUTCOME, OUTCOME_CODES
from magicbyte.tables.arrays import Codes, Mask
from magicbyte.transactions import Place, Transaction, open_in, outcome_of
from magicbyte_formats.wire import ProducerSnapshotEntry


class DoubtError(Exception):
    """Why indexes are not to be trusted; the markers decide then."""


class Aborted:
    """Aborted transactions, to be asked by producer and offset."""

    def __init__(self, producers: Numbers, firsts: Numbers, lasts: Numbers) -> None:
        order = np.lexsort((lasts, producers))
        self._ids, place = np.unique(producers[order], return_inverse=True)
        self._firsts, self._lasts = firsts[order], lasts[order]
        self._sorted_lasts = np.sort(self._lasts)
        self._keys = self._key(place, np.searchsorted(self._sorted_lasts, self._lasts))

    def __len__(self) -> int:
        return len(self._keys)

    def _key(self, producers: Numbers, ranks: Numbers) -> Numbers:
        """Return what sorts by the number of a producer, and then by the rank of an offset."""
        keys: Numbers = producers.astype(np.int64) * (len(self._lasts) + 1) + ranks
        return keys

    def have(self, producers: Numbers, offsets: Numbers) -> Mask:
        """Return which of *offsets*, written by *producers*, an aborted transaction spans."""
        if not len(self):
            return np.zeros(len(producers), np.bool_)
        place = np.searchsorted(self._ids, producers)
        is_known = self._ids[np.minimum(place, len(self._ids) - 1)] == producers
        ranks = np.searchsorted(self._sorted_lasts, offsets)
        at = np.searchsorted(self._keys, self._key(place, ranks))
        at = np.minimum(at, len(self._keys) - 1)
        is_spanned = is_known & (self._firsts[at] <= offsets) & (offsets <= self._lasts[at])
        # The next key may be of another producer.
        found: Mask = is_spanned & (self._keys[at] // (len(self._lasts) + 1) == place)
        return found


def _aborted(indexes: Iterable[StructuredRows]) -> Aborted:
    tables = list(indexes)
    columns = (
        np.concatenate([np.zeros(0, np.int64), *(table[name].astype(np.int64) for table in tables)])
        for name in ("producer_id", "first_offset", "last_offset")
    )
    return Aborted(*columns)


def read_index(file: LogFile) -> StructuredRows:
    """Return what *file*, a transaction index, holds, as long as it was when it was listed.

    Raises FormatError where it is none, ChangedError where it is shorter by now.
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
    """A transaction that goes on behind the end of a split."""

    producer_id: int
    first_offset: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Listed:
    """Where a split finds what its headers cannot tell: small, whatever the index holds."""

    index: LogFile | None
    """That of the split's segment."""
    open_at_end: tuple[OpenAtEnd, ...]


class ListedOutcomes:
    """The outcomes of entries by an index, as `Outcomes` gives them by markers."""

    def __init__(self, listed: Listed) -> None:
        index = listed.index
        self._aborted = _aborted([] if index is None else [read_index(index)])
        self._open = listed.open_at_end

    def of(self, entries: Entries, decoded: Decoded) -> Codes:
        """Return the codes of the outcomes of *entries*; *decoded* says what their markers are."""
        producers, offsets = entries.column("producer_id"), entries.column("last_offset")
        is_control = entries.column("is_control") != 0
        is_transactional = entries.column("is_transactional") != 0
        is_data = (producers >= 0) & is_transactional & ~is_control
        codes = np.full(len(entries), NO_OUTCOME, np.int8)
        codes[is_data] = OUTCOME_CODES["committed"]
        codes[is_data & self._aborted.have(producers, offsets)] = OUTCOME_CODES["aborted"]
        firsts = entries.column("first_offset")
        for one in self._open:
            is_its = is_data & (producers == one.producer_id)
            codes[is_its & (firsts >= one.first_offset)] = OUTCOME_CODES[one.outcome]
        for number in np.flatnonzero(is_control & (producers >= 0)).tolist():
            outcome = outcome_of(decoded.entry(number).control)
            if outcome is not None:
                codes[number] = OUTCOME_CODES[outcome]
        return codes


@dataclass(slots=True)
class Followed:
    """Follows transactions through headers, in order: what is open, and where markers lie."""

    open: dict[int, Transaction] = field(default_factory=dict)
    _markers: list[tuple[Numbers, Numbers]] = field(default_factory=list)
    """Producer ids and offsets of the markers so far."""

    def begin(self, snapshot: Iterable[ProducerSnapshotEntry]) -> None:
        """Start with what the producer snapshot at the log's first base says is open."""
        self.open |= open_in(snapshot)

    def one(self, entry: Entry, segment: int) -> None:
        """Take an entry of the *segment* of that number."""
        self.take(Entries([entry]), segment)

    def take(self, entries: Entries, segment: int) -> None:
        """Take *entries* of the *segment* of that number."""
        if not len(entries):
            return
        producers = entries.column("producer_id")
        is_marker = (producers >= 0) & (entries.column("is_control") != 0)
        is_ours = is_marker | ((producers >= 0) & (entries.column("is_transactional") != 0))
        events = np.flatnonzero(is_ours)
        if not len(events):
            return
        markers = np.flatnonzero(is_marker)
        self._markers.append((producers[markers], entries.column("last_offset")[markers]))
        # By producer, each one's in order.
        events = events[np.argsort(producers[events], kind="stable")]
        ids = producers[events]
        begins = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
        last_markers = np.maximum.reduceat(
            np.where(is_marker[events], np.arange(len(events)), -1), begins
        )
        ends = np.append(begins[1:], len(events))
        for begin, marker, end in zip(
            begins.tolist(), last_markers.tolist(), ends.tolist(), strict=True
        ):
            first = begin
            producer = int(ids[begin])
            if marker >= 0:
                ended = self.open.pop(producer, None)
                if ended is not None:
                    ended.outcome = "committed"  # unless an index lists it
                first = marker + 1
            if first < end:
                self._data(entries[int(events[first])], entries[int(events[end - 1])], segment)

    def _data(self, first: Entry, last: Entry, segment: int) -> None:
        """Take data of a transaction, from one entry to another."""
        found = self.open.get(first.producer_id)
        if found is None:
            found = self.open[first.producer_id] = Transaction(
                first.producer_id,
                first.producer_epoch,
                first_offset=first.first_offset,
                last_offset=last.last_offset,
                first_timestamp=first.base_timestamp,
            )
        if found.first_place is None:
            found.first_place = Place(segment, first.position)
        found.last_place = Place(segment, last.position)
        found.last_offset, found.producer_epoch = last.last_offset, last.producer_epoch

    def have_marker(self, producers: Numbers, offsets: Numbers) -> Mask:
        """Return which of *offsets* are those of markers of *producers*."""
        nothing = np.zeros(0, np.int64)
        ids = np.concatenate([nothing, *(ids for ids, _ in self._markers)])
        places = np.concatenate([nothing, *(places for _, places in self._markers)])
        order = np.argsort(places, kind="stable")
        ids, places = ids[order], places[order]
        at = np.minimum(np.searchsorted(places, offsets), max(len(places) - 1, 0))
        if not len(places):
            return np.zeros(len(offsets), np.bool_)
        is_there: Mask = (places[at] == offsets) & (ids[at] == producers)
        return is_there


@dataclass(frozen=True, slots=True)
class Spanned:
    """A segment, by what an index of it must agree with."""

    base: int
    end: int | None
    """The base of the next one; None: it is the last."""
    is_cleaned: bool


def settle(
    log: PartitionLog, followed: Followed, segments: Sequence[Spanned]
) -> tuple[Aborted, int]:
    """Return what the indexes of *log* say, and how many transactions they list.

    Raises DoubtError where one cannot be read, or says of a segment what headers contradict.
    """
    files = indexes_of(log)
    tables = []
    for segment in segments:
        file = files.pop(segment.base, None)
        if file is None:
            continue
        try:
            table = read_index(file)
        except FormatError as error:
            raise DoubtError(f"{file.name}: {error.message}") from error
        except MissingError as error:  # a live broker removed it meanwhile
            raise DoubtError(f"{file.name} is gone") from error
        lasts = table["last_offset"].astype(np.int64)
        is_inside = lasts >= segment.base
        if segment.end is not None:
            is_inside &= lasts < segment.end
        is_told = followed.have_marker(table["producer_id"].astype(np.int64), lasts)
        # Cleaning takes markers whose data is gone, and leaves the index.
        are_good = is_inside & (is_told | segment.is_cleaned)
        if not are_good.all():
            number = int(np.argmin(are_good))
            raise DoubtError(
                f"{file.name} lists an abort of producer {int(table['producer_id'][number])} at "
                f"{int(lasts[number])}, where the log has no marker of it"
            )
        tables.append(table)
    if files:
        raise DoubtError(
            f"{min(file.name for file in files.values())} lies here without its segment"
        )
    return _aborted(tables), sum(map(len, tables))


def ends_of(open_there: Iterable[Transaction], aborted: Aborted) -> Iterator[OpenAtEnd]:
    """Yield how transactions end that are open somewhere, by producer.

    Those that no index lists, and that are not open at the end of the log, are committed.
    """
    for one in sorted(open_there, key=lambda found: found.producer_id):
        outcome = one.outcome
        where = (np.array([value], np.int64) for value in (one.producer_id, one.last_offset))
        if outcome != "open" and aborted.have(*where)[0]:
            outcome = "aborted"
        yield OpenAtEnd(one.producer_id, one.first_offset, outcome)
