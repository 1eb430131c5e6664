"""Outcomes of the transactions in a split, from its markers or from the aborted list of a fetch.

All entries of a chunk are compared together. For each producer only the positions are stored at
which its data of one outcome ends.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from magicbyte._transactions import PlannedOutcomes, outcome_of
from magicbyte.engines.entry_columns import Numbers
from magicbyte.engines.protocol import Control, Decoded, Entries
from magicbyte.tables.arrays import Codes, number_array, string_array
from magicbyte.tables.schemas import OUTCOMES

OUTCOME_CODES = {name: code for code, name in enumerate(OUTCOMES)}
NO_OUTCOME = len(OUTCOMES)
"""The code of an entry that is in no transaction."""

_NAMES = string_array([*OUTCOMES, None])


def outcome_names(codes: Codes) -> pa.Array:
    """Return the names of the outcomes with these *codes*; null for NO_OUTCOME."""
    return _NAMES.take(number_array(pa.int8(), codes))


Run = tuple[Entries, Iterable[tuple[int, int, Control | None]]]
"""Entries back to back; position, producer id and content of the control batches among them."""


class OutcomeEnd(NamedTuple):
    """Position up to which the transactional data of a producer has one outcome."""

    position: int
    producer_id: int
    outcome: str


class OutcomeException(NamedTuple):
    """Range of positions in which a producer's entries have *outcome*, whatever its OutcomeEnd states."""

    producer_id: int
    first: int
    last: int
    """Position of the last entry."""
    outcome: str


class Outcomes:
    """Outcomes by producer and position."""

    def __init__(
        self,
        ends: Sequence[OutcomeEnd],
        *,
        otherwise: str,
        markers: Sequence[OutcomeEnd] = (),
        exceptions: Sequence[OutcomeException] = (),
    ) -> None:
        """Take *ends* in order; data after the last end of its producer has the outcome *otherwise*."""
        self._otherwise = OUTCOME_CODES[otherwise]
        self._markers = {marker.position: OUTCOME_CODES[marker.outcome] for marker in markers}
        self._exceptions = exceptions
        self._positions = np.array([end.position for end in ends], np.int64)
        producers = np.array([end.producer_id for end in ends], np.int64)
        order = np.argsort(producers, kind="stable")
        self._producers, self._end_positions = producers[order], self._positions[order]
        self._codes = np.array([OUTCOME_CODES[end.outcome] for end in ends], np.int8)[order]
        self._keys = self._key(self._producers, order)

    def _key(self, producers: Numbers, numbers: Numbers) -> Numbers:
        """Return keys that sort by producer, and then by the *numbers* of ends."""
        return np.searchsorted(self._producers, producers) * (len(self._producers) + 1) + numbers

    def of(self, entries: Entries, decoded: Decoded | None = None) -> Codes:
        """Return the codes of the outcomes of *entries*. Their records, *decoded*, are not needed."""
        producers, positions = entries.column("producer_id"), entries.column("position")
        is_control = entries.column("is_control") != 0
        codes = np.full(len(entries), NO_OUTCOME, np.int8)
        is_data = (producers >= 0) & (entries.column("is_transactional") != 0) & ~is_control
        codes[is_data] = self._of_data(producers[is_data], positions[is_data])
        codes[is_control] = [
            self._markers.get(position, NO_OUTCOME) for position in positions[is_control].tolist()
        ]
        for exception in self._exceptions:
            is_between = (exception.first <= positions) & (positions <= exception.last)
            is_its_data = is_between & ~is_control & (producers == exception.producer_id)
            codes[is_its_data] = OUTCOME_CODES[exception.outcome]
        return codes

    def _of_data(self, producers: Numbers, positions: Numbers) -> Codes:
        if not len(self._codes):
            return np.full(len(producers), self._otherwise, np.int8)
        at = self._next_end(producers, positions)
        is_ended = (self._producers[at] == producers) & (self._end_positions[at] > positions)
        return np.where(is_ended, self._codes[at], np.int8(self._otherwise))

    def _next_end(self, producers: Numbers, positions: Numbers) -> Numbers:
        """Return the number of the end after each position; of another producer, if there is none."""
        num_passed = np.searchsorted(self._positions, positions, "right")
        at = np.searchsorted(self._keys, self._key(producers, num_passed))
        numbers: Numbers = np.minimum(at, len(self._codes) - 1)
        return numbers

    def next_ends(self, producers: Numbers, positions: Numbers) -> Numbers:
        """Return the position of the end after each of *positions*, of data that have one."""
        if not len(producers):
            return np.zeros(0, np.int64)
        end_positions: Numbers = self._end_positions[self._next_end(producers, positions)]
        return end_positions


def outcomes_by_markers(
    runs: Iterable[Run], planned: PlannedOutcomes, *, segment: int, end: int
) -> Outcomes:
    """Return the outcomes in a split that ends at byte *end* of the segment number *segment*.

    *runs* are all its entries in order.
    """
    markers = [
        OutcomeEnd(position, producer, outcome)
        for _, controls in runs
        for position, producer, control in controls
        if producer >= 0 and (outcome := outcome_of(control)) is not None
    ]
    return Outcomes(
        [*markers, *(OutcomeEnd(end, producer, outcome) for producer, outcome in planned.at_end)],
        otherwise="open",
        markers=markers,
        exceptions=[
            OutcomeException(
                producer,
                first.position if first.segment == segment else 0,
                last.position if last.segment == segment else end,
                outcome,
            )
            for producer, first, last, outcome in planned.exceptions
            if first.segment <= segment <= last.segment
        ],
    )


def outcomes_by_list(
    runs: Iterable[Run], aborted: Iterable[tuple[int, int]], *, end: int
) -> Outcomes:
    """Return the outcomes of the entries of a fetch, by the aborted list of its response.

    *runs* are all its entries, which end at byte *end*; *aborted* are producer ids and first offsets.
    This is the filter of Kafka's consumer (CompletedFetch): the broker has cut the bytes at the
    last stable offset, so transactions that are not listed are committed.
    """
    waiting = deque(sorted((first, producer) for producer, first in aborted))
    active: set[int] = set()
    ends: list[OutcomeEnd] = []
    for entries, controls in runs:
        begun = list(_begun(entries, waiting))
        aborts = [
            (position, producer, False)
            for position, producer, control in controls
            if outcome_of(control) == "aborted"
        ]
        # An abort marker ends a transaction that is listed with the marker's own offset, too.
        for position, producer, begins in sorted([*begun, *aborts], key=itemgetter(0)):
            if begins != (producer in active):
                ends.append(OutcomeEnd(position, producer, "committed" if begins else "aborted"))
                active ^= {producer}
    ends += [OutcomeEnd(end, producer, "aborted") for producer in active]
    return Outcomes(ends, otherwise="committed")


def _begun(
    entries: Entries, waiting: deque[tuple[int, int]]
) -> Iterator[tuple[int, int, Literal[True]]]:
    """Remove from *waiting* the transactions that begin in *entries*; yield position and producer."""
    has_producer = entries.column("producer_id") >= 0
    positions = entries.column("position")[has_producer]
    highest = np.maximum.accumulate(entries.column("last_offset")[has_producer])
    while waiting and len(highest) and waiting[0][0] <= int(highest[-1]):
        first, producer = waiting.popleft()
        yield int(positions[bisect_left(highest, first)]), producer, True
