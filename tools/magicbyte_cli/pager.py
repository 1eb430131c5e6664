"""A pager for output that is longer than a terminal."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from magicbyte_cli.stderr_messages import warn

LESS_OPTIONS = "FRX"
"""Options of less: end immediately if one screen is enough, show colors, and leave the text on the terminal."""

NO_PAGER = ("", "cat")


def pager_command() -> list[str]:
    """Return the command line of the pager that the environment names, else less; empty for none."""
    for name in ("MAGICBYTE_PAGER", "PAGER"):
        text = os.environ.get(name)
        if text is not None:
            return [] if text.strip() in NO_PAGER else shlex.split(text)
    less = shutil.which("less")
    return [] if less is None else [less]


@contextmanager
def paged_stdout(*, is_wanted: bool) -> Iterator[IO[bytes]]:
    """Yield a pager's input if stdout is a terminal, else stdout.

    The pager shows each line when it is written. The block ends early, without an error, when its user quits.
    """
    words = pager_command() if is_wanted and _is_terminal() else []
    process = None
    if words:
        environment = {"LESS": LESS_OPTIONS, "LV": "-c", **os.environ}
        try:
            process = subprocess.Popen(words, stdin=subprocess.PIPE, env=environment)
        except OSError as error:
            warn(f"the pager {words[0]} cannot be started: {error.strerror}")
    if process is None or process.stdin is None:
        yield sys.stdout.buffer
        return
    try:
        with suppress(BrokenPipeError, KeyboardInterrupt):  # the user has seen enough
            yield process.stdin
    finally:
        with suppress(BrokenPipeError):
            process.stdin.close()
        _wait(process)


def _is_terminal() -> bool:
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


def _wait(process: "subprocess.Popen[bytes]") -> None:
    """Wait until the user leaves the pager; an interrupt is the pager's own business."""
    while True:
        try:
            process.wait()
            return
        except KeyboardInterrupt:
            continue
