"""Checks transaction indexes against the markers in the log."""

from collections.abc import Callable, Iterator, Sequence

from magicbyte._transactions import Transaction, TransactionTracker
from magicbyte.engines.protocol import Control, Entry
from magicbyte.findings import Finding
from magicbyte.logdir.companions import TransactionCompanions
from magicbyte_formats.wire import AbortedTransaction, ControlType

Contradiction = tuple[str, str, str]
"""Message, value found in the index, and value expected by the log."""


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
        self._aborts: dict[int, dict[tuple[int, int], Transaction | None]] = {}
        """The transaction that each abort marker ended, by segment number, producer id and offset."""
        self._stable_offsets: dict[tuple[int, int], int] = {}
        """The last stable offset when each abort marker was written, by its producer id and offset."""
        self.missing: list[tuple[int, int]] = []
        """Half-open ranges of offsets that are missing in the log."""

    def add_marker(
        self, segment_number: int, entry: Entry, control: Control, ended: Transaction | None
    ) -> None:
        """Add a marker that the tracker has processed; *ended* is the transaction that it ended, if any."""
        if control.type != ControlType.ABORT:
            return
        key = entry.producer_id, entry.last_offset
        self._aborts.setdefault(segment_number, {})[key] = ended
        firsts = [transaction.first_offset for transaction in self._tracker.open.values()]
        self._stable_offsets[key] = min([*firsts, entry.last_offset + 1])

    def judge(self, bases: Sequence[int]) -> tuple[list[AbortedTransaction], list[Finding]]:
        """Return the entries of indexes that agree with the log, and findings about the others.

        *bases* are the base offsets of the segments that were read.
        """
        trusted: list[AbortedTransaction] = []
        findings: list[Finding] = []
        companions = self._companions
        for base, entries in companions.indexes.items():
            number = bases.index(base) if base in bases else None
            end = min((other for other in bases if other > base), default=None)
            contradictions = [
                *self._wrong_entries(number, base, end, entries),
                *self._missing_entries(number, entries),
            ]
            findings += [
                companions.finding(
                    "txnindex-mismatch", "txnindex", base, message, found=found, expected=expected
                )
                for message, found, expected in contradictions
            ]
            if not contradictions:
                trusted += entries
        for number, base in enumerate(bases):
            has_aborts = any(txn is not None for txn in self._aborts.get(number, {}).values())
            is_missing = ("txnindex", base) not in companions.file_names
            if has_aborts and is_missing and companions.are_expected:
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
        self, number: int | None, base: int, end: int | None, indexed: Sequence[AbortedTransaction]
    ) -> Iterator[Contradiction]:
        """Yield the entries of an index that the log contradicts; *number* is its segment's."""
        markers = self._aborts.get(number, {}) if number is not None else {}
        is_cleaned = number is None or self._is_cleaned()
        for entry in indexed:
            key = entry.producer_id, entry.last_offset
            name = f"producer {entry.producer_id}, {entry.first_offset} to {entry.last_offset}"
            if entry.last_offset < base or (end is not None and entry.last_offset >= end):
                yield f"{name}: outside the segment", str(entry.last_offset), f"{base} to {end}"
            elif (aborted := markers.get(key)) is not None:
                yield from self._wrong_offsets(name, entry, aborted, is_cleaned)
            # A marker that ended no transaction: its data is gone, or is from before the log.
            elif key not in markers and not is_cleaned and not self._is_missing(entry.last_offset):
                yield f"{name}: there is no such abort marker", name, "an abort marker"

    def _wrong_offsets(
        self, name: str, entry: AbortedTransaction, aborted: Transaction, is_cleaned: bool
    ) -> Iterator[Contradiction]:
        may_be_lower = aborted.is_continuation or is_cleaned
        if entry.first_offset != aborted.first_offset and not (
            may_be_lower and entry.first_offset < aborted.first_offset
        ):
            yield (
                f"{name}: its first offset is {aborted.first_offset}",
                str(entry.first_offset),
                str(aborted.first_offset),
            )
        stable_offset = self._stable_offsets[entry.producer_id, entry.last_offset]
        is_known = self._tracker.knows_beginning and not self._tracker.num_missing_ranges
        if is_known and not is_cleaned and entry.last_stable_offset != stable_offset:
            yield (
                f"{name}: the last stable offset was {stable_offset}",
                str(entry.last_stable_offset),
                str(stable_offset),
            )

    def _missing_entries(
        self, number: int | None, indexed: Sequence[AbortedTransaction]
    ) -> Iterator[Contradiction]:
        """Yield the abort markers of a segment that its index does not list."""
        listed = {(entry.producer_id, entry.last_offset) for entry in indexed}
        markers = self._aborts.get(number, {}) if number is not None else {}
        for key, aborted in markers.items():
            if key not in listed and aborted is not None and aborted.last_position is not None:
                yield (
                    f"the abort marker of producer {key[0]} at {key[1]} is not listed",
                    "no entry",
                    f"producer {key[0]}, {aborted.first_offset} to {key[1]}",
                )

    def _is_missing(self, offset: int) -> bool:
        return any(low <= offset < high for low, high in self.missing)
