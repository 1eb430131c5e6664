"""Tests of reads around bytes that cannot be read."""

import errno
import os
import random
from pathlib import Path

import pytest

from io_faults import faulty_disk
from magicbyte.errors import ChangedError, StoreError, UnreadableError
from magicbyte.limits import MIB
from magicbyte.storage import LocalFile, SegmentFile, UnreadableBytes
from magicbyte.storage._recovery import BLOCK_BYTES, MASK, MAX_FAILURES, NOT_TRIED, Recovery

SIZE = 4 * MIB


def content(size: int) -> bytes:
    return random.Random(1).randbytes(size)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("disk") / "file"
    file.write_bytes(content(SIZE))
    return file


def masked(*blocks: int) -> bytes:
    data = bytearray(content(SIZE))
    for block in blocks:
        data[block * BLOCK_BYTES : (block + 1) * BLOCK_BYTES] = MASK * BLOCK_BYTES
    return bytes(data)


def ranges(file: SegmentFile) -> list[tuple[int, int]]:
    assert file.unreadable is not None
    return [(each.start, each.end) for each in file.unreadable.ranges]


@pytest.mark.parametrize("blocks", [(0,), (1023,), (17, 18, 19), (1, 500, 502), (511, 512)])
def test_all_bytes_around_blocks_that_cannot_be_read_are_read(
    blocks: tuple[int, ...], path: Path
) -> None:
    with faulty_disk() as disk, SegmentFile(str(path), None) as file:
        disk.blocks[str(path)] = set(blocks)
        assert file.read_at(0, SIZE) == masked(*blocks)
        assert sum(end - start for start, end in ranges(file)) == len(blocks) * BLOCK_BYTES


def test_a_block_that_cannot_be_read_is_tried_once(path: Path) -> None:
    with faulty_disk() as disk, SegmentFile(str(path), None) as file:
        disk.blocks[str(path)] = {3}
        file.read_at(0, SIZE)
        before = disk.num_failures
        for position in range(2 * BLOCK_BYTES, 6 * BLOCK_BYTES, 61):
            file.read_at(position, 61)
        assert disk.num_failures == before


def test_neighbours_are_one_range(path: Path) -> None:
    with faulty_disk() as disk, SegmentFile(str(path), None) as file:
        disk.blocks[str(path)] = {4, 5, 6}
        file.read_at(5 * BLOCK_BYTES + 100, 50)
        file.read_at(0, SIZE)
        assert ranges(file)[0][0] == 4 * BLOCK_BYTES
        assert ranges(file)[-1][1] == 7 * BLOCK_BYTES
        assert len(ranges(file)) == 1


