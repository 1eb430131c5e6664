"""Tests of the segments that a round of compaction joins."""

from magicbyte.writing._segment_groups import SegmentSize, group_segments


def groups(
    *segments: tuple[int, int], segment_bytes: int = 100, end: int = 1000
) -> list[list[int]]:
    sizes = [SegmentSize(*segment) for segment in segments]
    return group_segments(sizes, segment_bytes=segment_bytes, upper_bound=end)


def test_segments_are_joined_up_to_the_size_of_a_segment() -> None:
    assert groups((0, 60), (10, 40), (20, 1), (30, 99), (40, 1)) == [[0, 1], [2, 3], [4]]


def test_segment_above_the_size_stays_alone() -> None:
    assert groups((0, 500), (10, 1)) == [[0], [1]]


def test_offsets_of_a_joined_segment_fit_into_its_index() -> None:
    end = (1 << 31) + 1
    assert groups((0, 1), (10, 1), end=end - 1) == [[0, 1]]
    assert groups((0, 1), (10, 1), end=end) == [[0], [1]]
    assert groups((0, 1), (10, 1), (end, 1), end=end + 1) == [[0], [1, 2]]


def test_empty_segment_is_joined_whatever_its_offset() -> None:
    assert groups((0, 1), (1 << 33, 0), end=1 << 34) == [[0, 1]]
