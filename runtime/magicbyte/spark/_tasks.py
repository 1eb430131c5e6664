"""Group splits into tasks, so that many small segments share the cost of one Python task."""

import gc
import pickle
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain

from magicbyte.limits import MIB
from magicbyte.reading.split import Split
from magicbyte.spark._splits_task import PackedSplits

MIN_TASK_BYTES = 16 * MIB
"""Splits are grouped up to this size even if the input is small."""

SPLIT_COST_BYTES = MIB // 4
"""Smallest size that a split counts as: opening a file costs as much as reading these bytes."""

MAX_PICKLED_BYTES = 48 << 10
"""Limit of the pickled splits of a task, unless a single split exceeds it."""

GOAL_TASKS = 64
"""Number of tasks above which tasks grow, up to *max_bytes*, instead of becoming more."""


def tasks(
    splits: Iterable[Split], max_bytes: int, *, min_count: int | None = None
) -> list[tuple[Split, ...]]:
    """Return *splits* in order, with small consecutive ones grouped into one task.

    No task reads more than *max_bytes* of files, unless a single split does. *min_count* is the
    approximate number of tasks to reach, if there are as many splits.
    """
    return list(each_task(splits, max_bytes, min_count=min_count))


def each_task(
    splits: Iterable[Split], max_bytes: int, *, min_count: int | None = None
) -> Iterator[tuple[Split, ...]]:
    """Yield the same as `tasks`. Splits are taken when they are needed: at first, as many as tell the size."""
    rest, first = iter(splits), PackedSplits()
    goal = 0
    for split in rest:
        first.add(split)
        goal = _goal(first.num_bytes, max_bytes, min_count)
        if goal == max_bytes:
            break  # more splits make it no larger
    yield from _groups(chain(first, rest), goal)


def _goal(total: int, max_bytes: int, min_count: int | None) -> int:
    """Return the bytes that a task should read where all tasks read *total* bytes."""
    if min_count is not None:
        return min(max_bytes, max(1, total // min_count))
    return min(max_bytes, max(MIN_TASK_BYTES, total // GOAL_TASKS))


def size_of(splits: Iterable[Split]) -> int:
    """Return the total bytes of files that *splits* read."""
    return sum(split.end - split.start for split in splits)


def _groups(splits: Iterable[Split], goal: int) -> Iterator[tuple[Split, ...]]:
    task: list[Split] = []
    cost = pickled = 0
    for split in splits:
        own = max(split.end - split.start, min(SPLIT_COST_BYTES, goal))
        size = len(pickle.dumps(split))
        if task and (cost + own > goal or pickled + size > MAX_PICKLED_BYTES):
            yield tuple(task)
            task, cost, pickled = [], 0, 0
        task.append(split)
        cost += own
        pickled += size
    if task:
        yield tuple(task)


@cache
def spare_collector() -> None:
    """Exclude the objects of imported modules from garbage collection, once per process.

    Spark collects garbage after every task, which would visit all of them.
    """
    gc.freeze()
