"""Tests of the outcomes that a plan gives to splits: those of their own data that they do not show."""

from typing import Any

import log_builder as build
import magicbyte as mb
from magicbyte._transactions import PlannedOutcomes


def planned(folder: Any, max_partition_bytes: int = 1, **options: Any) -> list[PlannedOutcomes]:
    """Return the outcomes of the splits of *folder*, with an entry each by default."""
    dataset = mb.open(folder.path, on_damage="skip", **options)
    return [split.planned_outcomes for split in dataset.plan(max_partition_bytes)]


def test_a_split_without_the_marker_gets_the_outcome_of_its_own_data_alone(folder: Any) -> None:
    data = build.transactional(0, 7) + build.transactional(1, 8) + build.transactional(2, 7)
    data += build.control(build.ABORT, 3, 7) + build.control(build.COMMIT, 4, 8)
    folder.log_dir()
    folder.segment("t-0", data)
    found = [one.at_end for one in planned(folder)]
    # The transaction of producer 7 may have data in the second split: its first and last are around it.
    assert found == [
        ((7, "aborted"),),
        ((7, "aborted"), (8, "committed")),
        ((7, "aborted"),),
        (),
        (),
    ]


def test_open_data_needs_no_outcome(folder: Any) -> None:
    folder.log_dir()
    folder.segment("t-0", build.transactional(0, 7) + build.transactional(1, 8))
    assert planned(folder) == [PlannedOutcomes()] * 2


def test_an_uncertain_transaction_is_an_exception_only_in_the_splits_of_its_data(
    folder: Any,
) -> None:
    data = build.batch(base=0) + build.transactional(1, 7) + build.batch(base=2, crc=1)
    data += build.batch(base=3) + build.control(build.ABORT, 4, 7)
    folder.log_dir()
    folder.segment("t-0", data)
    found = [[one[3] for one in outcomes.exceptions] for outcomes in planned(folder)]
    assert found[0] == found[-1] == []
    assert ["undecided"] in found


def test_an_index_leaves_out_transactions_that_are_committed(folder: Any) -> None:
    folder.log_dir()
    folder.segment("t-0", build.transactional(0, 7) + build.transactional(1, 8))
    data = build.control(build.COMMIT, 2, 7) + build.control(build.ABORT, 3, 8)
    folder.segment("t-0", data + build.transactional(4, 9), 2)
    folder.segment("t-0", build.transaction_index((8, 1, 3)), 2, "txnindex")
    folder.segment("t-0", build.producer_snapshot((7, 0, 0, 0), (8, 0, 1, 1)), 2, "snapshot")
    dataset = mb.open(folder.path, on_damage="skip", transactions="index")
    opened = [split.outcome_index.open_at_end for split in dataset.plan() if split.outcome_index]
    assert opened == [((8, 1, "aborted"),), ((9, 4, "open"),)]
