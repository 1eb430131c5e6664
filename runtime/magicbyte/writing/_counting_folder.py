"""A folder that discards its files, for dry runs."""

import io
from typing import Any


class CountingFolder:
    """Takes the files of a partition, and keeps none of them."""

    def create(self, name: str) -> "DiscardingStream":
        """Return a stream for the file *name*."""
        return DiscardingStream()

    def write(self, name: str, data: bytes) -> None:
        """Take the file *name*."""


class DiscardingStream(io.RawIOBase):
    """A file that discards its bytes."""

    def writable(self) -> bool:
        return True

    def write(self, chunk: Any) -> int:
        return len(chunk)
