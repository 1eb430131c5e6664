"""Runs and measures whole jobs: processes as a user starts them, including imports and compilation."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from tempfile import TemporaryFile

from magicbyte_tools.bench.process import peak_of, read_by


@dataclass(slots=True)
class ProcessJob:
    """Cost of a process and its children; lists have an item per repetition."""

    name: str
    cpu_s: list[float] = field(default_factory=list)
    """CPU seconds, user and system, of the process and its children."""
    wall_s: list[float] = field(default_factory=list)
    peak_bytes: list[int | None] = field(default_factory=list)
    read_bytes: list[int | None] = field(default_factory=list)
    """Bytes read by the process and its children, from any file."""

    @property
    def cpu(self) -> float:
        return median(self.cpu_s)

    @property
    def wall(self) -> float:
        return median(self.wall_s)


class Failed(Exception):
    """A job ended with an exit status other than 0."""


def run(
    commands: Mapping[str, Sequence[str]], *, repetitions: int, has_first_run: bool = True
) -> list[ProcessJob]:
    """Run *commands* (arguments by name) in turn, *repetitions* times, and return the cost of each.

    Their output is discarded. If *has_first_run*, an extra one is not measured: it writes bytecode and machine code
    that later runs use. Raises Failed if a command exits with another status than 0.
    """
    for name, command in commands.items() if has_first_run else ():
        _run(ProcessJob(name), command)
    jobs = {name: ProcessJob(name) for name in commands}
    for _ in range(repetitions):
        for name, command in commands.items():
            _run(jobs[name], command)
    return list(jobs.values())


def _run(job: ProcessJob, command: Sequence[str]) -> None:
    # With bytecode caching, as for an installed package.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with TemporaryFile() as out, TemporaryFile() as errors:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=environment
        )
        with _watched(process.pid) as peaks:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            job.wall_s.append(time.perf_counter() - begun)
        # The process has ended but is not reaped, so /proc still has its counters.
        job.read_bytes.append(read_by(process.pid))
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        job.cpu_s.append(used.ru_utime + used.ru_stime)
        job.peak_bytes.append(max(peaks, default=0) or None)
        if process.returncode:
            errors.seek(0)
            told = errors.read().decode("utf-8", "replace").strip()[-500:]
            raise Failed(f"{job.name}: exit {process.returncode}: {told}")


@contextmanager
def _watched(process: int) -> Iterator[list[int]]:
    """Yield a list to which a thread appends the peak memory of *process* in bytes, every 20 ms."""
    peaks: list[int] = []
    has_ended = threading.Event()

    # A thread samples, so that the caller notices the end of a short process without delay.
    def watch() -> None:
        while not has_ended.wait(0.02):
            peaks.append(peak_of(process) or 0)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        has_ended.set()
        thread.join()
