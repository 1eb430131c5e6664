"""What a file is to who reads it: bytes at positions; and one whose bytes are in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self


@dataclass(frozen=True, slots=True)
class FolderItem:
    """A name in a folder."""

    name: str
    is_folder: bool
    size_bytes: int


class File(Protocol):
    """Bytes at positions."""

    name: str
    size_bytes: int

    @property
    def descriptor(self) -> int | None:
        """What pread takes; None where the file has none, or lies inside another."""

    def read_at(self, position: int, length: int) -> bytes:
        """Return *length* bytes from *position*; ChangedError where the file is shorter now."""

    def reader(self, length: int) -> Callable[[int], bytes]:
        """Return what reads *length* bytes from a position, for who reads little at many places.

        It is as fast as can be, and so gives fewer bytes where the file is shorter now, or raises
        OSError: `read_at` says what that means.
        """

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class MemoryFile:
    """Bytes that are in memory already."""

    descriptor = None

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.size_bytes = len(data)
        self._data = memoryview(data)

    def read_at(self, position: int, length: int) -> bytes:
        return bytes(self._data[position : position + length])

    def reader(self, length: int) -> Callable[[int], bytes]:
        return lambda position: self.read_at(position, length)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None
