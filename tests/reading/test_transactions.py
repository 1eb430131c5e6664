"""Tests of the transactions of a log and their outcomes."""

from typing import Any

import log_builder as build
import magicbyte as mb


def committed(folder: Any, data: bytes) -> list[int]:
    folder.log_dir()
    folder.segment("t-0", data)
    rows = mb.open(str(folder), isolation_level="read_committed").records(["offset"])
    return [row["offset"] for row in rows.to_pylist()]


def test_producer_0_is_a_producer_like_any_other(folder: Any) -> None:
    first = build.transactional(0, 0) + build.control(build.ABORT, 1, 0)
    second = build.transactional(2, 0) + build.control(build.COMMIT, 3, 0)
    assert committed(folder, first + second) == [2]


def test_a_control_record_of_an_unknown_type_ends_no_transaction(folder: Any) -> None:
    data = build.transactional(0, 7) + build.control(9, 1, 7) + build.transactional(2, 7)
    assert committed(folder, data + build.control(build.ABORT, 3, 7)) == []
    assert committed(folder, data + build.control(build.COMMIT, 3, 7)) == [0, 2]


def test_all_batches_of_a_transaction_have_its_outcome(folder: Any) -> None:
    data = build.transactional(0, 7) + build.transactional(1, 8)
    data += build.transactional(2, 7, count=2)
    data += build.control(build.ABORT, 4, 7) + build.control(build.COMMIT, 5, 8)
    assert committed(folder, data + build.transactional(6, 7)) == [1]
