"""Splits put together into tasks: what a Python task costs, many small segments share."""

import gc
import pickle
from collections.abc import Iterable, Sequence
from functools import cache

from magicbyte.limits import MIB
from magicbyte.reading.split import Split

LEAST_TASK_BYTES = 16 * MIB
"""Bytes up to which small splits go into one task, where the input is small too."""

SPLIT_COST_BYTES = MIB // 4
"""What a split counts at least: to open a file costs as much as to read some of it."""

MAX_PICKLED_BYTES = 48 << 10
"""Bytes of pickled splits in a task, unless one split alone has more."""

GOAL_TASKS = 64
"""So many tasks are enough: a larger input makes larger ones, up to *max_bytes*."""


def tasks(
    splits: Sequence[Split], max_bytes: int, *, least_count: int | None = None
) -> list[tuple[Split, ...]]:
    """Return *splits* in their order, consecutive ones together while they are small.

    No task spans more than *max_bytes* of files unless one split does. *least_count* is how many
    tasks there should be, about, where there are as many splits.
    """
    total = size_of(splits)
    least = max(LEAST_TASK_BYTES, total // GOAL_TASKS)
    goal = min(max_bytes, least if least_count is None else max(1, total // least_count))
    return list(_grouped(splits, goal))


def size_of(splits: Iterable[Split]) -> int:
    """Return the bytes of files that *splits* span."""
    return sum(split.end - split.start for split in splits)


def _grouped(splits: Iterable[Split], goal: int) -> Iterable[tuple[Split, ...]]:
    group: list[Split] = []
    cost = pickled = 0
    for split in splits:
        own = max(split.end - split.start, min(SPLIT_COST_BYTES, goal))
        size = len(pickle.dumps(split))
        if group and (cost + own > goal or pickled + size > MAX_PICKLED_BYTES):
            yield tuple(group)
            group, cost, pickled = [], 0, 0
        group.append(split)
        cost += own
        pickled += size
    if group:
        yield tuple(group)


@cache
def spare_collector() -> None:
    """Keep the collector off all that was imported: Spark has it go through that after every task.

    Once in a process: to ask whether it is done already costs as much as a collection.
    """
    gc.freeze()
