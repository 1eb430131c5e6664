"""Run tasks in several threads, and yield their items in the order of the tasks."""

import atexit
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from threading import Condition, Thread, current_thread
from typing import Generic, TypeVar

from magicbyte.limits import MIB

MAX_AHEAD_BYTES = 16 * MIB
"""Bytes of items that may wait, per thread; one item more if it is larger."""

TASKS_AHEAD = 4
"""Tasks that run or wait, per thread. More than one, because some tasks are very short."""

Tool = TypeVar("Tool")
Item = TypeVar("Item")
Task = Callable[[Tool], Generator[Item, None, None]]


def in_order(
    tasks: Iterator[Task[Tool, Item]],
    *,
    threads: int,
    make_tool: Callable[[], Tool],
    size_of: Callable[[Item], int],
) -> Generator[Item, None, None]:
    """Yield the items of each of *tasks*, in the order of the tasks.

    Each thread runs one task at a time, with its own result of *make_tool*. The caller's thread
    iterates *tasks*. *size_of* returns the bytes of an item. The error of a task is raised after the items
    of all earlier tasks. When the iteration ends for any reason, the threads have ended too; each
    completes its current item.
    """
    queue = _TaskQueue[Tool, Item](threads, size_of)
    atexit.register(queue.close)  # a suspended iteration must not block the exit
    try:
        queue.start([make_tool() for _ in range(threads)])
        yield from queue.items(tasks)
    finally:
        queue.close()
        atexit.unregister(queue.close)


@dataclass(slots=True, eq=False)
class _Slot(Generic[Item]):
    """Items of one task that wait for the caller."""

    items: deque[Item] = field(default_factory=deque)
    is_done: bool = False
    error: BaseException | None = None


class _TaskQueue(Generic[Tool, Item]):
    """Queue of tasks: the caller takes the items of the first task; threads run it and later ones."""

    def __init__(self, threads: int, size_of: Callable[[Item], int]) -> None:
        self._max_bytes = threads * MAX_AHEAD_BYTES
        self._max_slots = threads * TASKS_AHEAD
        self._size_of = size_of
        self._changed = Condition()
        self._slots: deque[_Slot[Item]] = deque()
        self._waiting: deque[tuple[_Slot[Item], Task[Tool, Item]]] = deque()
        """Slots of tasks that have not begun, with the tasks."""
        self._bytes = 0
        self._is_closed = False
        self._workers: list[Thread] = []

    def start(self, tools: list[Tool]) -> None:
        for tool in tools:
            worker = Thread(target=self._work, args=(tool,), name="magicbyte", daemon=True)
            worker.start()
            self._workers.append(worker)

    def close(self) -> None:
        """End the threads, and wait for them."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for worker in self._workers:
            if worker is not current_thread():  # the garbage collector may run this in a worker
                worker.join()

    # In the caller's thread

    def items(self, tasks: Iterator[Task[Tool, Item]]) -> Iterator[Item]:
        while self._fill(tasks):
            slot = self._slots[0]
            while (item := self._take(slot)) is not None:
                yield item
            with self._changed:
                self._slots.popleft()
                self._changed.notify_all()

    def _fill(self, tasks: Iterator[Task[Tool, Item]]) -> bool:
        """Queue *tasks* up to the maximum; return whether any is queued."""
        while len(self._slots) < self._max_slots:
            try:
                task = next(tasks)
            except StopIteration:
                break
            except Exception as error:
                # Raised after the items of earlier tasks. No task follows.
                self._slots.append(_Slot(is_done=True, error=error))
                break
            slot = _Slot[Item]()
            with self._changed:
                self._slots.append(slot)
                self._waiting.append((slot, task))
                self._changed.notify_all()
        return bool(self._slots)

    def _take(self, slot: _Slot[Item]) -> Item | None:
        """Return the next item of *slot*, None after the last; raise the error of its task."""
        with self._changed:
            self._changed.wait_for(lambda: slot.items or slot.is_done or self._is_closed)
            if slot.items:
                item = slot.items.popleft()
                self._bytes -= self._size_of(item)
                self._changed.notify_all()
                return item
            if slot.error is not None:
                raise slot.error
            if not slot.is_done:
                raise RuntimeError(
                    "the reading threads ended because the interpreter is shutting down"
                )
            return None

    # In the workers

    def _work(self, tool: Tool) -> None:
        while (waiting := self._next()) is not None:
            (slot, task), error = waiting, None
            try:
                with closing(task(tool)) as items:
                    for item in items:
                        if not self._put(slot, item):
                            return
                        del item  # frees the memory before the next item is made
            except BaseException as raised:
                error = raised
            with self._changed:
                slot.error, slot.is_done = error, True
                self._changed.notify_all()

    def _next(self) -> tuple[_Slot[Item], Task[Tool, Item]] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            return None if self._is_closed else self._waiting.popleft()

    def _put(self, slot: _Slot[Item], item: Item) -> bool:
        """Add *item* as soon as capacity permits; return False if the queue is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._has_capacity(slot))
            if self._is_closed:
                return False
            slot.items.append(item)
            self._bytes += self._size_of(item)
            self._changed.notify_all()
            return True

    def _has_capacity(self, slot: _Slot[Item]) -> bool:
        # The caller waits for the first task, so that may always add an item.
        is_next = slot is self._slots[0] and not slot.items
        return is_next or self._bytes < self._max_bytes
