"""File access: the only package that opens files, local or in an object store."""

from magicbyte.storage._files import File, FolderItem, MemoryFile
from magicbyte.storage._local import LocalFile
from magicbyte.storage._options import NO_OPTIONS, StorageOptions
from magicbyte.storage._storage import Storage
from magicbyte.storage._store import Store
from magicbyte.storage._urls import absolute_path, is_url, local_path, normalize_path, redacted

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


def open_file(path: str, *, size_bytes: int | None = None, store: Store | None = None) -> File:
    """Open *path*, in *store* or on this machine, for positioned reads of *size_bytes* bytes.

    Default: the whole file. A size from an earlier listing hides what a live broker has appended
    since, and saves asking the store for it.
    """
    if store is not None:
        return store.open_file(path, size_bytes=size_bytes)
    return LocalFile(path, size_bytes)


def read_small_file(path: str, *, max_bytes: int, store: Store | None = None) -> bytes:
    """Return the content of the file *path*, its first *max_bytes* bytes at most."""
    with open_file(path, store=store) as file:
        return file.read_at(0, min(file.size_bytes, max_bytes))
