"""Tests of the records of an internal topic that are applied when it is loaded, up to the end of a range."""

from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.internal_topics.coordinator_records import TransactionMarker
from magicbyte.reading._applied_records import applied_records, coordinator_events

PRODUCER = 5

COMMIT, ABORT = 1, 0


@pytest.fixture
def log_dir(folder: Any) -> Any:
    """A log with a record without transaction at 0, a committed one at 1, one at 3, an aborted one at 4, an open one at 6."""
    batches = (
        build.batch_of(0, b"plain"),
        build.transactional(1, PRODUCER),
        build.control(COMMIT, 2, PRODUCER),
        build.batch_of(3, b"plain"),
        build.transactional(4, PRODUCER, sequence=1),
        build.control(ABORT, 5, PRODUCER),
        build.transactional(6, PRODUCER, sequence=2),
        build.batch_of(7, b"plain"),
    )
    folder.segment("t-0", b"".join(batches))
    return folder.path


def applied_offsets(log_dir: Any, **options: Any) -> list[int]:
    return [each.offset for each in applied_records(mb.open(log_dir, **options), mb.Report())]


def test_records_after_an_open_transaction_are_applied(log_dir: Any) -> None:
    assert applied_offsets(log_dir) == [0, 1, 3, 7]


@pytest.mark.parametrize(
    ("end", "offsets"), [(1, [0]), (2, [0]), (3, [0, 1]), (4, [0, 1, 3]), (8, [0, 1, 3, 7])]
)
def test_a_transaction_is_applied_if_its_marker_is_before_the_end(
    log_dir: Any, end: int, offsets: list[int]
) -> None:
    assert applied_offsets(log_dir, offsets=(None, end)) == offsets


def test_the_beginning_of_the_range_and_the_isolation_level_do_not_matter(log_dir: Any) -> None:
    options = {"offsets": (3, None), "isolation_level": "read_uncommitted"}
    assert applied_offsets(log_dir, **options) == [0, 1, 3, 7]


def test_events_are_records_with_outcomes_and_markers_in_the_order_of_the_log(
    log_dir: Any,
) -> None:
    dataset = mb.open(log_dir)
    events = list(coordinator_events(dataset, dataset.logs[0], mb.Report()))
    assert [event.offset for event in events] == list(range(8))
    markers = [event for event in events if isinstance(event, TransactionMarker)]
    assert [(each.offset, each.producer_id, each.is_commit) for each in markers] == [
        (2, PRODUCER, True),
        (5, PRODUCER, False),
    ]
    records = [event for event in events if not isinstance(event, TransactionMarker)]
    assert [(each.producer_id, each.outcome) for each in records] == [
        (None, None),
        (PRODUCER, "committed"),
        (None, None),
        (PRODUCER, "aborted"),
        (PRODUCER, "open"),
        (None, None),
    ]
