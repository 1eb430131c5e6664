"""The file interface, positioned reads, and its implementation for bytes in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, Self

from magicbyte.errors import ChangedError, GoneError
from magicbyte.storage._unreadable import UnreadableBytes


class ObjectVersion(NamedTuple):
    """Size and time of an object when it was listed: an object that replaces it has others."""

    size_bytes: int
    modified: int | None
    """Seconds since the Unix epoch; None if the store does not say."""


@dataclass(frozen=True, slots=True)
class FolderItem:
    """A file or folder in the listing of a folder: its name, its kind and its size."""

    name: str
    is_folder: bool
    size_bytes: int
    is_link: bool = False
    """True if it is a symbolic link; the rest is about the file or folder that it leads to."""
    obstacle: str | None = None
    """`special-file`, `link-loop`, `dangling-link` or `unreadable` if it cannot be read."""
    identity: tuple[int, int] | None = None
    """Device and inode of a local folder, the same for each of its names."""
    listed_version: ObjectVersion | None = None
    """Version of an object in a store."""


def gone_error(path: str) -> GoneError:
    return GoneError("the file is gone since the read was planned", path=path)


def resized_error(path: str, actual: int, size_bytes: int) -> ChangedError:
    return ChangedError(
        f"the file has {actual} bytes", f"the {size_bytes} it had when planned", path=path
    )


class File(Protocol):
    """A file that is read at byte positions."""

    name: str
    size_bytes: int

    @property
    def descriptor(self) -> int | None:
        """File descriptor for pread; None for a file in a store, in memory or inside another."""

    @property
    def unreadable(self) -> UnreadableBytes | None:
        """Ranges that turned out to be unreadable, of a file whose other bytes are read all the same."""

    def read_at(self, position: int, length: int) -> bytes:
        """Return *length* bytes from *position*.

        Raises ChangedError if the file is shorter now, UnreadableError if the bytes cannot be read. A
        segment's file, which `LogFile.open` returns, has other bytes in their place instead, and
        lists them in `unreadable`.
        """

    def reader(self, length: int) -> Callable[[int], bytes]:
        """Return a fast function that reads *length* bytes from a position, for many small reads.

        Unlike `read_at`, it returns fewer bytes or raises OSError if the file is shorter now.
        """

    def will_read(self, start: int, end: int) -> None:
        """Announce reads in [start, end), in order: a file in a store requests these bytes ahead, and no others."""
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class MemoryFile(File):
    """A file whose bytes are in memory."""

    descriptor = None
    unreadable = None

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.size_bytes = len(data)
        self._data = memoryview(data)

    def read_at(self, position: int, length: int) -> bytes:
        return bytes(self._data[position : position + length])

    def reader(self, length: int) -> Callable[[int], bytes]:
        return lambda position: self.read_at(position, length)
