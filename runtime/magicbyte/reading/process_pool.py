"""Tasks done by several processes, and what they return in the order of the tasks."""

import os
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from magicbyte.errors import InputError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnContext

TASKS_AHEAD = 4
"""Tasks that are begun or done ahead of the caller, for each process: some are next to nothing."""

Given = TypeVar("Given")
Made = TypeVar("Made")


def in_processes(
    work: Callable[[Given], Made], tasks: Iterator[Given], *, processes: int
) -> Generator[Made, None, None]:
    """Yield what *work* returns for each of *tasks*, in their order, whichever process does it.

    This is for work that is mostly Python's, where threads would wait for each other. One process
    is the caller's own. To more, *work*, the tasks and what is returned are sent pickled. An error
    of *work* comes where its task stands, behind all that comes before it. When the iteration
    ends, however it does, the processes end at once, whatever they are at; and so they do when the
    caller's process dies. Raises InputError where one of them dies.
    """
    if processes == 1:
        yield from map(work, tasks)
        return
    from multiprocessing import get_context  # takes its time, and most need none

    context = get_context("spawn")  # a fork would take along the locks of other threads
    workers: list[_Worker] = []
    try:
        workers.extend(_Worker(context, work) for _ in range(processes))
        yield from _in_order(workers, tasks)
    finally:
        for worker in workers:
            worker.end()


def _in_order(workers: "list[_Worker]", tasks: Iterator[Any]) -> Iterator[Any]:
    from multiprocessing.connection import wait

    idle, busy = list(workers), dict[Any, tuple[int, _Worker]]()
    done: dict[int, tuple[Any, BaseException | None]] = {}
    num_given = num_taken = 0
    is_more = True
    while True:
        while is_more and idle and num_given - num_taken < len(workers) * TASKS_AHEAD:
            try:
                task = next(tasks)
            except StopIteration:
                is_more = False
                break
            worker = idle.pop()
            worker.give(task)
            busy[worker.ours] = num_given, worker
            num_given += 1
        if num_taken in done:
            made, error = done.pop(num_taken)
            if error is not None:
                raise error
            num_taken += 1
            yield made
        elif busy:
            for ready in wait(list(busy)):
                number, worker = busy.pop(ready)
                done[number] = worker.take()
                idle.append(worker)
        else:
            return


class _Worker:
    """A process that does a task at a time."""

    def __init__(self, context: "SpawnContext", work: Callable[[Any], Any]) -> None:
        self.ours, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, work), daemon=True)
        with _interrupts_held():
            self._process.start()
        theirs.close()  # so that the pipe ends with the process

    def give(self, task: Any) -> None:
        with self._dies():
            self.ours.send(task)

    def take(self) -> tuple[Any, BaseException | None]:
        """Return what was made of the task, or the error."""
        with self._dies():
            found: tuple[Any, BaseException | None] = self.ours.recv()
        return found

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.ours.close()

    @contextmanager
    def _dies(self) -> Iterator[None]:
        try:
            yield
        except (EOFError, BrokenPipeError, ConnectionResetError) as error:
            self._process.join()
            raise InputError(
                f"one of the processes ended, with status {self._process.exitcode}",
                'memory for all of them, and in a script `if __name__ == "__main__":` around the call',
            ) from error


def _work(theirs: "Connection[Any, Any]", work: Callable[[Any], Any]) -> None:
    Thread(target=_end_with_caller, daemon=True).start()
    found: tuple[Any, BaseException | None]
    with suppress(EOFError, BrokenPipeError):  # the caller has gone
        while True:
            task = theirs.recv()
            try:
                found = work(task), None
            except Exception as error:  # the caller raises it, in this task's place
                found = None, error
            theirs.send(found)


def _end_with_caller() -> None:
    from multiprocessing import parent_process

    caller = parent_process()
    assert caller is not None
    caller.join()
    os._exit(1)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold back interrupts, for good in a process that is started meanwhile.

    A terminal sends them to all: the caller ends the others, and none of them has to say a word.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        ensure_running()  # the first start would do it, and that lets go of held signals
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
