"""The only package that opens files: size, read_at, list."""

from magicbyte.storage.files import File, Item, MemoryFile
from magicbyte.storage.local import (
    LocalFile,
    absolute,
    exists,
    kind_of,
    list_folder,
    open_file,
    read_small,
)

__all__ = [
    "File",
    "Item",
    "LocalFile",
    "MemoryFile",
    "absolute",
    "exists",
    "kind_of",
    "list_folder",
    "open_file",
    "read_small",
]
