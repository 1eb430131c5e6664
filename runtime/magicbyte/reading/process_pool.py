"""Run tasks in several processes, and yield their results in the order of the tasks."""

import os
import signal
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from magicbyte.errors import InputError
from magicbyte.storage import StoreRequests, add_requests, requests_since, store_requests

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnContext

MAX_DEFAULT_PROCESSES = 4
"""Most processes by default: each may take 300 MB."""

BYTES_PER_PROCESS = 256 << 20
LOGS_PER_PROCESS = 500
"""Bytes, or logs, for which one more process pays: it starts in the time in which one process reads half of them."""

TASKS_AHEAD = 4
"""Tasks that run or are done ahead of the caller, per process, because some are very short."""

Task = TypeVar("Task")
Result = TypeVar("Result")


def num_processes(wanted: int | None, log_sizes: Sequence[int]) -> int:
    """Return *wanted*; if it is None, how many processes pay for work on logs of *log_sizes* bytes.

    At most one for each log. Raises InputError if *wanted* is below 1.
    """
    if wanted is not None:
        if wanted < 1:
            raise InputError(f"processes {wanted}", "at least 1")
        return max(min(wanted, len(log_sizes)), 1)
    num_paying = sum(log_sizes) / BYTES_PER_PROCESS + len(log_sizes) / LOGS_PER_PROCESS
    most = min(num_processors(), MAX_DEFAULT_PROCESSES, len(log_sizes))
    return max(min(most, int(num_paying)), 1)


def num_processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_processes(
    work: Callable[[Task], Result], tasks: Iterator[Task], *, processes: int
) -> Generator[Result, None, None]:
    """Yield the result of *work* for each of *tasks*, in the order of the tasks.

    For work that holds the interpreter lock most of the time. One process is the caller's own;
    for more, *work*, tasks and results are pickled, and their requests to stores count here. An error of *work* is raised after the results
    of all earlier tasks. When the iteration ends for any reason, or the caller's process dies, the
    processes are killed. Raises InputError if one of them dies.
    """
    if processes == 1:
        yield from map(work, tasks)
        return
    from multiprocessing import get_context  # slow to import, and rarely needed

    context = get_context("spawn")  # a fork would copy locks that other threads hold
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
    num_started = num_yielded = 0
    is_more = True
    while True:
        while is_more and idle and num_started - num_yielded < len(workers) * TASKS_AHEAD:
            try:
                task = next(tasks)
            except StopIteration:
                is_more = False
                break
            worker = idle.pop()
            worker.give(task)
            busy[worker.ours] = num_started, worker
            num_started += 1
        if num_yielded in done:
            result, error = done.pop(num_yielded)
            if error is not None:
                raise error
            num_yielded += 1
            yield result
        elif busy:
            for ready in wait(list(busy)):
                number, worker = busy.pop(ready)
                done[number] = worker.take()
                idle.append(worker)
        else:
            return


class _Worker:
    """A process that runs one task at a time."""

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
        """Return the result of the task, or its error; count the requests to stores that it took."""
        with self._dies():
            outcome: tuple[Any, BaseException | None]
            requests: Mapping[str, StoreRequests]
            outcome, requests = self.ours.recv()
        add_requests(requests)
        return outcome

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
                f"a worker process died with status {self._process.exitcode}",
                'enough memory for all processes, and in a script `if __name__ == "__main__":` around the call',
            ) from error


def _work(theirs: "Connection[Any, Any]", work: Callable[[Any], Any]) -> None:
    Thread(target=_end_with_caller, daemon=True).start()
    outcome: tuple[Any, BaseException | None]
    with suppress(EOFError, BrokenPipeError):  # the caller has gone
        while True:
            task = theirs.recv()
            before = store_requests()
            try:
                outcome = work(task), None
            except Exception as error:  # the caller raises it
                outcome = None, error
            theirs.send((outcome, requests_since(before)))


def _end_with_caller() -> None:
    from multiprocessing import parent_process

    caller = parent_process()
    assert caller is not None
    caller.join()
    os._exit(1)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Block SIGINT, permanently in a process that is started meanwhile.

    A terminal sends it to all processes. The caller kills the others, so that they print no traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing.resource_tracker import ensure_running

    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        ensure_running()  # the first start would do it, and unblock signals
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
