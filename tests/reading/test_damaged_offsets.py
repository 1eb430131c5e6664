"""Tests of the offsets in damaged ranges, which the sound batches around them bound."""

import struct
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from file_damage import flip

SIZE = len(build.batch(build.records(3), 0))
"""Bytes of each batch: three records."""


def log(folder: Any, *bases: int, base: int = 0) -> Any:
    """Write a segment of batches of three records at offsets *bases*."""
    data = b"".join(build.batch(build.records(3), offset) for offset in bases)
    return folder.segment("t-0", data, base)


def ranges(folder: Any) -> list[tuple[int, int, int, int | None, int | None]]:
    """Return position, length, first, end and next offset of each damaged range."""
    (row,) = mb.verify(folder.path, clean_shutdown=True).partitions
    return [
        (
            each["position"],
            each["length"],
            each["first_offset"],
            each["end_offset"],
            each["next_offset"],
        )
        for each in row["damaged_ranges"]
    ]


@pytest.fixture
def log_dir(folder: Any) -> Any:
    return folder.log_dir()


def test_damaged_batch_holds_the_offsets_between_its_neighbors(log_dir: Any) -> None:
    path = log(log_dir, 0, 3, 6, 9)
    assert ranges(log_dir) == []
    flip(path, SIZE + 70)
    assert ranges(log_dir) == [(SIZE, SIZE, 3, 6, 6)]


def test_adjacent_damaged_batches_are_one_range(log_dir: Any) -> None:
    path = log(log_dir, 0, 3, 6, 9, 12)
    for number in (1, 2, 4):
        flip(path, number * SIZE + 70)
    assert ranges(log_dir) == [(SIZE, 2 * SIZE, 3, 9, 9), (4 * SIZE, SIZE, 12, None, None)]


def test_payload_with_a_right_checksum_is_damage_too(log_dir: Any) -> None:
    data = [build.batch(build.records(3), offset) for offset in (0, 3, 6)]
    data[1] = build.batch(build.records(3), 3, count=4, last_delta=2)
    log_dir.segment("t-0", b"".join(data))
    assert ranges(log_dir) == [(SIZE, SIZE, 3, 6, 6)]


def test_damage_at_both_sides_of_a_segment_boundary_is_bounded_by_it(log_dir: Any) -> None:
    first, second = log(log_dir, 0, 3), log(log_dir, 6, 9, 12, base=6)
    flip(first, SIZE + 70)
    flip(second, 70)
    assert ranges(log_dir) == [(SIZE, SIZE, 3, 6, 9), (0, SIZE, 6, 9, 9)]


def test_damage_at_the_beginning_is_bounded_by_the_base_offset(log_dir: Any) -> None:
    flip(log(log_dir, 20, 23, base=20), 70)
    assert ranges(log_dir) == [(0, SIZE, 20, 23, 23)]


def test_damage_at_the_end_is_bounded_by_the_checkpoints_only(log_dir: Any) -> None:
    flip(log(log_dir, 0, 3), SIZE + 70)
    assert ranges(log_dir) == [(SIZE, SIZE, 3, None, None)]
    log_dir.checkpoint("recovery-point-offset-checkpoint", {("t", 0): 6})
    assert ranges(log_dir) == [(SIZE, SIZE, 3, 6, None)]


def test_damage_below_the_log_start_is_left_out(log_dir: Any) -> None:
    path = log(log_dir, 0, 3, 6, 9)
    flip(path, SIZE + 70)
    log_dir.checkpoint("log-start-offset-checkpoint", {("t", 0): 4})
    assert ranges(log_dir) == [(SIZE, SIZE, 4, 6, 6)]
    log_dir.checkpoint("log-start-offset-checkpoint", {("t", 0): 6})
    assert ranges(log_dir) == []


def test_partial_batch_at_the_end_is_no_damaged_range(log_dir: Any) -> None:
    path = log(log_dir, 0, 3)
    path.write_bytes(path.read_bytes()[:-5])
    assert ranges(log_dir) == []


def test_range_that_a_startup_cuts_off_does_not_remain(log_dir: Any) -> None:
    path = log(log_dir, 0, 3, 6)
    path.with_suffix(".index").write_bytes(b"")
    flip(path, SIZE + 70)
    for clean_shutdown, remains in ((True, True), (False, False)):
        (row,) = mb.verify(log_dir.path, clean_shutdown=clean_shutdown).partitions
        assert [each["remains"] for each in row["damaged_ranges"]] == [remains]


def test_broker_finds_offsets_after_a_wrong_size_by_the_index_only(log_dir: Any) -> None:
    """Where the size field is right, a broker gets past the damage; else it needs an index entry."""

    def seek_offset() -> int | None:
        (row,) = mb.verify(log_dir.path, clean_shutdown=True).partitions
        (damaged,) = row["damaged_ranges"]
        assert damaged["next_offset"] == 6
        offset: int | None = damaged["seek_offset"]
        return offset

    path = log(log_dir, 0, 3, 6, 9)
    sound = path.read_bytes()
    flip(path, SIZE + 70)
    assert seek_offset() == 6
    path.write_bytes(sound)
    flip(path, SIZE + 8, 0x40)  # the size field
    assert seek_offset() is None
    path.with_suffix(".index").write_bytes(struct.pack(">iiii", 2, 0, 11, 3 * SIZE))
    assert seek_offset() == 11
    path.with_suffix(".index").unlink()
    log(log_dir, 12, base=12)
    assert seek_offset() == 12
