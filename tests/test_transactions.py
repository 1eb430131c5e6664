"""Tests of the rules of transactions on single batch headers, without a log."""

from typing import Any

import numpy as np
import pytest

from entry_headers import header
from magicbyte._transactions import (
    LogPosition,
    Transaction,
    TransactionTracker,
    last_stable_offset,
    outcomes_at,
    uncertain_outcomes,
)
from magicbyte.engines.entry import Entry
from magicbyte.engines.protocol import Control, Entries
from magicbyte.reading._producer_batches import ProducerBatches
from magicbyte_formats.wire import AbortedTransaction, ProducerSnapshotEntry

ABORT, COMMIT, LEADER_CHANGE = Control(0, 5), Control(1, 5), Control(2, None)


def entry(last: int, producer: int = 7, *, first: int | None = None, **fields: Any) -> Entry:
    """Return the header of a transactional batch with last offset *last*."""
    given = {
        "position": 100 * last,
        "size_bytes": 80,
        "base_offset": last if first is None else first,
        "last_offset": last,
        "base_timestamp": 1000 + last,
        "max_timestamp": 2000 + last,
        "producer_id": producer,
        "record_count": 1,
        "is_transactional": True,
    }
    return header(**(given | fields))


def position(last: int) -> LogPosition:
    return LogPosition(0, 100 * last)


class Log(TransactionTracker):
    """A transaction tracker; a test adds batches and markers by offset, producer id and epoch."""

    __slots__ = ()

    def batch(self, last: int, producer: int = 7, **fields: Any) -> None:
        batches = ProducerBatches(Entries([entry(last, producer, **fields)]), np.zeros(1, np.bool_))
        for row in batches.last_data():
            self.add_last_data(*row)
        for _, data in batches.transaction_data(0):
            self.add_data(data)

    def end(self, last: int, control: Control, producer: int = 7, epoch: int = 0) -> None:
        found = entry(last, producer, producer_epoch=epoch, is_control=True)
        self.add_marker(found, control)

    def ends(self, *aborted: AbortedTransaction) -> list[tuple[int, int, str, str | None]]:
        return [
            (found.first_offset, found.last_offset, found.outcome, found.evidence)
            for found in self.finish(aborted)
        ]


def indexed(first: int, last: int, producer: int = 7) -> AbortedTransaction:
    return AbortedTransaction(0, producer, first, last, first)


def snapshot(producer: int, first: int, last: int) -> ProducerSnapshotEntry:
    return ProducerSnapshotEntry(producer, 3, 0, last, 0, 0, 0, first)


def test_a_transaction_is_all_that_its_batches_are() -> None:
    log = Log()
    log.batch(2, first=1, record_count=2)
    log.batch(3, record_count=0, producer_epoch=4)
    log.end(4, ABORT)
    (found,) = log.finish([])
    assert (found.first_offset, found.last_offset, found.record_count) == (1, 3, 2)
    assert (found.size_bytes, found.producer_epoch, found.first_timestamp) == (160, 4, 1002)
    assert (found.first_position, found.last_position) == (position(2), position(3))
    assert (found.marker_offset, found.marker_timestamp, found.coordinator_epoch) == (4, 2004, 5)
    assert not (found.begun_before_log or found.is_continuation or found.is_uncertain)
    assert log.num_missing_ranges == 0


@pytest.mark.parametrize(("control", "outcome"), [(ABORT, "aborted"), (COMMIT, "committed")])
def test_a_marker_ends_the_transaction_of_its_producer_alone(
    control: Control, outcome: str
) -> None:
    log = Log()
    log.batch(0, 0)
    log.batch(1, 8)
    log.end(2, control, 0)
    assert log.ends() == [(0, 0, outcome, "marker"), (1, 1, "open", None)]


@pytest.mark.parametrize("control", [LEADER_CHANGE, Control(9, None), Control(-1, None)])
def test_any_other_control_record_ends_nothing(control: Control) -> None:
    log = Log()
    log.batch(0)
    log.end(1, control)
    assert log.ends() == [(0, 0, "open", None)]


