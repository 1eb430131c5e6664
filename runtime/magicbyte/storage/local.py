"""Files of this machine, or of a file system mounted on it.

They are read with positioned reads into memory of our own: never mapped, because a file that
shrinks must not kill the process; never opened for writing, never locked.
"""

import errno
import os
import stat
from collections.abc import Callable
from functools import partial
from typing import Self

from magicbyte.errors import ChangedError, MissingError
from magicbyte.storage.files import FolderItem

MOST_LISTINGS = 100
"""A folder in which names vanish each time is taken as it was seen last."""


def kind_of(path: str) -> str:
    """Return `file`, `folder` or `other`; MissingError where there is nothing to be read."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise MissingError(error, path) from error
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def list_folder(path: str) -> list[FolderItem]:
    """Return what lies in the folder *path*, by name; symbolic links to folders are left out.

    A live broker renames files at any time. Where a name vanishes before its size is known, the
    folder is listed anew: what lay there may bear a name now that was not seen.
    """
    for _ in range(MOST_LISTINGS):
        items, is_whole = _listed(path)
        if is_whole:
            break
    return sorted(items, key=lambda item: item.name)


def _listed(path: str) -> tuple[list[FolderItem], bool]:
    """Return what lies in *path*, and whether no name vanished meanwhile."""
    items, is_whole = [], True
    try:
        with os.scandir(path) as names:
            for name in names:
                try:
                    is_folder = name.is_dir(follow_symlinks=False)
                    if is_folder or name.is_file():
                        size = 0 if is_folder else name.stat().st_size
                        items.append(FolderItem(name.name, is_folder, size))
                except FileNotFoundError:
                    is_whole = False
    except OSError as error:
        raise MissingError(error, path) from error
    return items, is_whole


def exists(path: str) -> bool:
    return os.path.exists(path)


class LocalFile:
    """A file of this machine, or of a file system mounted on it."""

    def __init__(self, path: str, size_bytes: int | None) -> None:
        self.path = path
        self.name = os.path.basename(path)
        try:
            self.descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except OSError as error:
            if size_bytes is not None and error.errno == errno.ENOENT:
                raise ChangedError(
                    "the file is gone since the read was planned", path=path
                ) from error
            raise MissingError(error, path) from error
        now = os.fstat(self.descriptor).st_size
        if size_bytes is not None and now < size_bytes:
            os.close(self.descriptor)
            raise ChangedError(
                f"the file has {now} bytes", f"the {size_bytes} it had when planned", path=path
            )
        self.size_bytes = now if size_bytes is None else size_bytes

    def read_at(self, position: int, length: int) -> bytes:
        try:
            data = os.pread(self.descriptor, length, position)
            while len(data) < length:
                more = os.pread(self.descriptor, length - len(data), position + len(data))
                if not more:
                    raise ChangedError(
                        f"the file ends at byte {position + len(data)}",
                        f"{length} bytes from {position}",
                        path=self.path,
                    )
                data += more
        except OSError as error:
            if isinstance(error, ChangedError):
                raise
            raise MissingError(error, self.path) from error
        return data

    def reader(self, length: int) -> Callable[[int], bytes]:
        return partial(os.pread, self.descriptor, length)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)
