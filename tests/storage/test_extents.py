"""Tests of the extents of objects that were requested: each byte once, in bounded memory and disk."""

import os
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from magicbyte.storage import _extents as extents
from magicbyte.storage._extents import ExtentCache

DATA = random.Random(5).randbytes(100_000)


class Loader:
    """Loads from DATA, and counts the loads of each byte."""

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []

    def load(self, begin: int, end: int) -> bytes:
        self.ranges.append((begin, end))
        return DATA[begin:end]

    @property
    def times(self) -> Counter[int]:
        return Counter(n for begin, end in self.ranges for n in range(begin, end))


def read(cache: ExtentCache, loader: Loader, position: int, block: int = 1000) -> None:
    begin, data = cache.get("k", position, min(position + block, len(DATA)), loader.load)
    assert begin <= position < begin + len(data)
    assert data == DATA[begin : begin + len(data)]


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(extents, "_temporary_folder", lambda: str(tmp_path))
    return tmp_path


def test_bytes_beyond_the_memory_are_kept_on_disk_without_a_name(temporary_folder: Path) -> None:
    cache, loader = ExtentCache(3000, 200_000), Loader()
    for _ in range(2):
        for position in range(0, len(DATA), 1000):
            read(cache, loader, position)
    assert set(loader.times.values()) == {1}
    assert list(temporary_folder.iterdir()) == []


def test_extents_do_not_overlap_in_any_order_of_reads() -> None:
    chance = random.Random(6)
    cache, loader = ExtentCache(3000, 200_000), Loader()
    for _ in range(3000):
        read(cache, loader, chance.randrange(len(DATA)), chance.choice((1, 700, 5000)))
    assert set(loader.times.values()) == {1}


def test_oldest_bytes_on_a_full_disk_are_requested_again() -> None:
    cache, loader = ExtentCache(1000, 10_500), Loader()
    chance = random.Random(7)
    for _ in range(3000):
        read(cache, loader, chance.randrange(40_000), chance.choice((300, 900, 1700)))
    assert max(loader.times.values()) > 2
    assert sum(map(len, cache._by_key.values())) == len(cache._on_disk) + len(cache._in_memory)
    ranges = sorted(
        (each.disk_position or 0, (each.disk_position or 0) + each.end - each.begin)
        for each in cache._on_disk
    )
    assert all(end <= begin for (_, end), (begin, _) in pairwise(ranges))
    assert ranges[-1][1] <= 10_500


def test_without_disk_memory_alone_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    cache, loader = ExtentCache(3000, 200_000), Loader()
    for position in (*range(0, 10_000, 1000), 9000, 8000, 0):
        read(cache, loader, position)
    assert loader.times[9000] == 1 and loader.times[0] == 2


def test_threads_share_a_request() -> None:
    cache, loader = ExtentCache(3000, 200_000), Loader()
    positions = [position for position in range(0, len(DATA), 500) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda position: read(cache, loader, position), positions))
    assert set(loader.times.values()) == {1}


def test_request_that_fails_is_made_again_by_the_next_reader() -> None:
    cache, loader = ExtentCache(3000, 200_000), Loader()

    def fail(begin: int, end: int) -> bytes:
        raise OSError("down")

    with pytest.raises(OSError, match="down"):
        cache.get("k", 0, 1000, fail)
    assert cache.end_of("k", 0) is None
    read(cache, loader, 0)
    assert cache.end_of("k", 10) == 1000


def test_a_forked_process_does_not_write_into_the_file_of_its_parent() -> None:
    cache, loader = ExtentCache(1000, 9500), Loader()
    for position in range(0, 10_000, 1000):
        read(cache, loader, position)
    child = os.fork()
    if not child:
        try:
            for position in range(20_000, 30_000, 1000):
                cache.get("k", position, position + 1000, lambda begin, end: b"x" * (end - begin))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    for position in range(0, 10_000, 1000):
        read(cache, loader, position)
    assert set(loader.times.values()) == {1}


def test_many_small_extents_are_dropped_beyond_their_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extents, "MAX_EXTENTS", 30)
    cache, loader = ExtentCache(1000, 200_000), Loader()
    for position in range(0, 3000, 10):
        read(cache, loader, position, 10)
    assert (len(cache._in_memory), len(cache._on_disk), len(cache._by_key["k"])) == (30, 30, 60)
    for position in range(2400, 3000, 10):
        read(cache, loader, position, 10)
    assert set(loader.times.values()) == {1}
    read(cache, loader, 0, 10)
    assert loader.times[0] == 2
