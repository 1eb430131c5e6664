"""Tests of fetched records with a list of aborted transactions: the filter of Kafka's consumer."""

from typing import Any

import pytest

import log_builder as build
import magicbyte as mb


def delivered(data: bytes, aborted: Any, **options: Any) -> list[int]:
    options.setdefault("isolation_level", "read_committed")
    rows = mb.from_bytes(data, aborted=aborted, **options).records(["offset"]).to_pylist()
    return [row["offset"] for row in rows]


INTERLEAVED = (
    build.transactional(0, 7)
    + build.transactional(1, 8)
    + build.batch(base=2)
    + build.transactional(3, 7)
    + build.control(build.ABORT, 4, 7)
    + build.transactional(5, 7)
    + build.control(build.COMMIT, 6, 7)
    + build.control(build.COMMIT, 7, 8)
)
"""Producer 7 aborts, then commits; producer 8 commits; plain records between."""


def test_listed_transaction_is_left_out_up_to_its_marker() -> None:
    assert delivered(INTERLEAVED, [(7, 0)]) == [1, 2, 5]


def test_unlisted_transaction_is_committed_whatever_its_marker() -> None:
    assert delivered(INTERLEAVED, []) == [0, 1, 2, 3, 5]


def test_list_may_come_in_any_order_and_more_than_once() -> None:
    data = INTERLEAVED + build.transactional(8, 7) + build.control(build.ABORT, 9, 7)
    for aborted in ([(7, 8), (7, 0)], [(7, 0), (7, 8)], iter([(7, 0), (7, 0), (7, 8)])):
        assert delivered(data, aborted) == [1, 2, 5]


def test_transaction_that_began_before_the_fetch_is_left_out() -> None:
    assert delivered(INTERLEAVED, [(7, -100), (8, -5)]) == [2, 5]


def test_listed_transaction_begins_with_the_batch_whose_last_offset_reaches_it() -> None:
    data = build.transactional(0, 7, count=5) + build.transactional(5, 7, count=5)
    assert delivered(data, [(7, 4)]) == []
    assert delivered(data, [(7, 5)]) == [0, 1, 2, 3, 4]
    assert delivered(data, [(7, 9)]) == [0, 1, 2, 3, 4]
    assert delivered(data, [(7, 10)]) == list(range(10))


def test_epochs_play_no_part() -> None:
    data = build.transactional(0, 7, epoch=3) + build.control(build.ABORT, 1, 7, epoch=4)
    data += build.transactional(2, 7, epoch=4) + build.control(build.COMMIT, 3, 7, epoch=5)
    assert delivered(data, [(7, 0)]) == [2]


def test_commit_marker_ends_no_listed_transaction() -> None:
    data = build.transactional(0, 7) + build.control(build.COMMIT, 1, 7) + build.transactional(2, 7)
    assert delivered(data, [(7, 0)]) == []


def test_plain_batch_of_a_listed_producer_is_delivered() -> None:
    data = build.transactional(0, 7) + build.batch(base=1, producer=7) + build.transactional(2, 7)
    assert delivered(data, [(7, 0)]) == [1]


def test_plain_batch_of_a_producer_moves_the_list_on() -> None:
    # Batch 5 activates (7, 5) in Java; the marker at 4, out of order, then ends it.
    data = build.batch(base=5, producer=9) + build.control(build.ABORT, 4, 7)
    data += build.transactional(6, 7)
    assert delivered(data, [(7, 5)], on_damage="skip") == [5, 6]


def test_abort_marker_without_the_transactional_bit_ends_a_listed_transaction() -> None:
    data = build.transactional(0, 7)
    data += build.control(build.ABORT, 1, 7, flags=build.CONTROL)
    data += build.transactional(2, 7)
    assert delivered(data, [(7, 0)]) == [2]


