"""A line on stderr that says how far a read is: on a terminal, and if it takes over a second."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

PATIENCE_S = 1.0
"""What is done sooner needs no bar."""


class Bar:
    """Shows bytes of a total, or a count of rows where no total is known."""

    def __init__(self, *, is_shown: bool | None = None) -> None:
        self._is_shown = sys.stderr.isatty() if is_shown is None else is_shown
        self._begun = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def bytes(self, done: int, total: int) -> None:
        """Show that *done* bytes of *total* are read."""
        if self._is_due(BarColumn(), DownloadColumn(binary_units=True), TimeElapsedColumn()):
            self._update(done, total)

    def rows(self, done: int) -> None:
        """Show that *done* rows are written."""
        if self._is_due(
            SpinnerColumn(), TextColumn("{task.completed:,} rows"), TimeElapsedColumn()
        ):
            self._update(done, None)

    def _is_due(
        self, *columns: SpinnerColumn | BarColumn | TextColumn | DownloadColumn | TimeElapsedColumn
    ) -> bool:
        if not self._is_shown or time.monotonic() - self._begun < PATIENCE_S:
            return False
        if self._progress is None:
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._progress.start()
            self._task = self._progress.add_task("", total=None)
        return True

    def _update(self, done: int, total: int | None) -> None:
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=total)


@contextmanager
def bar_beside_stdout() -> Iterator[Bar]:
    """Return a bar that is silent where stdout is a terminal: the rows themselves show there."""
    with Bar(is_shown=sys.stderr.isatty() and not sys.stdout.isatty()) as bar:
        yield bar
