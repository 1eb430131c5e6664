"""Work on files that a broker changes meanwhile: done again until none vanishes under its hands."""

import time
from collections.abc import Callable
from typing import TypeVar

from magicbyte.errors import ChangedError, MissingError

T = TypeVar("T")

MOST_TRIES = 10
PAUSE_S = 0.05
"""The cleaner renames the files of a segment within a millisecond or two."""


def unchanging(work: Callable[[], T]) -> T:
    """Return what *work* makes of files at a time at which none vanishes under its hands."""
    for _ in range(MOST_TRIES - 1):
        try:
            return work()
        except (ChangedError, MissingError):
            time.sleep(PAUSE_S)
    return work()
