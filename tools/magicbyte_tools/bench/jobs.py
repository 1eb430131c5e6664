"""Whole jobs: processes as a user starts them, with all that they import and compile."""

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
    """Cost of a job; lists have an item per repetition."""

    name: str
    cpu_s: list[float] = field(default_factory=list)
    """User and system, of the process and its children."""
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
    """A job did not end well."""


def run(commands: Mapping[str, Sequence[str]], *, repetitions: int) -> list[ProcessJob]:
    """Run *commands*, by name, in turn, again and again; what they print is thrown away.

    The first time does not count: it writes what later ones find, bytecode and machine code.
    Raises Failed where one exits with another status than 0.
    """
    for name, command in commands.items():
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
        # Ended, but not reaped: some of it can still be asked.
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
    """Yield a list that grows with samples of the *process*'s peak memory, in bytes."""
    peaks: list[int] = []
    has_ended = threading.Event()

    # A thread looks, so that who waits for the end sees it when it comes: a start is short.
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