def test_records_without_a_producer_are_in_no_transaction() -> None:
    log = Log()
    log.batch(0, -1)
    log.batch(1, 7, is_transactional=False)
    assert log.ends() == []
    assert {number: known.last_offset for number, known in log.last_data.items()} == {7: 1}
    log.batch(2, 0, is_transactional=False, producer_epoch=6)
    assert (log.last_data[0].last_offset, log.last_data[0].epoch) == (2, 6)


def test_nobodys_marker_proves_nothing() -> None:
    log = Log()
    log.batch(0, 0)
    log.mark_uncertain()
    log.end(1, COMMIT, -1, epoch=1)
    assert log.ends() == [(0, 0, "undecided", None)]


def test_a_snapshot_says_what_was_open_before() -> None:
    log = Log()
    log.begin([snapshot(7, 0, 5), snapshot(8, -1, 6), snapshot(9, 4, -1)])
    log.batch(10, 8)
    found = {one.producer_id: one for one in log.finish([])}
    assert {number: one.begun_before_log for number, one in found.items()} == {
        7: True,
        8: False,
        9: True,
    }
    assert (found[7].first_offset, found[7].last_offset, found[7].producer_epoch) == (0, 5, 3)
    assert (found[9].first_offset, found[9].last_offset) == (4, 4)
    assert (found[7].record_count, found[7].size_bytes, found[7].last_position) == (0, 0, None)


def test_a_transaction_may_have_begun_out_of_sight() -> None:
    log = Log(knows_beginning=False)
    log.batch(0)
    assert [one.is_continuation for one in log.finish([])] == [True]
    log = Log()
    log.batch(0)
    log.mark_uncertain()
    log.batch(1)
    log.batch(2, 8)
    assert [one.is_continuation for one in log.finish([])] == [False, True, False]


def test_a_hole_leaves_undecided_what_was_open() -> None:
    log = Log()
    log.batch(0)
    log.batch(1, 8)
    log.mark_uncertain()
    log.batch(2, 9)
    assert log.ends() == [
        (0, 0, "undecided", None),
        (1, 1, "undecided", None),
        (2, 2, "open", None),
    ]
    assert log.num_missing_ranges == 1


def test_a_hole_of_one_producer_leaves_the_others_open() -> None:
    log = Log()
    log.batch(0, 0)
    log.batch(1, 8)
    log.mark_uncertain(0)
    log.mark_uncertain(5)
    assert [one[2] for one in log.ends()] == ["undecided", "open"]
    assert log.num_missing_ranges == 2


def behind_a_hole(
    control: Control, epoch: int, *, before: int | None = None, rest: int | None = None
) -> list[tuple[int, int, str, str | None]]:
    """Return the transaction ends of: a batch of epoch 0, a gap, a batch of *rest*, a marker."""
    log = Log()
    if before is not None:
        log.batch(0, producer_epoch=0)
        log.end(1, COMMIT, epoch=before)
    log.batch(2)
    log.mark_uncertain()
    if rest is not None:
        log.batch(3, producer_epoch=rest)
    log.end(4, control, epoch=epoch)
    return [one for one in log.ends() if one[0] >= 2]


def test_a_commit_of_the_next_epoch_proves_what_came_before_a_hole() -> None:
    assert behind_a_hole(COMMIT, 1) == [(2, 2, "committed", "later-marker")]
    assert behind_a_hole(COMMIT, 1, rest=0) == [(2, 3, "committed", "later-marker")]


@pytest.mark.parametrize(("control", "epoch"), [(COMMIT, 0), (COMMIT, 2), (ABORT, 1), (ABORT, 0)])
def test_other_markers_do_not_decide_a_transaction_across_damage(
    control: Control, epoch: int
) -> None:
    assert behind_a_hole(control, epoch) == [(2, 2, "undecided", None)]


def test_nor_does_it_where_epochs_look_like_those_of_older_transactions() -> None:
    assert behind_a_hole(COMMIT, 1, before=0) == [(2, 2, "undecided", None)]
    rest = behind_a_hole(COMMIT, 1, rest=1)
    assert rest == [(2, 2, "undecided", None), (3, 3, "committed", "marker")]


