"""Runs a child process that may crash, hang or print without end, and returns its output."""

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

MIB = 1 << 20
MAX_SAID = 4096
"""Bytes of the end of standard error that are kept for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessBounds:
    """Limits of a child process."""

    timeout_s: float = 20.0
    """Seconds that the process may take for each answer."""
    memory_bytes: int = 4096 * MIB
    """Bytes of the data segment (RLIMIT_DATA); address space is not limited, since JVMs reserve much."""
    output_bytes: int = 64 * MIB
    """Largest size of an answer in bytes."""


class ChildError(Exception):
    """A child process gave no answer; the message is the reason."""


class Child:
    """A running process with limits. Leaving the context kills it and its process group."""

    def __init__(
        self,
        command: Sequence[str],
        bounds: ProcessBounds,
        *,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start *command*. Raises OSError if it cannot be started."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_DATA, (bounds.memory_bytes, bounds.memory_bytes))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        self._bounds = bounds
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
            preexec_fn=limit,
        )
        assert self._process.stdout is not None and self._process.stderr is not None
        self._out, self._err = self._process.stdout, self._process.stderr
        self._selector = selectors.DefaultSelector()
        for pipe in (self._out, self._err):
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ)
        self._held = bytearray()
        self._said = b""

    def send(self, line: bytes) -> None:
        """Write *line* and a line end to the standard input of the process."""
        assert self._process.stdin is not None
        # If the process has ended, `line` reports its exit status, which says more than the broken pipe.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()

    def line(self) -> bytes:
        """Return the next line that the process prints. Raises ChildError if it prints none in time."""
        line = self._read(time.monotonic() + self._bounds.timeout_s, to_newline=True)
        if line is None:
            status = self._status(time.monotonic() + 1.0)
            raise ChildError(f"ended without an answer{self._last_words(status)}")
        return line

    def output(self) -> bytes:
        """Return the whole output. Raises ChildError unless the process ends in time and with status 0."""
        assert self._process.stdin is not None
        deadline = time.monotonic() + self._bounds.timeout_s
        self._process.stdin.close()
        self._read(deadline, to_newline=False)
        status = self._status(deadline)
        if status != 0:
            raise ChildError(f"failed{self._last_words(status)}")
        return bytes(self._held)

    def _read(self, deadline: float, *, to_newline: bool) -> bytes | None:
        """Return the next line, without its end. At the end of output return None; the rest is in `_held`."""
        searched = 0
        while True:
            if to_newline:
                end = self._held.find(b"\n", searched)
                if end >= 0:
                    line = bytes(self._held[:end])
                    del self._held[: end + 1]
                    return line
                searched = len(self._held)
            if len(self._held) > self._bounds.output_bytes:
                raise ChildError(f"printed more than {self._bounds.output_bytes} bytes")
            if not self._selector.get_map():
                return None
            left = deadline - time.monotonic()
            ready = self._selector.select(max(left, 0))
            if not ready and left <= 0:
                raise ChildError(f"no answer within {self._bounds.timeout_s:g} s")
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                if not data:
                    self._selector.unregister(key.fileobj)
                elif key.fileobj is self._out:
                    self._held += data
                else:
                    self._said = (self._said + data)[-MAX_SAID:]

    def _status(self, deadline: float) -> int | None:
        try:
            return self._process.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            return None

    def _last_words(self, status: int | None) -> str:
        if status is None:
            words = ", still running"
        elif status < 0:
            words = f", killed by {_signal_name(-status)}"
        else:
            words = f", exit status {status}"
        lines = self._said.decode("utf-8", "replace").strip().splitlines()
        return f"{words}: {lines[-1].strip()}" if lines else words

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._selector.close()
        for pipe in (self._process.stdin, self._out, self._err):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
