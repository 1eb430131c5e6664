"""A line of progress on stderr, on a terminal only, and only for reads of more than a second."""

import sys
from shutil import get_terminal_size
from time import monotonic
from typing import Self

import click

from magicbyte_cli.display import byte_size, duration, percent

DELAY_S = 1.0
"""Seconds before the line appears."""

INTERVAL_S = 0.1
"""Least seconds between two changes of the line."""

ERASE_LINE = "\r\x1b[K"


class ProgressBar:
    """Shows bytes of a total, or a number of rows or bytes if the total is unknown, and erases the line at the end."""

    def __init__(self, *, is_shown: bool | None = None) -> None:
        self._is_shown = sys.stderr.isatty() if is_shown is None else is_shown
        self._start = self._now = monotonic()
        self._next = self._start + DELAY_S
        self._has_line = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._has_line:
            click.echo(ERASE_LINE, err=True, nl=False, color=True)

    def show_bytes(self, done: int) -> None:
        """Show that *done* bytes of an unknown number have been read."""
        if self._is_due():
            seconds = self._seconds()
            self._print(f"{byte_size(done)}, {byte_size(int(done / seconds))}/s")

    def show(self, done: int, total: int | None = None) -> None:
        """Show that *done* bytes of *total* have been read; without a total, rows written."""
        if not self._is_due():
            return
        seconds = self._seconds()
        if total is None:
            self._print(f"{done:,} rows, {int(done / seconds):,} rows/s")
            return
        left = max(total - done, 0) * seconds / max(done, 1)
        self._print(
            f"{byte_size(done)} of {byte_size(total)} ({percent(done, total)}), "
            f"{byte_size(int(done / seconds))}/s, {duration(1000 * round(left))} left"
        )

    def _is_due(self) -> bool:
        """Return whether the line should change now."""
        self._now = monotonic()
        if not self._is_shown or self._now < self._next:
            return False
        self._next, self._has_line = self._now + INTERVAL_S, True
        return True

    def _seconds(self) -> float:
        return max(self._now - self._start, INTERVAL_S)

    def _print(self, line: str) -> None:
        columns = get_terminal_size().columns - 1  # a full line would begin another one
        click.echo(ERASE_LINE + line[:columns], err=True, nl=False, color=True)