def test_only_the_first_marker_behind_a_hole_counts() -> None:
    log = Log()
    log.batch(0)
    log.mark_uncertain()
    log.end(1, ABORT, epoch=1)
    log.end(2, COMMIT, epoch=1)
    assert log.ends() == [(0, 0, "undecided", None)]


def test_marker_with_the_epoch_of_its_batch_withdraws_the_proof() -> None:
    log = Log()
    log.end(0, COMMIT, epoch=0)
    log.batch(1)
    log.mark_uncertain()
    log.end(2, COMMIT, epoch=1)
    assert log.ends() == [(1, 1, "undecided", None)]


def test_producer_known_by_a_snapshot_alone_proves_nothing_about_epochs() -> None:
    log = Log()
    log.begin([snapshot(8, 0, 0)])
    log.end(1, COMMIT, 8, epoch=3)
    log.batch(2)
    log.mark_uncertain()
    log.end(3, COMMIT, epoch=1)
    assert log.ends()[1] == (2, 2, "committed", "later-marker")


def test_the_rest_behind_a_hole_is_one_transaction_with_what_came_before() -> None:
    log = Log()
    log.batch(0)
    log.mark_uncertain()
    log.batch(1, record_count=3)
    log.end(2, COMMIT, epoch=1)
    (found,) = log.finish([])
    assert (found.record_count, found.size_bytes, found.last_position) == (4, 160, position(1))


@pytest.mark.parametrize(
    ("first", "last", "producer", "outcome"),
    [
        (1, 9, 7, "aborted"),
        (1, 3, 7, "aborted"),
        (1, 2, 7, "undecided"),
        (0, 9, 7, "undecided"),
        (2, 9, 7, "undecided"),
        (1, 9, 8, "undecided"),
    ],
)
def test_an_index_decides_what_it_spans(first: int, last: int, producer: int, outcome: str) -> None:
    log = Log()
    log.batch(1)
    log.batch(2)
    log.mark_uncertain()
    ((begin, end, found, evidence),) = log.ends(indexed(first, last, producer))
    assert (begin, end, found) == (1, 2, outcome)
    assert evidence == ("txnindex" if outcome == "aborted" else None)


def test_an_index_knows_the_beginning_of_a_continuation() -> None:
    for first, outcome in ((0, "aborted"), (2, "aborted"), (3, "undecided")):
        log = Log(knows_beginning=False)
        log.batch(2)
        log.mark_uncertain()
        found = log.finish([indexed(first, 9)])
        assert [one.outcome for one in found] == [outcome]
        assert found[0].marker_offset == (9 if outcome == "aborted" else None)


def transaction(producer: int, first: int, outcome: str, **fields: Any) -> Transaction:
    return Transaction(producer, 0, first, first + 1, outcome=outcome, **fields)


def test_the_last_stable_offset_is_that_of_the_oldest_open_transaction() -> None:
    found = [
        transaction(7, 3, "undecided"),
        transaction(8, 5, "open"),
        transaction(9, 6, "open"),
    ]
    assert last_stable_offset(found, log_start=0, log_end=9) == 5
    assert last_stable_offset(found, log_start=6, log_end=9) == 6
    assert last_stable_offset(found[:1], log_start=0, log_end=9) == 9


def test_planned_outcomes_are_those_that_entries_do_not_show() -> None:
    hidden = transaction(
        7, 3, "aborted", is_uncertain=True, first_position=position(3), last_position=position(4)
    )
    nowhere = transaction(8, 3, "aborted", is_uncertain=True)
    plain = transaction(9, 3, "aborted", first_position=position(3), last_position=position(4))
    open_there = [transaction(6, 1, "committed"), transaction(5, 1, "open")]
    assert outcomes_at(open_there) == ((5, "open"), (6, "committed"))
    assert uncertain_outcomes([hidden, nowhere, plain]) == (
        (7, position(3), position(4), "aborted"),
    )
