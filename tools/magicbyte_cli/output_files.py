"""Files that are whole or not there."""

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

ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals that end a process at once. An interrupt is an exception of Python's own."""


def check_writable(path: Path, *, replace: bool) -> None:
    """Raise InputError where *path* is there and may not be replaced."""
    if path.is_file() and replace:
        return
    if path.is_file():
        raise InputError(
            "the file is there already", "--overwrite to replace it", path=os.fspath(path)
        )
    if path.exists() or path.is_symlink():
        raise InputError("it is there, and is no file", "a name for a file", path=os.fspath(path))
    if not path.parent.is_dir():
        raise InputError("there is no such folder", "one that exists", path=os.fspath(path.parent))


def write_whole(path: Path, data: bytes) -> None:
    """Write *data* to *path* by way of a file beside it, so that no half of it is ever seen."""
    with beside(path) as file:
        file.write(data)


@contextmanager
def beside(path: Path) -> Iterator[BinaryIO]:
    """Give a file beside *path* that takes its name at the end.

    After an error or a signal it is gone, and *path* is what it was.
    """
    path = path.resolve()
    other = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    with _ends_as_exits():
        try:
            with _opened(other, path) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            other.replace(path)
        except BaseException:
            with suppress(OSError):  # what went wrong is what is to be told
                other.unlink()
            raise


def _opened(other: Path, path: Path) -> BinaryIO:
    """Return *other*, opened to be written; an error names *path*, which the user knows."""
    try:
        return other.open("xb")
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


@contextmanager
def _ends_as_exits() -> Iterator[None]:
    """Let a signal that ends the process raise SystemExit, so that what is to be done is done."""
    before = {}
    if threading.current_thread() is threading.main_thread():
        # nohup has a signal ignored, and who embeds us may have a use for it.
        ours = [number for number in ENDS if signal.getsignal(number) is signal.SIG_DFL]
        before = {number: signal.signal(number, _exit) for number in ours}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit(number: int, _: object) -> None:
    for each in ENDS:
        signal.signal(each, signal.SIG_IGN)  # one is enough: the next must not disturb the end
    sys.exit(128 + number)