def test_emptied_or_unknown_marker_ends_no_listed_transaction() -> None:
    flags = build.TRANSACTIONAL | build.CONTROL
    for marker in (
        build.batch([], 1, flags=flags, producer=7, last_delta=0),
        build.control(9, 1, 7),
    ):
        data = build.transactional(0, 7) + marker + build.transactional(2, 7)
        assert delivered(data, [(7, 0)], on_damage="skip") == []


def test_old_formats_pass_through() -> None:
    data = build.message(magic=0) + build.message(b"x", 1) + build.transactional(2, 7)
    assert delivered(data, [(7, 0)]) == [0, 1]


def test_transaction_that_is_open_at_the_end_of_a_fetch_is_committed_unless_listed() -> None:
    # The broker has cut the bytes at its last stable offset, so nothing is withheld here.
    data = build.transactional(0, 7) + build.transactional(1, 8)
    assert delivered(data, [(8, 1)]) == [0]


def test_batch_that_begins_below_the_fetch_offset_is_filtered_by_offsets() -> None:
    data = build.batch(build.records(5)) + build.batch(base=5)
    assert delivered(data, [], offsets=(3, None)) == [3, 4, 5]


def test_read_uncommitted_delivers_all_but_control_records() -> None:
    for aborted in ([(7, 0)], []):
        offsets = delivered(INTERLEAVED, aborted, isolation_level="read_uncommitted")
        assert offsets == [0, 1, 2, 3, 5]


def test_default_is_read_uncommitted_with_the_fate_beside_it() -> None:
    rows = mb.from_bytes(INTERLEAVED).records(["offset", "outcome"]).to_pylist()
    assert [row["offset"] for row in rows] == [0, 1, 2, 3, 5]
    outcomes = [row["outcome"] for row in rows]
    assert outcomes == ["aborted", "committed", None, "aborted", "committed"]


def test_aborted_and_control_records_are_counted_and_no_file_is_missed(read: Any) -> None:
    got = read(INTERLEAVED, aborted=[(7, 0)], isolation_level="read_committed")
    assert got.report.records == {"delivered": 3, "aborted": 2, "control": 3}
    assert sum(got.report.bytes.values()) == len(INTERLEAVED)
    assert got.findings == read(INTERLEAVED).findings == []


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_will_do(kind: type) -> None:
    assert delivered(kind(build.batch()), []) == [0]


def test_topic_and_partition_are_the_callers() -> None:
    rows = mb.from_bytes(build.batch(), topic="t", partition=4).records(["topic", "partition"])
    assert rows.to_pylist() == [{"topic": "t", "partition": 4}]
    rows = mb.from_bytes(build.batch()).records(["topic", "partition"])
    assert rows.to_pylist() == [{"topic": None, "partition": None}]


def test_marker_without_the_transactional_bit_ends_a_transaction_of_a_log(folder: Any) -> None:
    data = build.transactional(0, 7) + build.control(build.ABORT, 1, 7, flags=build.CONTROL)
    data += build.transactional(2, 8) + build.control(build.COMMIT, 3, 8, flags=build.CONTROL)
    folder.segment("t-0", data)
    dataset = mb.open(str(folder.path / "t-0"))
    transactions = dataset.transactions(["producer_id", "outcome"]).to_pylist()
    assert [row["outcome"] for row in transactions] == ["aborted", "committed"]
    names = ["offset", "disposition", "outcome"]
    rows = dataset.records(names, dispositions=["delivered", "aborted", "withheld"]).to_pylist()
    first, second = (tuple(row.values()) for row in rows)
    assert first == (0, "aborted", "aborted") and second == (2, "delivered", "committed")


def test_transactional_batch_without_a_producer_is_delivered(folder: Any) -> None:
    data = build.batch(flags=build.TRANSACTIONAL) + build.batch(base=1)
    folder.segment("t-0", data)
    rows = mb.open(str(folder.path / "t-0")).records(["offset"]).to_pylist()
    assert [row["offset"] for row in rows] == [0, 1]
    assert delivered(data, [(-1, 0)]) == [0, 1]
