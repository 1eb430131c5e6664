"""Tasks done by several threads, and what they yield in the order of the tasks."""

import atexit
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from threading import Condition, Thread, current_thread
from typing import Generic, TypeVar

from magicbyte.limits import MIB

MAX_AHEAD_BYTES = 16 * MIB
"""What each thread may have ready that nobody has taken yet; one item more where it is larger."""

TASKS_AHEAD = 4
"""Tasks that are begun or wait, for each thread: some of them are next to nothing."""

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
    """Yield what each of *tasks* yields, one task after the other, whoever does them.

    One thread is the caller's own. Of more, each does one task at a time, with a tool that no
    other thread has, while the caller is given what comes first; *tasks* itself is gone through
    by the caller. *size_of* says how many bytes an item holds. An error comes where its task
    stands, behind all that comes before it. When the iteration ends, however it ends, the
    threads have ended too: each finishes the item that it is at.
    """
    if threads == 1:
        tool = make_tool()
        for task in tasks:
            yield from task(tool)
        return
    line = _Line[Tool, Item](threads, size_of)
    atexit.register(line.close)  # an iteration that is left hanging must not hold up the exit
    try:
        line.start([make_tool() for _ in range(threads)])
        yield from line.items(tasks)
    finally:
        line.close()
        atexit.unregister(line.close)


@dataclass(slots=True, eq=False)
class _Place(Generic[Item]):
    """What a task has yielded that nobody has taken yet."""

    items: deque[Item] = field(default_factory=deque)
    is_done: bool = False
    error: BaseException | None = None


class _Line(Generic[Tool, Item]):
    """Tasks in line: the caller takes from the first, threads work on those that follow."""

    def __init__(self, threads: int, size_of: Callable[[Item], int]) -> None:
        self._max_bytes = threads * MAX_AHEAD_BYTES
        self._max_places = threads * TASKS_AHEAD
        self._size_of = size_of
        self._changed = Condition()
        self._places: deque[_Place[Item]] = deque()
        self._waiting: deque[tuple[_Place[Item], Task[Tool, Item]]] = deque()
        """Those of them that no thread has begun, with their tasks."""
        self._bytes = 0
        self._is_closed = False
        self._workers: list[Thread] = []

    def start(self, tools: list[Tool]) -> None:
        for tool in tools:
            worker = Thread(target=self._work, args=(tool,), name="magicbyte", daemon=True)
            worker.start()
            self._workers.append(worker)

    def close(self) -> None:
        """Let the threads end, and wait for them."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        for worker in self._workers:
            if worker is not current_thread():  # where the garbage collector closes us in one
                worker.join()

    # The caller

    def items(self, tasks: Iterator[Task[Tool, Item]]) -> Iterator[Item]:
        while self._fill(tasks):
            place = self._places[0]
            while (item := self._take(place)) is not None:
                yield item
            with self._changed:
                self._places.popleft()
                self._changed.notify_all()

    def _fill(self, tasks: Iterator[Task[Tool, Item]]) -> bool:
        """Put as many of *tasks* in line as it has room for; return whether there is one in it."""
        while len(self._places) < self._max_places:
            try:
                task = next(tasks)
            except StopIteration:
                break
            except Exception as error:
                # What comes before is still to be given. There is no task behind an error.
                self._places.append(_Place(is_done=True, error=error))
                break
            place = _Place[Item]()
            with self._changed:
                self._places.append(place)
                self._waiting.append((place, task))
                self._changed.notify_all()
        return bool(self._places)

    def _take(self, place: _Place[Item]) -> Item | None:
        """Return the next item of *place*, None behind the last; raise what its task has raised."""
        with self._changed:
            self._changed.wait_for(lambda: place.items or place.is_done or self._is_closed)
            if place.items:
                item = place.items.popleft()
                self._bytes -= self._size_of(item)
                self._changed.notify_all()
                return item
            if place.error is not None:
                raise place.error
            if not place.is_done:
                raise RuntimeError("the interpreter ends, and so do the threads that read")
            return None

    # The threads

    def _work(self, tool: Tool) -> None:
        while (begun := self._next()) is not None:
            (place, task), error = begun, None
            try:
                with closing(task(tool)) as items:
                    for item in items:
                        if not self._put(place, item):
                            return
                        del item  # what the caller is done with goes before more is made
            except BaseException as raised:
                error = raised
            with self._changed:
                place.error, place.is_done = error, True
                self._changed.notify_all()

    def _next(self) -> tuple[_Place[Item], Task[Tool, Item]] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            return None if self._is_closed else self._waiting.popleft()

    def _put(self, place: _Place[Item], item: Item) -> bool:
        """Leave *item* to the caller as soon as there is room; return whether anyone wants it."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._has_room(place))
            if self._is_closed:
                return False
            place.items.append(item)
            self._bytes += self._size_of(item)
            self._changed.notify_all()
            return True

    def _has_room(self, place: _Place[Item]) -> bool:
        # The caller waits for the first in line: it must come on, whatever the others hold.
        is_next = place is self._places[0] and not place.items
        return is_next or self._bytes < self._max_bytes