def test_a_disk_that_delivers_nothing_is_given_up(path: Path) -> None:
    with faulty_disk() as disk, SegmentFile(str(path), None) as file:
        disk.blocks[str(path)] = set(range(SIZE // BLOCK_BYTES))
        assert file.read_at(0, SIZE) == MASK * SIZE
        assert ranges(file)[0][0] == 0 and ranges(file)[-1][1] == SIZE
        assert disk.num_failures < 2 * MAX_FAILURES


def test_the_readable_end_of_a_long_range_is_found(path: Path) -> None:
    first = 800
    with faulty_disk() as disk, SegmentFile(str(path), None) as file:
        disk.blocks[str(path)] = set(range(first))
        data = file.read_at(0, SIZE)
        assert data[first * BLOCK_BYTES :] == content(SIZE)[first * BLOCK_BYTES :]
        assert disk.num_failures < 6 * MAX_FAILURES


def test_a_file_that_is_no_segment_raises_with_the_range(path: Path) -> None:
    with faulty_disk() as disk, LocalFile(str(path), None) as file:
        disk.blocks[str(path)] = {0}
        with pytest.raises(UnreadableError, match="Input/output error") as raised:
            file.read_at(0, 100)
    finding = raised.value.finding
    assert (finding.code, finding.position, finding.length) == ("unreadable", 0, 100)
    assert raised.value.errno == errno.EIO


@pytest.mark.parametrize("number", [errno.EACCES, errno.ELOOP, errno.EIO, errno.ENAMETOOLONG])
def test_a_file_that_cannot_be_opened_is_unreadable_not_missing(number: int, path: Path) -> None:
    with faulty_disk() as disk:
        disk.unopened[str(path)] = number
        with pytest.raises(UnreadableError) as raised:
            LocalFile(str(path), None)
    assert raised.value.errno == number
    assert str(path) in str(raised.value)


def test_a_file_that_ends_early_has_changed() -> None:
    data = content(100)
    recovery = Recovery("f", 100, lambda position, length: data[position : position + length])
    assert recovery.read(10, 90) == data[10:]
    with pytest.raises(ChangedError, match="ends at byte 100"):
        recovery.read(10, 91)


def test_an_object_that_a_store_refuses_is_asked_for_once() -> None:
    requests = []

    def refuse(position: int, length: int) -> bytes:
        requests.append((position, length))
        raise StoreError("AccessDenied", path="s3://b/k", is_denied=True)

    recovery = Recovery("s3://b/k", SIZE, refuse)
    assert recovery.read(0, SIZE) == MASK * SIZE
    assert recovery.read(100, 50) == MASK * 50
    assert requests == [(0, SIZE)]


def test_store_that_cannot_be_reached_is_asked_for_no_parts_and_given_up() -> None:
    requests = []

    def fail(position: int, length: int) -> bytes:
        requests.append((position, length))
        raise StoreError("SLOW_DOWN", path="s3://b/k", is_unreachable=True)

    recovery = Recovery("s3://b/k", 100 * MIB, fail, max_failures=8)
    for number in range(100):
        assert recovery.read(number * MIB, MIB) == MASK * MIB
    assert requests == [(number * MIB, MIB) for number in range(9)]
    assert [each.reason for each in recovery.unreadable.ranges] == ["SLOW_DOWN", NOT_TRIED]


def test_a_fifo_is_no_file(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for other, kind in ((fifo, "a FIFO"), (tmp_path, "a folder")):
        with pytest.raises(UnreadableError, match=kind):
            LocalFile(str(other), None)


def test_random_faults_leave_every_readable_byte() -> None:
    data = content(300_000)
    for seed in range(40):
        drawn = random.Random(seed)
        bad = {drawn.randrange(len(data) // BLOCK_BYTES + 1) for _ in range(drawn.randrange(1, 9))}

        def read(
            position: int, length: int, bad: set[int] = bad, drawn: random.Random = drawn
        ) -> bytes:
            end = min(position + length, len(data))
            for block in range(position // BLOCK_BYTES, (end - 1) // BLOCK_BYTES + 1):
                if block in bad:
                    raise OSError(errno.EIO, "EIO")
            return data[position : min(end, position + drawn.randrange(1, 1 << 17))]

        expected = bytearray(data)
        for block in bad:
            begin, end = block * BLOCK_BYTES, min((block + 1) * BLOCK_BYTES, len(data))
            expected[begin:end] = MASK * (end - begin)
        recovery = Recovery("f", len(data), read)
        position = 0
        while position < len(data):
            length = min(drawn.randrange(1, 100_000), len(data) - position)
            assert recovery.read(position, length) == expected[position : position + length], seed
            position += length


def test_ranges_do_not_overlap_and_equal_neighbours_are_one() -> None:
    unreadable = UnreadableBytes("f")
    for start, end, reason in (
        (10, 20, "a"),
        (30, 40, "b"),
        (0, 50, "c"),
        (50, 60, "c"),
        (5, 9, "d"),
    ):
        unreadable.add(start, end, reason)
    assert [(each.start, each.end, each.reason) for each in unreadable.ranges] == [
        *((0, 10, "c"), (10, 20, "a"), (20, 30, "c"), (30, 40, "b"), (40, 60, "c")),
    ]
    assert [(each.start, each.end) for each in unreadable.between(15, 32)] == [
        *((15, 20), (20, 30), (30, 32)),
    ]
    assert list(unreadable.gaps(0, 70)) == [(60, 70)]
    assert list(unreadable.gaps(-5, 1)) == [(-5, 0)]


def test_many_scattered_ranges_take_linear_time() -> None:
    unreadable = UnreadableBytes("f")
    positions = list(range(0, 10_000 * 8192, 8192))
    random.Random(3).shuffle(positions)
    for position in positions:
        unreadable.add(position, position + 4096, "EIO")
    assert len(unreadable.ranges) == 10_000
    assert (
        sum(len(unreadable.between(position, position + 9000)) for position in positions) >= 19_999
    )
