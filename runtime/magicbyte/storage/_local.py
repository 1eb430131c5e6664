"""Files on this machine, or on a file system mounted on it.

Positioned reads copy into our own memory. Files are never mapped, because a mapped file that shrinks
kills the process, and never opened for writing or locked.
"""

import errno
import os
import stat
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Self

from magicbyte.errors import ChangedError, InputError, MissingError
from magicbyte.storage._files import FolderItem, gone_error, resized_error
from magicbyte.storage._recovery import Recovery
from magicbyte.storage._unreadable import UnreadableBytes, unreadable_error

OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags with which a file is opened; without O_NONBLOCK, a FIFO would wait for its writer."""

MAX_LISTINGS = 100
"""Attempts to list a folder in which files are renamed meanwhile; the last listing is used then."""


KINDS_IN_WORDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
)


def kind_of(path: str) -> str:
    """Return `file`, `folder` or `other`; MissingError if *path* does not exist or is denied."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        raise MissingError(error, path) from error
    except ValueError as error:
        raise InputError(str(error), "a path that the system can have", path=repr(path)) from error
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def list_folder(path: str) -> list[FolderItem]:
    """Return the items in the folder *path*, by name, also those that cannot be read.

    A live broker renames files at any time. If a file vanishes before its size is read, the folder
    is listed again: the file may have a new name, which the first listing missed.
    """
    for _ in range(MAX_LISTINGS):
        items, is_complete = _list_once(path)
        if is_complete:
            break
    return sorted(items, key=attrgetter("name"))


def _list_once(path: str) -> tuple[list[FolderItem], bool]:
    """Return the items in *path*, and whether none vanished during the listing."""
    items, is_complete, device = [], True, None
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                try:
                    if entry.is_symlink():
                        items.append(_linked_item(entry))
                    elif entry.is_file(follow_symlinks=False):
                        items.append(FolderItem(entry.name, False, entry.stat().st_size))
                    elif entry.is_dir(follow_symlinks=False):
                        if device is None:
                            device = os.stat(path).st_dev
                        item_identity = device, entry.inode()  # not a mount point's, which is rare
                        items.append(FolderItem(entry.name, True, 0, identity=item_identity))
                    else:
                        items.append(FolderItem(entry.name, False, 0, obstacle="special-file"))
                except FileNotFoundError:
                    is_complete = False
                except OSError:  # its folder may be listed, but not entered, or the disk fails
                    items.append(FolderItem(entry.name, False, 0, obstacle="unreadable"))
    except OSError as error:
        raise MissingError(error, path) from error
    return items, is_complete


def _linked_item(link: os.DirEntry[str]) -> FolderItem:
    """Return the item for the symbolic link *link*; FileNotFoundError if the link itself is gone."""
    size, is_folder, obstacle, target = 0, False, None, None
    try:
        status = link.stat()
    except OSError as error:
        if not os.path.lexists(link.path):
            raise FileNotFoundError(errno.ENOENT, "", link.path) from error
        causes = {errno.ELOOP: "link-loop", errno.ENOENT: "dangling-link"}
        causes[errno.ENOTDIR] = "dangling-link"
        obstacle = causes.get(error.errno or 0, "unreadable")
    else:
        is_folder = stat.S_ISDIR(status.st_mode)
        target = (status.st_dev, status.st_ino) if is_folder else None
        if stat.S_ISREG(status.st_mode):
            size = status.st_size
        elif not is_folder:
            obstacle = "special-file"
    return FolderItem(link.name, is_folder, size, True, obstacle, target)


def identity(path: str) -> tuple[int, int] | None:
    """Return the device and the inode of the folder *path*; None if it is gone."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class LocalFile:
    """An open file on this machine, or on a file system mounted on it."""

    unreadable: UnreadableBytes | None = None

    def __init__(
        self, path: str, size_bytes: int | None, *, closed_bytes: int | None = None
    ) -> None:
        """Open the first *size_bytes* of the file *path*; None: the whole file.

        Raises ChangedError if the file has fewer bytes, or if it is a closed segment whose size is
        not *closed_bytes*.
        """
        self.path = path
        self.name = os.path.basename(path)
        try:
            self.descriptor = os.open(path, OPEN_FLAGS)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                raise unreadable_error(path, error) from error
            if size_bytes is not None:
                raise gone_error(path) from error
            raise MissingError(error, path) from error
        status = os.fstat(self.descriptor)
        actual = status.st_size
        if not stat.S_ISREG(status.st_mode):
            os.close(self.descriptor)
            raise unreadable_error(path, OSError(f"{_kind_in_words(status.st_mode)}, no file"))
        if closed_bytes is not None and actual != closed_bytes:
            os.close(self.descriptor)
            raise resized_error(path, actual, closed_bytes)
        if size_bytes is not None and actual < size_bytes:
            os.close(self.descriptor)
            raise resized_error(path, actual, size_bytes)
        self.size_bytes = actual if size_bytes is None else size_bytes

    def read_at(self, position: int, length: int) -> bytes:
        if self.unreadable is not None:
            return self._read_around(position, length, None)
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
            return self._read_around(position, length, error)
        return data

    def _read_around(self, position: int, length: int, error: OSError | None) -> bytes:
        """Raise UnreadableError, since *error* ended the read of a range."""
        assert error is not None  # without it no range is known to be unreadable
        raise unreadable_error(self.path, error, position=position, length=length) from error

    def reader(self, length: int) -> Callable[[int], bytes]:
        return partial(os.pread, self.descriptor, length)

    def will_read(self, start: int, end: int) -> None:
        """Do nothing: the system reads ahead."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)


class SegmentFile(LocalFile):
    """A local file, whose readable bytes are read even if others cannot be."""

    _recovery: Recovery | None = None

    def _read_around(self, position: int, length: int, error: OSError | None) -> bytes:
        if self._recovery is None:
            self._recovery = Recovery(self.path, self.size_bytes, self._read_range)
            self.unreadable = self._recovery.unreadable
        return self._recovery.read(position, length)

    def _read_range(self, position: int, length: int) -> bytes:
        return os.pread(self.descriptor, length, position)


def _kind_in_words(mode: int) -> str:
    for is_kind, words in KINDS_IN_WORDS:
        if is_kind(mode):
            return words
    return "a device"
