"""Tests of the plan of many partitions in a store: the driver keeps few bytes of each split."""

import gc
import pickle
import random
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from data_source import planned
from large_store import options_of, take_for_large
from magicbyte.limits import MIB
from magicbyte.reading.split import Split
from magicbyte.spark import _splits_task
from magicbyte.spark._splits_task import PackedSplits
from magicbyte.spark._tasks import GOAL_TASKS, MIN_TASK_BYTES, each_task, size_of, tasks
from magicbyte_tools.bench import simulated_store


@pytest.fixture(autouse=True)
def is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    take_for_large(monkeypatch)


def store_options(number: int) -> dict[str, str]:
    return {f"storage.{name}": str(value) for name, value in options_of(number).items()}


@pytest.fixture(scope="module")
def split() -> Split:
    _, planned_tasks = planned(simulated_store.URL, **store_options(1))
    first: Split = planned_tasks[0].splits[0]
    return first


def of_sizes(split: Split, sizes: list[int]) -> list[Split]:
    return [replace(split, segment=number, end=size) for number, size in enumerate(sizes)]


def test_tasks_keep_few_bytes_of_a_split_and_pickle_fewer() -> None:
    planned(simulated_store.URL, **store_options(1))
    tracemalloc.start()
    try:
        _, planned_tasks = planned(simulated_store.URL, **store_options(50))
        gc.collect()
        with_tasks = tracemalloc.get_traced_memory()[0]
        num_splits = sum(len(task.splits) for task in planned_tasks)
        num_bytes = sum(len(pickle.dumps(task)) for task in planned_tasks)
        del planned_tasks
        gc.collect()
        kept = with_tasks - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert num_splits == 1000
    assert num_bytes / num_splits < 60
    assert kept / num_splits < 100


def test_a_stored_plan_has_the_same_tasks(tmp_path: Path) -> None:
    options = store_options(30)
    _, expected = planned(simulated_store.URL, **options)
    for _ in range(2):  # it is written, then read
        _, found = planned(simulated_store.URL, planPath=str(tmp_path / "plan"), **options)
        assert [task.splits for task in found] == [task.splits for task in expected]
    lines = (tmp_path / "plan").read_text().splitlines()
    assert len(lines) == 1 + len(expected)


@pytest.mark.parametrize("min_count", [None, 1, 7, 1000])
@pytest.mark.parametrize("mib", [1, 40, 128])
def test_tasks_do_not_depend_on_how_many_splits_are_known(
    split: Split, mib: int, min_count: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_splits_task, "PACKED_TOGETHER", 5)
    chance = random.Random(f"{mib} {min_count}")
    for largest in (MIB, 30 * MIB, 300 * MIB):
        splits = of_sizes(split, [chance.randrange(1, largest) for _ in range(200)])
        found = tasks(splits, mib * MIB, min_count=min_count)
        assert [one for task in found for one in task] == splits
        total = size_of(splits)
        least = max(MIN_TASK_BYTES, total // GOAL_TASKS)
        goal = min(mib * MIB, least if min_count is None else max(1, total // min_count))
        for task, following in pairwise(found):
            assert len(task) == 1 or size_of(task) <= goal
            counted = [max(one.end, min(MIB // 4, goal)) for one in (*task, following[0])]
            pickled = [len(pickle.dumps(one)) for one in (*task, following[0])]
            assert sum(counted) > goal or sum(pickled) > 48 << 10


def test_tasks_of_a_large_plan_come_before_all_splits_are_known(split: Split) -> None:
    num_taken = 0

    def endless() -> Iterator[Split]:
        nonlocal num_taken
        while True:
            num_taken += 1
            assert num_taken < 30_000
            yield replace(split, end=10 * MIB)

    tasks_of_endless = each_task(endless(), 128 * MIB)
    for _ in range(2000):
        assert len(next(tasks_of_endless)) == 12
    assert num_taken <= 2000 * 12 + 1


def test_packed_splits_are_in_order(split: Split, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_splits_task, "PACKED_TOGETHER", 5)
    splits, packed = of_sizes(split, [*range(1, 24)]), PackedSplits()
    for each in splits:
        packed.add(each)
    assert list(packed) == list(packed) == splits
    assert (len(packed), packed.num_bytes) == (23, sum(range(1, 24)))
