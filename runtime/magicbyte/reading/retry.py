"""Repeat work on files that a live broker replaces meanwhile."""

import time
from collections.abc import Callable
from typing import TypeVar

from magicbyte.errors import ChangedError, MissingError

T = TypeVar("T")

MAX_TRIES = 10
FIRST_PAUSE_S = 0.05
"""The log cleaner renames the files of a segment within about two milliseconds."""
LAST_PAUSE_S = 0.8
"""A busy machine may need longer for a try than the cleaner leaves the files unchanged."""


def retry_changed(work: Callable[[], T]) -> T:
    """Return the result of *work*, repeated while files change or vanish, up to MAX_TRIES times.

    Pauses between tries grow from FIRST_PAUSE_S to LAST_PAUSE_S; all together last 5 seconds.
    """
    pause_s = FIRST_PAUSE_S
    for _ in range(MAX_TRIES - 1):
        try:
            return work()
        except (ChangedError, MissingError):
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, LAST_PAUSE_S)
    return work()
