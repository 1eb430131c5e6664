"""Tests of plans of many partitions in a store: in memory for a few of them, and with few requests."""

import gc
import threading
import tracemalloc
from typing import Any

import pytest

import magicbyte as mb
from large_store import FILES_PER_PARTITION, open_store, options_of, take_for_large
from magicbyte.logdir.discover import discover
from magicbyte.logdir.log_file import LogFile
from magicbyte.reading import planner
from magicbyte.reading.planner import Planner
from magicbyte.storage import AT_A_TIME, Storage, _extents
from magicbyte.storage import _small_files as small_files
from magicbyte_tools.bench import simulated_store
from magicbyte_tools.bench.scale import num_compared_rows
from magicbyte_tools.bench.simulated_store import LogGenerator, SimulatedFileSystem

SPLIT_BYTES = 128 << 20


@pytest.fixture(autouse=True)
def is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    take_for_large(monkeypatch)


def live_files() -> int:
    """Return the number of files of partitions that are in memory, one by one."""
    gc.collect()
    return sum(isinstance(each, LogFile) for each in gc.get_objects())


def traced_bytes() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def test_rows_of_splits_are_those_of_the_store() -> None:
    splits = list(open_store(100).splits(SPLIT_BYTES))
    assert len(splits) == 2000
    assert [(each.partition, each.segment) for each in splits[:2000:99]] == [
        divmod(number, 20) for number in range(0, 2000, 99)
    ]
    generator = LogGenerator(100, 20, splits[0].file.size_bytes)
    for split in (splits[0], splits[777], splits[-1]):
        rows = mb.read_split(split, ("offset", "value"))
        found = [row for batch in rows for row in zip(*batch.to_pydict().values(), strict=True)]
        partition = split.partition or 0
        expected = [(row[0], row[2]) for row in generator.records(partition, split.segment)]
        assert found == expected and len(found) > 200


def test_logs_are_those_of_a_tree_that_is_listed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one = open_store(30)
    monkeypatch.setattr("magicbyte.storage._storage.MAX_TREE_OBJECTS", 1 << 20)
    at_once = open_store(30)
    assert one_by_one.logs == at_once.logs and len(at_once.logs) == 30
    assert one_by_one.log_dirs == at_once.log_dirs
    assert one_by_one.unread == at_once.unread
    versions = [[file.listed_version for file in log.files] for log in one_by_one.logs]
    assert versions == [[file.listed_version for file in log.files] for log in at_once.logs]
    assert None not in versions[0]


def test_an_open_dataset_takes_few_bytes_per_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_extents, "MAX_EXTENTS", 10)
    monkeypatch.setattr(small_files, "MAX_FILES", 10)
    open_store(20)
    tracemalloc.start()
    try:
        sizes = []
        for number in (50, 150):
            before = traced_bytes()
            dataset = open_store(number)
            sizes.append(traced_bytes() - before)
            assert len(dataset.logs) == number
            del dataset
    finally:
        tracemalloc.stop()
    per_object = (sizes[1] - sizes[0]) / (100 * FILES_PER_PARTITION)
    assert 26 < per_object < 60


def test_memory_of_a_plan_does_not_grow_with_the_partitions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planner, "MAX_CACHED", 5 * FILES_PER_PARTITION)
    monkeypatch.setattr(planner, "MIN_SURVEYS", AT_A_TIME + 1)
    monkeypatch.setattr(_extents, "MAX_EXTENTS", 50)
    monkeypatch.setattr("magicbyte.storage._store.MAX_CHECKED", 20)
    monkeypatch.setattr(small_files, "MAX_FILES", 10)
    sizes, counts = [], []
    dataset = open_store(240)
    assert live_files() < 5 * 240  # the checkpoint and the topic's id are not packed
    tracemalloc.start()
    try:
        for number, split in enumerate(dataset.splits(SPLIT_BYTES)):
            if number % (20 * 60) == 20 * 60 - 1:
                assert split.segment == 19
                sizes.append(traced_bytes())
                counts.append(live_files())
    finally:
        tracemalloc.stop()
    assert len(counts) == 4
    at_a_time = 3 * AT_A_TIME * FILES_PER_PARTITION  # planned ahead, and the last surveys
    assert max(counts) - min(counts) < at_a_time < 60 * FILES_PER_PARTITION
    assert max(sizes[1:]) - sizes[0] < at_a_time * 1000


