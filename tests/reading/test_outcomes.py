"""Tests that runs of many entries give the transaction outcomes that single entries give."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from entry_headers import header
from magicbyte._transactions import LogPosition, PlannedOutcomes
from magicbyte.engines.protocol import Control, Entries, Entry
from magicbyte.reading.outcomes import (
    NO_OUTCOME,
    OUTCOME_CODES,
    Outcomes,
    Run,
    outcomes_by_list,
    outcomes_by_markers,
)
from magicbyte.tables.schemas import OUTCOMES

ABORT, COMMIT, LEADER_CHANGE = Control(0, 5), Control(1, 5), Control(2, None)
SEGMENT = 2
END = 1 << 40
"""A position after all entries."""

Seen = Sequence[tuple[Entry, Control | None]]


def entry(last: int, producer: int = 7, *, first: int | None = None, **fields: Any) -> Entry:
    """Return the header of a transactional batch with last offset *last*."""
    given = {"base_offset": last if first is None else first, "last_offset": last}
    more = {"position": 100 * last, "producer_id": producer, "is_transactional": True}
    return header(**(given | more | fields))


def marked(last: int, control: Control | None, producer: int = 7) -> tuple[Entry, Control | None]:
    return entry(last, producer, is_control=True), control


def in_runs(seen: Seen, length: int) -> Iterator[Run]:
    for begin in range(0, len(seen), length):
        run = seen[begin : begin + length]
        yield (
            Entries([one for one, _ in run]),
            [(one.position, one.producer_id, said) for one, said in run if one.is_control],
        )


def outcomes_by_position(seen: Seen, outcomes: Outcomes, length: int = 3) -> dict[int, str]:
    """Return the outcome of each transactional entry, by its position."""
    found = {}
    for entries, _ in in_runs(seen, length):
        for one, code in zip(entries, outcomes.of(entries).tolist(), strict=True):
            if code != NO_OUTCOME:
                found[one.position] = OUTCOMES[code]
    return found


def by_markers(seen: Seen, planned: PlannedOutcomes, length: int = 3) -> dict[int, str]:
    outcomes = outcomes_by_markers(in_runs(seen, length), planned, segment=SEGMENT, end=END)
    return outcomes_by_position(seen, outcomes)


def by_list(seen: Seen, aborted: Any, length: int = 3) -> dict[int, str]:
    return outcomes_by_position(seen, outcomes_by_list(in_runs(seen, length), aborted, end=END))


def at(position: int, segment: int = SEGMENT) -> LogPosition:
    return LogPosition(segment, position)


def test_entries_have_the_outcome_of_the_next_marker_of_their_producer() -> None:
    entries = (
        (entry(0, 0), None),
        (entry(1, 8), None),
        (entry(2, 9, is_transactional=False), None),
        (entry(3, -1), None),
        marked(4, ABORT, 0),
        (entry(5, 0), None),
        marked(6, LEADER_CHANGE, 0),
        marked(7, None, 0),
        marked(8, COMMIT, 0),
        (entry(9, 0), None),
    )
    assert by_markers(entries, PlannedOutcomes(at_end=((8, "committed"),))) == {
        0: "aborted",
        100: "committed",
        400: "aborted",
        500: "committed",
        800: "committed",
        900: "open",
    }


def test_transaction_cut_by_damage_has_its_own_outcome() -> None:
    entries = (
        *((entry(last, producer), None) for last, producer in ((0, 7), (1, 7), (2, 8), (3, 7))),
        marked(4, COMMIT),
    )
    planned = PlannedOutcomes(exceptions=((7, at(100), at(300), "aborted"),))
    assert by_markers(entries, planned) == {
        0: "committed",
        100: "aborted",
        200: "open",
        300: "aborted",
        400: "committed",
    }


def test_a_list_decides_from_its_offsets_on_up_to_an_abort() -> None:
    entries = (
        (entry(0, 0), None),
        (entry(2, 0, first=1), None),
        marked(3, COMMIT, 0),
        (entry(4, 0), None),
        marked(5, None, 0),
        (entry(6, 8), None),
        marked(7, ABORT, 0),
        (entry(8, 0), None),
        (entry(9, 0, is_transactional=False), None),
        (entry(10, -1), None),
    )
    assert by_list(entries, [(8, 7), (0, 2)]) == {
        0: "committed",
        200: "aborted",
        400: "aborted",
        600: "committed",
        800: "committed",
    }


def test_an_entry_of_nobody_begins_no_listed_transaction() -> None:
    # Its offset is above the next one's: the marker would end the transaction that it opened.
    marker = entry(3, position=950, is_control=True)
    entries = ((entry(9, -1), None), (marker, ABORT), (entry(6, position=990), None))
    assert by_list(entries, [(7, 5)]) == {990: "aborted"}


def test_transaction_cut_by_damage_may_span_segments() -> None:
    entries = tuple((entry(last), None) for last in range(5))

    def aborted(first: LogPosition, last: LogPosition) -> list[int]:
        found = by_markers(entries, PlannedOutcomes(exceptions=((7, first, last, "aborted"),)))
        return [position for position, outcome in found.items() if outcome == "aborted"]

    assert aborted(at(300), at(0, SEGMENT + 1)) == [300, 400]
    assert aborted(at(300, SEGMENT - 1), at(100)) == [0, 100]
    assert aborted(at(300, 0), at(0, 9)) == [0, 100, 200, 300, 400]
    assert aborted(at(0, 0), at(900, 1)) == aborted(at(0, 3), at(900, 4)) == []


def test_offsets_that_no_entry_can_have_are_listed_in_vain() -> None:
    entries = ((entry(0), None), (entry(1, 8), None))
    found = by_list(entries, [(7, -(1 << 70)), (8, 1 << 70)])
    assert found == {0: "aborted", 100: "committed"}


# Entry by entry


def one_by_one(seen: Seen, planned: PlannedOutcomes) -> dict[int, str]:
    outcomes: dict[int, str] = {}
    waiting: dict[int, list[int]] = {}
    for one, control in seen:
        if one.producer_id < 0:
            continue
        if not one.is_control:
            if one.is_transactional:
                waiting.setdefault(one.producer_id, []).append(one.position)
        elif control is not None and control.type in (0, 1):
            outcome = "committed" if control.type else "aborted"
            outcomes[one.position] = outcome
            outcomes |= dict.fromkeys(waiting.pop(one.producer_id, ()), outcome)
    for producer, outcome in planned.at_end:
        outcomes |= dict.fromkeys(waiting.pop(producer, ()), outcome)
    for positions in waiting.values():
        outcomes |= dict.fromkeys(positions, "open")
    for producer, first, last, outcome in planned.exceptions:
        for one, _ in seen:
            is_there = first <= at(one.position) <= last and not one.is_control
            if is_there and one.producer_id == producer:
                outcomes[one.position] = outcome
    return outcomes


def one_by_one_of_a_list(seen: Seen, aborted: list[tuple[int, int]]) -> dict[int, str]:
    waiting = sorted((first, producer) for producer, first in aborted)
    active: set[int] = set()
    outcomes: dict[int, str] = {}
    for one, control in seen:
        if one.producer_id < 0:
            continue
        while waiting and waiting[0][0] <= one.last_offset:
            active.add(waiting.pop(0)[1])
        if one.is_control:
            if control == ABORT:
                active.discard(one.producer_id)
        elif one.is_transactional:
            outcomes[one.position] = "aborted" if one.producer_id in active else "committed"
    return outcomes


def some_entries(rng: random.Random) -> list[tuple[Entry, Control | None]]:
    """Return random entries in order of position and, nine times in ten, of offset."""
    producers = rng.sample([-1, 0, 7, 8, 500, (1 << 63) - 1], rng.randrange(1, 6))
    found: list[tuple[Entry, Control | None]] = []
    for number in range(rng.randrange(40)):
        offset = number if rng.random() < 0.9 else rng.randrange(40)
        given: dict[str, Any] = {"position": 100 * number, "is_control": rng.random() < 0.3}
        given["is_transactional"] = rng.random() < 0.9
        control = rng.choice([ABORT, COMMIT, COMMIT, LEADER_CHANGE, None])
        one = entry(offset, rng.choice(producers), **given)
        found.append((one, control if one.is_control else None))
    return found


@pytest.mark.parametrize("seed", range(300))
def test_all_at_once_is_as_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    seen = some_entries(rng)
    producers = sorted({one.producer_id for one, _ in seen if one.producer_id >= 0} | {3})
    places = [at(rng.randrange(4000), rng.choice([1, 2, 2, 2, 3])) for _ in range(6)]
    ended = [(one, rng.choice(list(OUTCOME_CODES))) for one in producers if rng.random() < 0.5]
    cut_off = []
    for n in (0, 2, 4)[: rng.randrange(4)]:
        producer, (first, last) = rng.choice(producers), sorted(places[n : n + 2])
        cut_off.append((producer, first, last, rng.choice(list(OUTCOME_CODES))))
    planned = PlannedOutcomes(tuple(ended), tuple(cut_off))
    length = rng.randrange(1, 50)
    assert by_markers(seen, planned, length) == one_by_one(seen, planned)
    aborted = [(rng.choice(producers), rng.randrange(-2, 42)) for _ in range(rng.randrange(9))]
    assert by_list(seen, aborted, length) == one_by_one_of_a_list(seen, aborted)
