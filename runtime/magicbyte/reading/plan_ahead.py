"""Plan partitions in an object store at the same time: a plan waits for requests, not for the processor."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from magicbyte.logdir.log_file import PartitionLog
from magicbyte.storage import AT_A_TIME

Plan = TypeVar("Plan")


def is_in_store(log: PartitionLog) -> bool:
    """Return whether the files of *log* are in an object store."""
    return any(file.store is not None for file in log.files)


def plan_ahead(
    logs: Iterable[PartitionLog], plan_one: Callable[[PartitionLog], Plan]
) -> Iterator[tuple[PartitionLog, Plan]]:
    """Yield each of *logs*, unpacked, with the result of *plan_one*, in order.

    Threads plan the logs in stores that follow, AT_A_TIME at most. The error of a plan is raised in its turn.
    """
    waiting: deque[tuple[PartitionLog, Future[Plan]]] = deque()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        try:
            for packed in logs:
                log = packed.unpacked()
                if not is_in_store(log):
                    yield from _results(waiting, 0)
                    yield log, plan_one(log)
                    continue
                waiting.append((log, pool.submit(plan_one, log)))
                yield from _results(waiting, AT_A_TIME)
            yield from _results(waiting, 0)
        finally:
            for _, future in waiting:
                future.cancel()


def _results(
    waiting: "deque[tuple[PartitionLog, Future[Plan]]]", most: int
) -> Iterator[tuple[PartitionLog, Plan]]:
    """Yield the first of *waiting* with their results, until at most *most* are left."""
    while len(waiting) > most:
        log, future = waiting.popleft()
        yield log, future.result()
