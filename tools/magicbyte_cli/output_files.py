"""Output files that appear whole or not at all."""

import os
import secrets
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from magicbyte.errors import InputError

TERMINATION_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that end a process without an exception; SIGINT raises KeyboardInterrupt."""


def check_writable(path: Path, *, replace: bool) -> None:
    """Raise InputError if *path* exists and may not be replaced, or its folder is missing."""
    if path.is_file() and replace:
        return
    if path.is_file():
        raise InputError(
            "the file exists already", "--overwrite to replace it", path=os.fspath(path)
        )
    if path.exists() or path.is_symlink():
        raise InputError("the path exists and is not a file", "a file", path=os.fspath(path))
    if not path.parent.is_dir():
        raise InputError(
            "the folder does not exist", "an existing folder", path=os.fspath(path.parent)
        )


def write_whole(path: Path, data: bytes) -> None:
    """Write *data* to *path* through a temporary file, so that no reader sees half of it."""
    with whole_file(path) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file in the folder of *path* and rename it to *path* at the end.

    After an error or a signal the temporary file is removed, and *path* is unchanged.
    """
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    with signals_as_exits():
        try:
            with _open_new(temporary, path) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):  # the first error is the one to report
                temporary.unlink()
            raise


def _open_new(temporary: Path, path: Path) -> BinaryIO:
    """Open *temporary* for writing; an error names *path*, which the user knows."""
    try:
        return temporary.open("xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


@contextmanager
def signals_as_exits() -> Iterator[None]:
    """Raise SystemExit on a termination signal, so that temporary files are removed."""
    previous = {}
    if threading.current_thread() is threading.main_thread():
        # nohup ignores SIGHUP, and an embedding program may have handlers: keep theirs.
        unhandled = [
            number for number in TERMINATION_SIGNALS if signal.getsignal(number) is signal.SIG_DFL
        ]
        previous = {number: signal.signal(number, _exit) for number in unhandled}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _exit(number: int, _: object) -> None:
    for termination in TERMINATION_SIGNALS:
        signal.signal(termination, signal.SIG_IGN)  # a second signal must not disturb the cleanup
    sys.exit(128 + number)