def test_each_partition_takes_a_listing_and_five_objects() -> None:
    def requests(number: int) -> mb.StoreRequests:
        small_files.small_files.clear()
        before = mb.store_requests().get("simulated://logs", mb.StoreRequests())
        for _ in open_store(number).splits(SPLIT_BYTES):
            pass
        after = mb.store_requests()["simulated://logs"]
        return mb.StoreRequests(
            gets=after.gets - before.gets,
            heads=after.heads - before.heads,
            lists=after.lists - before.lists,
            requested_bytes=after.requested_bytes - before.requested_bytes,
        )

    few, many = requests(20), requests(100)
    assert many.lists - few.lists == 80
    # partition.metadata, leader-epoch-checkpoint, the last .index and .snapshot, the end of the log
    assert many.gets - few.gets == many.heads - few.heads == 80 * 5
    assert (many.requested_bytes - few.requested_bytes) // 80 < 40_000


@pytest.mark.parametrize("kind", ["LIST", "GET"])
def test_folders_are_listed_and_logs_planned_at_the_same_time(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    barrier = threading.Barrier(AT_A_TIME)
    name = {"LIST": "find", "GET": "read_range"}[kind]
    answer = getattr(SimulatedFileSystem, name)
    waited = []

    def waiting(system: Any, path: str, *rest: Any, **more: Any) -> Any:
        if ("topic-" in path and kind == "LIST") or path.endswith(".index"):
            waited.append(barrier.wait(60))
        return answer(system, path, *rest, **more)

    dataset = None if kind == "LIST" else open_store(2 * AT_A_TIME)
    monkeypatch.setattr(SimulatedFileSystem, name, waiting)
    monkeypatch.setattr("magicbyte.storage._storage.MAX_UNSAMPLED_FOLDERS", 1 << 20)
    dataset = dataset or open_store(2 * AT_A_TIME)
    assert len(dataset.plan(SPLIT_BYTES)) == 2 * AT_A_TIME * 20
    assert len(waited) == 2 * AT_A_TIME


def test_folders_are_forgotten_when_they_were_searched() -> None:
    storage = Storage(options_of(60))
    found = discover([simulated_store.URL], storage)
    assert len(found.partitions) == 60
    assert len(storage._folders) < 5


def test_a_tree_that_turned_out_to_be_small_is_listed_at_once_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("magicbyte.storage._storage.MAX_TREE_OBJECTS", 1000)
    options = options_of(20) | {"num_segments": 1}
    lists = []
    for _ in range(2):
        before = mb.store_requests().get("simulated://logs", mb.StoreRequests()).lists
        mb.open(simulated_store.URL, storage_options=options)
        lists.append(mb.store_requests()["simulated://logs"].lists - before)
    assert lists == [1 + 20, 1], "20 folders might have had 2,000 objects"


def test_an_error_of_one_folder_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    find = SimulatedFileSystem.find

    def failing(system: Any, path: str, *rest: Any, **more: Any) -> Any:
        if path.endswith("topic-00000-7"):
            raise OSError("HTTP status 503")
        return find(system, path, *rest, **more)

    monkeypatch.setattr(SimulatedFileSystem, "find", failing)
    with pytest.raises(mb.StoreError, match="topic-00000-7: HTTP status 503"):
        open_store(20)


def test_the_last_surveys_are_cached_and_those_made_elsewhere_for_good(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(planner, "MAX_CACHED", 3 * (FILES_PER_PARTITION + 20))
    monkeypatch.setattr(planner, "MIN_SURVEYS", 2)
    dataset = open_store(7)
    surveyor = Planner(dataset.options)
    made_elsewhere = Planner(dataset.options).survey(dataset.logs[0], SPLIT_BYTES)
    surveyor.keep(made_elsewhere, dataset.logs[0], SPLIT_BYTES)
    surveys = [surveyor.survey(log, SPLIT_BYTES, for_records=True) for log in dataset.logs]
    assert len(surveyor._headers) == 3 * 20
    again = [surveyor.survey(log, SPLIT_BYTES, for_records=True) for log in dataset.logs[-3:]]
    assert all(one is other for one, other in zip(again, surveys[-3:], strict=True))
    assert surveyor.survey(dataset.logs[1], SPLIT_BYTES, for_records=True) is not surveys[1]
    pinned = surveyor.survey(dataset.logs[0], SPLIT_BYTES)
    assert pinned.segments is made_elsewhere.segments


def test_compared_rows_are_those_of_the_benchmark() -> None:
    options = {"num_partitions": 2, "num_segments": 20}
    dataset = mb.open(simulated_store.URL, storage_options=options)
    assert num_compared_rows(next(dataset.splits())) > 0
