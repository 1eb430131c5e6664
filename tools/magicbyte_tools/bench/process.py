"""Runs a contender as a process that makes one pass over a file per request."""

import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self


class Stopped(Exception):
    """A contender's process ended, or its answer is not five numbers."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Cost of one pass of a contender over a file, in nanoseconds."""

    rows: int
    checksum: int
    thread_ns: int
    """CPU time of the reading thread, without a garbage collector in another thread."""
    process_ns: int
    wall_ns: int


class Process:
    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, path: Path, mode: str, via: str, threads: int = 1) -> Pass:
        """Have the contender read *path* once, and return the cost. Raises Stopped if it gives no answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        # If the process has ended, its reason is on stderr, and the answer read below is empty.
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{path}\t{mode}\t{via}\t{threads}\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        try:
            return Pass(*map(int, line.split()))
        except (TypeError, ValueError) as error:
            told = f"{' '.join(self.command[:3])}: answered {line!r}; expected five numbers"
            raise Stopped(told) from error

    @property
    def peak_bytes(self) -> int | None:
        """Peak memory of the process in bytes, by Linux's VmHWM; None on other systems."""
        return peak_of(self._process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def peak_of(process: int) -> int | None:
    """Return the peak memory in bytes of the process with the id *process*; None without Linux's /proc."""
    kib = _proc_number(process, "status", "VmHWM")
    return None if kib is None else kib << 10


def read_by(process: int) -> int | None:
    """Return the bytes read by the process with the id *process* and its ended children; None without /proc.

    Reads from the page cache are counted, accesses to mapped files are not.
    """
    return _proc_number(process, "io", "rchar")


def _proc_number(process: int, file: str, name: str) -> int | None:
    try:
        text = Path(f"/proc/{process}/{file}").read_text("ascii", "replace")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return None
