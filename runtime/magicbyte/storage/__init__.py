"""The only package that opens files: size, read_at, list; of this machine, or of a store."""

import os
from pathlib import Path

from magicbyte.storage.files import File, FolderItem, MemoryFile
from magicbyte.storage.local import LocalFile
from magicbyte.storage.options import NO_OPTIONS, StorageOptions
from magicbyte.storage.storage import Storage
from magicbyte.storage.store import Store
from magicbyte.storage.urls import is_url, local_path, parse_url, redacted

__all__ = [
    "NO_OPTIONS",
    "File",
    "FolderItem",
    "LocalFile",
    "MemoryFile",
    "Storage",
    "StorageOptions",
    "Store",
    "absolute_path",
    "is_url",
    "local_path",
    "normalize_path",
    "open_file",
    "read_small_file",
    "redacted",
]


def normalize_path(path: str) -> str:
    """Return *path* without `file:`, or a URL without slashes that mean nothing.

    Raises InputError where a URL holds a password or a query.
    """
    url = parse_url(path)
    return local_path(path) if url is None else str(url)


def absolute_path(path: str | os.PathLike[str]) -> str:
    """Return *path* as `normalize_path` does, without `.`, `..` and links: as one name for one place."""
    place = normalize_path(os.fspath(path))
    return place if is_url(place) else os.path.realpath(Path(place))


def open_file(path: str, *, size_bytes: int | None = None, store: Store | None = None) -> File:
    """Open *path*, in *store* or of this machine, for positioned reads of *size_bytes* bytes.

    By default that is all of them. A size that was seen earlier keeps what a live broker appends
    since out of sight, and a store is not asked for it again.
    """
    if store is not None:
        return store.open_file(path, size_bytes=size_bytes)
    return LocalFile(path, size_bytes)


def read_small_file(path: str, *, max_bytes: int, store: Store | None = None) -> bytes:
    """Return the whole of a file that has no business being larger than *max_bytes*."""
    with open_file(path, store=store) as file:
        return file.read_at(0, min(file.size_bytes, max_bytes))
