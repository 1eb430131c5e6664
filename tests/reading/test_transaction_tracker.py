"""Tests of the rules of transactions on single batch headers, without a log."""

from typing import Any

import numpy as np
import pytest

from entry_headers import header
from magicbyte._transactions import (
    LogPosition,
    Transaction,
    last_stable_offset,
    outcome_of,
)
from magicbyte.engines.entry import Entry
from magicbyte.engines.protocol import Control, Entries
from magicbyte.logdir.companions import transaction_index
from magicbyte.reading._producer_batches import ProducerBatches
from magicbyte.reading._run_transactions import MarkerContents
from magicbyte.reading._transaction_tracker import TransactionTracker
from magicbyte.reading.outcomes import OUTCOME_CODES
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

    def add(self, added: Entry, control: Control | None = None) -> None:
        batches = ProducerBatches(Entries([added]), np.array([control is not None]))
        for row in batches.last_data():
            self.add_last_data(*row)
        contents = MarkerContents.none(1)
        outcome = outcome_of(control)
        if control is not None and outcome is not None:
            contents.outcome_codes[0] = OUTCOME_CODES[outcome]
            contents.coordinator_epochs[0] = control.coordinator_epoch
            contents.has_coordinator_epoch[0] = True
        self.add_run(batches, contents, 0)

    def batch(self, last: int, producer: int = 7, **fields: Any) -> None:
        self.add(entry(last, producer, **fields))

    def end(self, last: int, control: Control, producer: int = 7, epoch: int = 0) -> None:
        self.add(entry(last, producer, producer_epoch=epoch, is_control=True), control)

    def unreadable(self, last: int, producer: int) -> None:
        """Add a control batch that cannot be read."""
        contents = MarkerContents.none(1)
        contents.outcome_codes[0] = OUTCOME_CODES["undecided"]
        control = entry(last, producer, is_control=True)
        self.add_run(ProducerBatches(Entries([control]), np.ones(1, np.bool_)), contents, 0)

    def all(self, *aborted: AbortedTransaction) -> list[Transaction]:
        data = b"".join(AbortedTransaction.FIXED.pack(*one) for one in aborted)
        return [*self.finish([transaction_index(data)])]

    def ends(self, *aborted: AbortedTransaction) -> list[tuple[int, int, str, str | None]]:
        return [
            (found.first_offset, found.last_offset, found.outcome, found.evidence)
            for found in self.all(*aborted)
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
    (found,) = log.all()
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
    found = {one.producer_id: one for one in log.all()}
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
    assert [one.is_continuation for one in log.all()] == [True]
    log = Log()
    log.batch(0)
    log.mark_uncertain()
    log.batch(1)
    log.batch(2, 8)
    assert [one.is_continuation for one in log.all()] == [False, True, False]


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
    log.unreadable(2, 0)
    log.unreadable(3, 5)
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
    (found,) = log.all()
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
        found = log.all(indexed(first, 9))
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


def test_batches_of_a_producer_between_its_markers_are_transactions_of_their_own() -> None:
    entries = [
        entry(0),
        entry(1, 8),
        entry(2, is_control=True),
        entry(3),
        entry(4, 8, is_control=True),
        entry(5),
        entry(6, is_control=True),
    ]
    contents = MarkerContents.none(len(entries))
    contents.outcome_codes[[2, 4, 6]] = [
        OUTCOME_CODES[name] for name in ("aborted", "committed") * 2
    ][:3]
    log = Log()
    batches = ProducerBatches(Entries(entries), np.isin(np.arange(7), [2, 4, 6]))
    found = log.add_run(batches, contents, 0)
    assert log.ends() == [
        (0, 0, "aborted", "marker"),
        (1, 1, "committed", "marker"),
        (3, 5, "aborted", "marker"),
    ]
    assert [numbers.tolist() for numbers in found.open_at([0, 1, 2, 3, 5, 6])] == [
        [],
        [0],
        [0, 1],
        [1],
        [2],
        [2],
    ]
    lowest, is_open = found.first_open(
        log.transaction_table.rows["first_offset"], np.array([2, 4, 6])
    )
    assert is_open.tolist() == [True, True, False]
    assert lowest.tolist()[:2] == [1, 3]


def test_a_control_batch_that_cannot_be_read_interrupts_the_transactions_of_a_run() -> None:
    entries = [entry(0), entry(1, is_control=True), entry(2), entry(3, is_control=True)]
    contents = MarkerContents.none(len(entries))
    contents.outcome_codes[[1, 3]] = OUTCOME_CODES["undecided"], OUTCOME_CODES["aborted"]
    log = Log()
    log.add_run(ProducerBatches(Entries(entries), np.arange(4) % 2 == 1), contents, 0)
    first, second = log.all()
    assert (first.outcome, first.is_uncertain) == ("undecided", True)
    assert (second.outcome, second.is_continuation) == ("aborted", True)
    assert log.num_missing_ranges == 1
