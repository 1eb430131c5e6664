"""Runs a task in a worker process, and reports the case at which the worker crashes or hangs."""

import signal
import time
from collections.abc import Callable, Generator, Iterator
from ctypes import c_longlong
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from magicbyte_tools.fuzz.task import Failure, Message, Task, What

LOOK_EVERY_S = 0.2

CASE, TICKS = range(2)
"""Slots of shared memory: the current case of the worker, and the number of cases it has begun."""

End = tuple[What, int, str]
"""Kind of failure, number of the case, and description."""


def watched(task: Task, *, hang_s: float) -> Iterator[Message]:
    """Run *task* in a process of its own; yield its tallies and failures, and the crashes and hangs.

    A case that takes more than *hang_s* seconds is a hang; the rest of the task has a new process.
    """
    while task.first < task.end:
        ended = yield from _run(task, hang_s)
        if ended is None:
            return
        what, case, message = ended
        one_by_one = task.alone(case)
        messages = () if one_by_one is None else watched(one_by_one, hang_s=hang_s)
        same = (one for one in messages if isinstance(one, Failure) and one.what == what)
        yield next(same, None) or task.failure(what, case, message)
        task = task.behind(case)


def _run(task: Task, hang_s: float) -> Generator[Message, None, End | None]:
    """Yield the messages of a worker; return its crash or hang with the case, or None if it completed."""
    # Fork from a process that has loaded everything and has no threads: a new worker starts quickly.
    context = get_context("forkserver")
    context.set_forkserver_preload([f"{__package__}.warm"])
    shared = context.RawArray(c_longlong, (task.first, 0))
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(task, shared, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        ticks, since = -1, time.monotonic()
        while True:
            try:
                while ours.poll(LOOK_EVERY_S):
                    yield ours.recv()
            except EOFError:  # it has ended
                process.join()
                return _end(process.exitcode, shared[CASE])
            if shared[TICKS] != ticks:
                ticks, since = shared[TICKS], time.monotonic()
            elif ticks and time.monotonic() - since > hang_s:
                return "hang", shared[CASE], f"not done after {hang_s:g} s"
    finally:
        process.kill()
        process.join()
        ours.close()


def _end(status: int | None, case: int) -> End | None:
    if status == 0:
        return None
    if status is not None and status < 0:
        return "fault", case, f"the process ended by {signal.Signals(-status).name}"
    return "fault", case, f"the process ended with status {status}"


def _work(task: Task, shared: Any, connection: Connection) -> None:
    def begin(case: int) -> None:
        shared[CASE] = case
        shared[TICKS] += 1

    send: Callable[[Message], None] = connection.send
    task.run(begin, send)
