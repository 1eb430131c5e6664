"""Repeat work on files that a live broker replaces meanwhile."""

import time
from collections.abc import Callable
from typing import TypeVar

from magicbyte.errors import ChangedError, MissingError

T = TypeVar("T")

MAX_TRIES = 10
PAUSE_S = 0.05
"""The log cleaner renames the files of a segment within about two milliseconds."""


def retry_changed(work: Callable[[], T]) -> T:
    """Return the result of *work*, repeated while files change or vanish, up to MAX_TRIES times."""
    for _ in range(MAX_TRIES - 1):
        try:
            return work()
        except (ChangedError, MissingError):
            time.sleep(PAUSE_S)
    return work()
