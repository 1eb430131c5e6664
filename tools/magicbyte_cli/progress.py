"""A progress bar on stderr, on a terminal only, and only for reads of more than a second."""

import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY_S = 1.0
"""Seconds before the bar appears."""


class ProgressBar:
    """Shows bytes of a total, or a number of rows if the total is unknown."""

    def __init__(self, *, is_shown: bool | None = None) -> None:
        self._is_shown = sys.stderr.isatty() if is_shown is None else is_shown
        self._start = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, done: int, total: int | None = None) -> None:
        """Show that *done* bytes of *total* have been read; without a total, rows written."""
        if not self._is_shown or time.monotonic() - self._start < DELAY_S:
            return
        if self._progress is None:
            self._progress = _progress(has_total=total is not None)
            self._progress.start()
            self._task = self._progress.add_task("", total=None)
        if self._task is not None:
            self._progress.update(self._task, completed=done, total=total)


def _progress(*, has_total: bool) -> "Progress":
    """Return a progress bar, or a spinner if no total is known. Imports rich, which is slow."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        (BarColumn(), DownloadColumn(binary_units=True))
        if has_total
        else (SpinnerColumn(), TextColumn("{task.completed:,} rows"))
    )
    console = Console(stderr=True)
    return Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
