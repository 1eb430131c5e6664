"""Tests of the bytes that the log cleaner has not cleaned, by the sums of Kafka's LogToClean."""

from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from paths import DATA

SIZE = len(build.batch())
"""Bytes of each of five segments with one record each."""


@pytest.fixture
def log_dir(folder: Any) -> Any:
    place = folder.log_dir()
    for base in range(5):
        place.segment("t-0", build.batch(base=base), base)
    return place


def dirty(log_dir: Any, **options: Any) -> tuple[Any, ...]:
    (row,) = mb.stats(str(log_dir), **options).rows
    return row["first_dirty_offset"], row["dirty_bytes"], row["dirty_ratio"]


@pytest.mark.parametrize(
    ("cleaned", "first", "num_dirty", "ratio"),
    [
        (0, 0, 4, 1.0),
        (2, 2, 2, 0.5),
        (4, 4, 0, 0.0),  # the active segment is never cleaned
        (9, 0, 4, 1.0),  # outside of the log: the broker begins again
    ],
)
def test_segments_from_the_first_dirty_offset_to_the_active_one_are_dirty(
    log_dir: Any, cleaned: int, first: int, num_dirty: int, ratio: float
) -> None:
    log_dir.checkpoint("cleaner-offset-checkpoint", {("t", 0): cleaned})
    assert dirty(log_dir) == (first, num_dirty * SIZE, ratio)
    assert dirty(log_dir, quick=True) == (first, num_dirty * SIZE, ratio)


def test_a_checkpoint_below_the_log_start_counts_from_there(log_dir: Any) -> None:
    log_dir.checkpoint("cleaner-offset-checkpoint", {("t", 0): 0})
    log_dir.checkpoint("log-start-offset-checkpoint", {("t", 0): 3})
    assert dirty(log_dir)[:2] == (3, SIZE)


def test_an_open_transaction_is_not_cleaned(log_dir: Any) -> None:
    log_dir.checkpoint("cleaner-offset-checkpoint", {("t", 0): 0})
    data = build.transactional(2, 7)
    log_dir.segment("t-0", data, 2)
    assert dirty(log_dir)[1] == 2 * SIZE


def test_without_a_checkpoint_of_the_partition_nothing_is_said(log_dir: Any) -> None:
    assert dirty(log_dir) == (None, None, None)
    log_dir.checkpoint("cleaner-offset-checkpoint", {("other", 0): 1})
    assert dirty(log_dir) == (None, None, None)


def test_sums_have_no_first_offset(log_dir: Any) -> None:
    log_dir.checkpoint("cleaner-offset-checkpoint", {("t", 0): 2, ("t", 1): 0})
    for base in range(2):
        log_dir.segment("t-1", build.batch(base=base), base)
    assert dirty(log_dir, by="topic") == (None, 3 * SIZE, 3 / 5)


def test_compacted_partitions_of_real_brokers_have_dirty_bytes() -> None:
    rows = mb.stats(DATA / "4.3" / "compacted" / "log-0").rows
    ratios = [row["dirty_ratio"] for row in rows if row["dirty_ratio"] is not None]
    assert len(ratios) > 5 and all(0 <= ratio <= 1 for ratio in ratios)
    assert Path(rows[0]["log_dir"]).name == "log-0"
