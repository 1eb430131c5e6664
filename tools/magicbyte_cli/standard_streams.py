"""The streams of this process: stdout and stderr may be closed, full, or a pipe without a reader."""

import os
import sys
from typing import TextIO


def open_missing_streams() -> None:
    """Provide stdout and stderr where the process was started without them.

    Otherwise the next file that is opened would take their place. Writing to stdout is then an error,
    as in other tools; messages on stderr are dropped.
    """
    if sys.stdout is None:
        sys.stdout = _stream(1, os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = _stream(2, os.O_WRONLY)


def _stream(descriptor: int, flags: int) -> TextIO:
    null = os.open(os.devnull, flags)
    if null != descriptor:
        os.dup2(null, descriptor)
        os.close(null)
    return os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace")


def silence_stdout() -> None:
    """Discard buffered stdout after an error, so that the flush at exit does not fail too."""
    try:
        stdout = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stdout)
    os.close(null)
