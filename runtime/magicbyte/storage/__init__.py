"""File access: the only package that opens files, local or in an object store."""

from magicbyte.errors import StoreError
from magicbyte.storage._files import File, FolderItem, MemoryFile, ObjectVersion
from magicbyte.storage._local import LocalFile, SegmentFile
from magicbyte.storage._options import NO_OPTIONS, StorageOptions
from magicbyte.storage._recovery import MASK, UnreadableFile
from magicbyte.storage._requests import (
    AT_A_TIME,
    StoreRequests,
    add_requests,
    requests_since,
    store_requests,
)
from magicbyte.storage._storage import Storage
from magicbyte.storage._store import Store
from magicbyte.storage._unreadable import UnreadableBytes, UnreadableRange, unreadable_error
from magicbyte.storage._urls import absolute_path, is_url, local_path, normalize_path, redacted

__all__ = [
    "AT_A_TIME",
    "MASK",
    "NO_OPTIONS",
    "File",
    "FolderItem",
    "LocalFile",
    "MemoryFile",
    "ObjectVersion",
    "SegmentFile",
    "Storage",
    "StorageOptions",
    "Store",
    "StoreRequests",
    "UnreadableBytes",
    "UnreadableFile",
    "UnreadableRange",
    "absolute_path",
    "add_requests",
    "is_url",
    "local_path",
    "normalize_path",
    "open_file",
    "open_segment",
    "read_small_file",
    "redacted",
    "requests_since",
    "store_requests",
    "unreadable_error",
]


def open_file(path: str, *, size_bytes: int | None = None, store: Store | None = None) -> File:
    """Open *path*, in *store* or on this machine, for positioned reads of *size_bytes* bytes.

    Default: the whole file. A size from an earlier listing hides what a live broker has appended
    since, and saves asking the store for it.
    """
    if store is not None:
        return store.open_file(path, size_bytes=size_bytes)
    return LocalFile(path, size_bytes)


def open_segment(
    path: str,
    *,
    size_bytes: int | None = None,
    store: Store | None = None,
    listed_version: ObjectVersion | None = None,
) -> File:
    """Open *path* like `open_file`, for reads around bytes that cannot be read.

    Reads raise ChangedError if an object in a store is not the one of *listed_version* any more.
    """
    if store is not None:
        return store.open_segment(
            path, size_bytes=size_bytes, listed_version=listed_version, is_closed=True
        )
    return SegmentFile(path, size_bytes)


def read_small_file(path: str, *, max_bytes: int, store: Store | None = None) -> bytes:
    """Return the content of the file *path*, its first *max_bytes* bytes at most.

    Raises MissingError where there is no such file, UnreadableError where it cannot be read.
    """
    try:
        with open_file(path, store=store) as file:
            return file.read_at(0, min(file.size_bytes, max_bytes))
    except StoreError as error:
        raise unreadable_error(path, error) from None
