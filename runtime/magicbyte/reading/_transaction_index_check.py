"""Checks transaction indexes against the markers in the log."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Entries
from magicbyte.findings import Finding
from magicbyte.logdir.companions import TransactionCompanions
from magicbyte.reading._growing_rows import GrowingRows, blocks
from magicbyte.reading._run_transactions import RunTransactions
from magicbyte.reading._transaction_tracker import TransactionTracker
from magicbyte.tables.arrays import Indices, Mask, StructuredRows
from magicbyte_formats.wire import AbortedTransaction

Contradiction = tuple[str, str, str]
"""Message, value found in the index, and value expected by the log."""

ABORTS = np.dtype(
    [
        ("producer_id", np.int64),
        ("offset", np.int64),
        ("stable_offset", np.int64),
        ("ended", np.int32),
    ]
)
"""Abort markers, each with the last stable offset when it was written, and with the number of the transaction
that it has ended; -1 where there is none."""


class TransactionIndexCheck:
    """Collects the abort markers of a log in order, and then judges its transaction indexes."""

    def __init__(
        self,
        companions: TransactionCompanions,
        tracker: TransactionTracker,
        is_cleaned: Callable[[], bool],
    ) -> None:
        """*is_cleaned* returns whether cleaning may have removed entries."""
        self._companions = companions
        self._tracker = tracker
        self._is_cleaned = is_cleaned
        self._aborts = GrowingRows(ABORTS)
        """The abort markers that an index may list."""
        self._of_segments: dict[int, slice] = {}
        """The range of the abort markers of each segment, by its number."""
        self._with_aborts: set[int] = set()
        """Numbers of the segments in which a marker has aborted a transaction."""
        self.missing: list[tuple[int, int]] = []
        """Half-open ranges of offsets that are missing in the log."""

    def add_run(
        self,
        segment_number: int,
        run_entries: Entries,
        aborts: Indices,
        run_transactions: RunTransactions,
    ) -> None:
        """Add the abort markers of *run_entries*, given by their indices, that have ended *run_transactions*."""
        ended = run_transactions.ended[aborts]
        if (ended >= 0).any():
            self._with_aborts.add(segment_number)
        if not self._companions.indexes:
            return
        begin = self._of_segments.get(segment_number, slice(len(self._aborts), 0)).start
        markers = self._aborts.add(len(aborts))
        self._of_segments[segment_number] = slice(begin, len(self._aborts))
        markers["producer_id"] = run_entries.column("producer_id")[aborts]
        markers["offset"] = offsets = run_entries.column("last_offset")[aborts]
        markers["ended"] = ended
        firsts = self._tracker.transaction_table.rows["first_offset"]
        lowest, is_open = run_transactions.first_open(firsts, aborts)
        markers["stable_offset"] = np.where(is_open & (lowest <= offsets), lowest, offsets + 1)

    def judge(self, bases: Sequence[int]) -> tuple[list[StructuredRows], list[Finding]]:
        """Return the entries of indexes that agree with the log, and findings about the others.

        *bases* are the base offsets of the segments that were read.
        """
        trusted: list[StructuredRows] = []
        findings: list[Finding] = []
        companions = self._companions
        for base, entries in companions.indexes.items():
            number = bases.index(base) if base in bases else None
            end = min((other for other in bases if other > base), default=None)
            of_segment = slice(0) if number is None else self._of_segments.get(number, slice(0))
            indexed = _IndexedMarkers.of(entries, self._aborts.rows[of_segment])
            is_cleaned = number is None or self._is_cleaned()
            contradictions = [
                *self._wrong_entries(indexed, base, end, is_cleaned=is_cleaned),
                *self._missing_entries(indexed),
            ]
            findings += [
                companions.finding(
                    "txnindex-mismatch", "txnindex", base, message, found=found, expected=expected
                )
                for message, found, expected in contradictions
            ]
            if not contradictions:
                trusted.append(entries)
        for number, base in enumerate(bases):
            is_missing = ("txnindex", base) not in companions.file_names
            if number in self._with_aborts and is_missing and companions.are_expected:
                findings.append(
                    companions.finding(
                        "txnindex-missing",
                        "txnindex",
                        base,
                        f"transactions were aborted in this segment, but there is no "
                        f"{base:020}.txnindex",
                    )
                )
        return trusted, findings

    def _wrong_entries(
        self, indexed: "_IndexedMarkers", base: int, end: int | None, *, is_cleaned: bool
    ) -> Iterator[Contradiction]:
        """Yield the entries of an index that the log contradicts."""
        lasts = indexed.lasts
        is_outside = lasts < base
        if end is not None:
            is_outside |= lasts >= end
        is_wrong = is_outside.copy()
        has_marker = indexed.numbers >= 0
        if not is_cleaned:
            is_wrong[~has_marker] |= ~self._are_missing(lasts[~has_marker])
        # A marker that ended no transaction: its data is gone, or is from before the log.
        wrong_first, wrong_stable = self._wrong_offsets(indexed, is_cleaned)
        is_wrong |= wrong_first | wrong_stable
        rows = self._tracker.transaction_table.rows
        for index in np.flatnonzero(is_wrong).tolist():
            entry = AbortedTransaction(*indexed.entries[index].tolist())
            name = f"producer {entry.producer_id}, {entry.first_offset} to {entry.last_offset}"
            marker = indexed.markers[indexed.numbers[index]] if has_marker[index] else None
            if is_outside[index]:
                yield f"{name}: outside the segment", str(entry.last_offset), f"{base} to {end}"
                continue
            if marker is None:
                yield f"{name}: there is no such abort marker", name, "an abort marker"
                continue
            if wrong_first[index]:
                first = int(rows["first_offset"][marker["ended"]])
                found = str(entry.first_offset)
                yield f"{name}: its first offset is {first}", found, str(first)
            if wrong_stable[index]:
                stable, found = int(marker["stable_offset"]), str(entry.last_stable_offset)
                yield f"{name}: the last stable offset was {stable}", found, str(stable)

    def _wrong_offsets(self, indexed: "_IndexedMarkers", is_cleaned: bool) -> tuple[Mask, Mask]:
        """Return masks of the entries whose first offset, and whose last stable offset, is wrong."""
        wrong_first, wrong_stable = np.zeros((2, len(indexed.entries)), np.bool_)
        rows, tracker = self._tracker.transaction_table.rows, self._tracker
        is_stable_known = tracker.knows_beginning and not tracker.num_missing_ranges
        for block in blocks(len(indexed.entries)):
            numbers = indexed.numbers[block]
            indices = np.flatnonzero(numbers >= 0)
            markers = indexed.markers[numbers[indices]]
            has_ended = markers["ended"] >= 0
            indices, markers = indices[has_ended], markers[has_ended]
            entries, ended = indexed.entries[block][indices], rows[markers["ended"]]
            firsts, right_firsts = entries["first_offset"], ended["first_offset"]
            may_be_lower = ended["is_continuation"] | is_cleaned
            is_wrong = (firsts != right_firsts) & ~(may_be_lower & (firsts < right_firsts))
            wrong_first[block][indices] = is_wrong
            if is_stable_known and not is_cleaned:
                is_wrong = entries["last_stable_offset"] != markers["stable_offset"]
                wrong_stable[block][indices] = is_wrong
        return wrong_first, wrong_stable

    def _missing_entries(self, indexed: "_IndexedMarkers") -> Iterator[Contradiction]:
        """Yield the abort markers of a segment that its index does not list."""
        rows, ended = self._tracker.transaction_table.rows, indexed.markers["ended"]
        is_missing = ~indexed.is_listed & (ended >= 0)
        is_missing[is_missing] = rows["has_data"][ended[is_missing]]
        missing = {
            (int(marker["producer_id"]), int(marker["offset"])): int(marker["ended"])
            for marker in indexed.markers[is_missing]
        }
        for (producer_id, offset), number in missing.items():
            yield (
                f"the abort marker of producer {producer_id} at {offset} is not listed",
                "no entry",
                f"producer {producer_id}, {int(rows['first_offset'][number])} to {offset}",
            )

    def _are_missing(self, offsets: Numbers) -> Mask:
        """Return a mask of the *offsets* that the log lacks; none is negative."""
        ranges = [(max(first, 0), max(end, 0)) for first, end in sorted(self.missing)]
        starts, ends = np.array(ranges, np.uint64).reshape(-1, 2).T
        ends = np.maximum.accumulate(ends)
        wanted = offsets.astype(np.uint64)
        at = np.searchsorted(starts, wanted, "right")
        is_missing = at > 0
        is_missing[is_missing] = ends[at[is_missing] - 1] > wanted[is_missing]
        return is_missing


@dataclass(frozen=True, slots=True)
class _IndexedMarkers:
    """The entries of a transaction index, and the abort markers of its segment, as ABORTS."""

    entries: StructuredRows
    lasts: Numbers
    """The last offsets of the entries, which increase."""
    markers: StructuredRows
    numbers: Indices
    """The number of each entry's marker; -1 where there is none."""
    is_listed: Mask
    """Mask of the markers that the index lists."""

    @classmethod
    def of(cls, entries: StructuredRows, markers: StructuredRows) -> "_IndexedMarkers":
        """Find the marker of each of *entries*."""
        lasts = entries["last_offset"].astype(np.int64)
        numbers = np.full(len(entries), -1)
        is_listed = np.zeros(len(markers), np.bool_)
        for block in blocks(len(markers) if len(entries) else 0):
            offsets, producers = markers["offset"][block], markers["producer_id"][block]
            at = np.minimum(np.searchsorted(lasts, offsets), len(lasts) - 1)
            is_same = (lasts[at] == offsets) & (entries["producer_id"][at] == producers)
            is_listed[block] = is_same
            numbers[at[is_same]] = block.start + np.flatnonzero(is_same)
        return cls(entries, lasts, markers, numbers, is_listed)
