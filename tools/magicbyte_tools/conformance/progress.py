"""Shows the progress of a conformance run on standard error."""

import time
from collections.abc import Callable
from typing import TextIO

TERMINAL_S, LOG_S = 0.2, 30.0
"""Seconds between two lines: on a terminal, which overwrites them, and in a log."""


class Progress:
    """Counts judged cases and prints a line now and then; a short run prints none into a log."""

    def __init__(
        self, total: int, stream: TextIO, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._total = total
        self._stream = stream
        self._clock = clock
        self._is_terminal = stream.isatty()
        self._interval = TERMINAL_S if self._is_terminal else LOG_S
        self._printed_at = clock()
        self._done = self._failed = 0
        self._is_line_open = False

    def add(self, *, has_failed: bool) -> None:
        """Count a judged case."""
        self._done += 1
        self._failed += has_failed
        if self._clock() - self._printed_at >= self._interval:
            self._printed_at = self._clock()
            words = f"{self._done} of {self._total} cases, {self._failed} failed"
            self._stream.write(f"\r\x1b[K{words}" if self._is_terminal else f"{words}\n")
            self._stream.flush()
            self._is_line_open = self._is_terminal

    def clear(self) -> None:
        """Remove the line from the terminal before something else is printed there."""
        if self._is_line_open:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._is_line_open = False
