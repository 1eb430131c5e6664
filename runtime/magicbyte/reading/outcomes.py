"""The outcomes of transactions in a split, from its markers or from the list that came with it.

Entries are looked at by the thousand: what is kept of them is where, for a producer, the data of
one outcome ends.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Control, Entries
from magicbyte.tables.arrays import Codes
from magicbyte.tables.schemas import OUTCOMES
from magicbyte.transactions import Fates, outcome_of

OUTCOME_CODES = {name: code for code, name in enumerate(OUTCOMES)}
NO_OUTCOME = len(OUTCOMES)
"""The code of an entry that is in no transaction."""

Run = tuple[Entries, Iterable[tuple[int, int, Control | None]]]
"""Entries back to back; position, producer id and content of the control batches among them."""


class End(NamedTuple):
    """Where the data of one outcome ends, of what a producer wrote in transactions."""

    position: int
    producer_id: int
    outcome: str


class CutOff(NamedTuple):
    """Where entries of a producer lie whose own outcome counts."""

    producer_id: int
    first: int
    last: int
    """The position of the last of them."""
    outcome: str


class Outcomes:
    """Outcomes by producer and position."""

    def __init__(
        self,
        ends: Sequence[End],
        *,
        otherwise: str,
        markers: Sequence[End] = (),
        exceptions: Sequence[CutOff] = (),
    ) -> None:
        """*ends* come in order; data that none of its producer's lies behind is *otherwise*."""
        self._otherwise = OUTCOME_CODES[otherwise]
        self._markers = {marker.position: OUTCOME_CODES[marker.outcome] for marker in markers}
        self._exceptions = exceptions
        self._positions = np.array([end.position for end in ends], np.int64)
        producers = np.array([end.producer_id for end in ends], np.int64)
        order = np.argsort(producers, kind="stable")
        self._producers, self._places = producers[order], self._positions[order]
        self._codes = np.array([OUTCOME_CODES[end.outcome] for end in ends], np.int8)[order]
        self._keys = self._key(self._producers, order)

    def _key(self, producers: Numbers, numbers: Numbers) -> Numbers:
        """Return what sorts by producer, and then by the *numbers* of ends."""
        return np.searchsorted(self._producers, producers) * (len(self._producers) + 1) + numbers

    def of(self, entries: Entries) -> Codes:
        """Return the codes of the outcomes of *entries*."""
        producers, positions = entries.column("producer_id"), entries.column("position")
        is_control = entries.column("is_control") != 0
        codes = np.full(len(entries), NO_OUTCOME, np.int8)
        is_data = (producers >= 0) & (entries.column("is_transactional") != 0) & ~is_control
        codes[is_data] = self._of_data(producers[is_data], positions[is_data])
        codes[is_control] = [
            self._markers.get(position, NO_OUTCOME) for position in positions[is_control].tolist()
        ]
        for one in self._exceptions:
            is_there = (one.first <= positions) & (positions <= one.last) & ~is_control
            codes[is_there & (producers == one.producer_id)] = OUTCOME_CODES[one.outcome]
        return codes

    def _of_data(self, producers: Numbers, positions: Numbers) -> Codes:
        if not len(self._codes):
            return np.full(len(producers), self._otherwise, np.int8)
        num_passed = np.searchsorted(self._positions, positions, "right")
        at = np.searchsorted(self._keys, self._key(producers, num_passed))
        at = np.minimum(at, len(self._codes) - 1)
        is_ended = (self._producers[at] == producers) & (self._places[at] > positions)
        return np.where(is_ended, self._codes[at], np.int8(self._otherwise))


def outcomes_by_markers(runs: Iterable[Run], fates: Fates, *, segment: int, end: int) -> Outcomes:
    """Return the outcomes in a split, up to byte *end* of the segment of that number.

    *runs* are all its entries in order.
    """
    markers = [
        End(position, producer, outcome)
        for _, controls in runs
        for position, producer, control in controls
        if producer >= 0 and (outcome := outcome_of(control)) is not None
    ]
    return Outcomes(
        [*markers, *(End(end, producer, outcome) for producer, outcome in fates.at_end)],
        otherwise="open",
        markers=markers,
        exceptions=[
            CutOff(
                producer,
                first.position if first.segment == segment else 0,
                last.position if last.segment == segment else end,
                outcome,
            )
            for producer, first, last, outcome in fates.exceptions
            if first.segment <= segment <= last.segment
        ],
    )


def outcomes_by_list(
    runs: Iterable[Run], aborted: Iterable[tuple[int, int]], *, end: int
) -> Outcomes:
    """Return the outcomes of the entries of a fetch, by the aborted list that came with it.

    *runs* are all its entries, which end at byte *end*, *aborted* producer ids and first offsets.
    This is the filter of Kafka's consumer (CompletedFetch): the broker has cut the bytes at the
    last stable offset, so what is not listed is committed.
    """
    waiting = deque(sorted((first, producer) for producer, first in aborted))
    active: set[int] = set()
    ends: list[End] = []
    for entries, controls in runs:
        begun = list(_begun(entries, waiting))
        aborts = [
            (position, producer, False)
            for position, producer, control in controls
            if outcome_of(control) == "aborted"
        ]
        # What an abort marker's own offset begins, it ends.
        for position, producer, begins in sorted([*begun, *aborts], key=lambda one: one[0]):
            if begins != (producer in active):
                ends.append(End(position, producer, "committed" if begins else "aborted"))
                active ^= {producer}
    ends += [End(end, producer, "aborted") for producer in active]
    return Outcomes(ends, otherwise="committed")


def _begun(
    entries: Entries, waiting: deque[tuple[int, int]]
) -> Iterator[tuple[int, int, Literal[True]]]:
    """Take from *waiting* what *entries* reach; yield position and producer of each."""
    is_ours = entries.column("producer_id") >= 0
    positions = entries.column("position")[is_ours]
    highest = np.maximum.accumulate(entries.column("last_offset")[is_ours])
    while waiting and len(highest) and waiting[0][0] <= int(highest[-1]):
        first, producer = waiting.popleft()
        yield int(positions[bisect_left(highest, first)]), producer, True
