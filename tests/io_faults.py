"""Faults of a disk for tests: reads, openings and listings that fail, through one seam.

`magicbyte.storage._local` is the only module that opens local files; it gets another `os`.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from magicbyte.engines.columnar import _libraries
from magicbyte.storage import _local


class FaultyDisk:
    """The module `os`, with a disk some of whose blocks and folders cannot be read."""

    BLOCK = 4096

    def __init__(self) -> None:
        self.blocks: dict[str, set[int]] = {}
        """Numbers of the blocks that cannot be read, by path."""
        self.unopened: dict[str, int] = {}
        """Error numbers of files that cannot be opened, by path."""
        self.unlisted: dict[str, int] = {}
        """Error numbers of folders that cannot be listed, by path."""
        self.failed: set[tuple[str, int | None]] = set()
        """The faults that were met: path and block, None for a file or folder as a whole."""
        self.num_failures = 0
        self._paths: dict[int, str] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def open(self, path: str, flags: int, *arguments: Any) -> int:
        if path in self.unopened:
            self._fail(path, None, self.unopened[path])
        descriptor = os.open(path, flags, *arguments)
        self._paths[descriptor] = os.fspath(path)
        return descriptor

    def pread(self, descriptor: int, length: int, position: int) -> bytes:
        path = self._paths.get(descriptor, "")
        for block in sorted(self.blocks.get(path, ())):
            begin = block * self.BLOCK
            if begin < position + length and position < begin + self.BLOCK:
                if begin > position:
                    return os.pread(descriptor, begin - position, position)  # as Linux does
                self._fail(path, block, errno.EIO)
        return os.pread(descriptor, length, position)

    def path_of(self, descriptor: int) -> str:
        """Return the path of the open file *descriptor*."""
        return self._paths.get(descriptor, "")

    def scandir(self, path: str) -> Any:
        if path in self.unlisted:
            self._fail(path, None, self.unlisted[path])
        return os.scandir(path)

    def _fail(self, path: str, block: int | None, number: int) -> None:
        self.failed.add((path, block))
        self.num_failures += 1
        raise OSError(number, os.strerror(number), path)


@contextmanager
def faulty_disk(*, with_kernels: bool = False) -> Iterator[FaultyDisk]:
    """Provide a disk whose faults local files meet. Kernels read headers by C's pread, which has none."""
    disk = FaultyDisk()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_local, "os", disk)
        if not with_kernels:
            patch.setattr(_libraries, "pread", lambda: 0)
        yield disk


@contextmanager
def counted_reads() -> Iterator[dict[str, int]]:
    """Count the bytes that are read of local files, by the last part of their names: `log`, `index`."""
    counts: dict[str, int] = {}
    with faulty_disk() as disk:
        pread = disk.pread

        def counted(descriptor: int, length: int, position: int) -> bytes:
            data = pread(descriptor, length, position)
            kind = disk.path_of(descriptor).rpartition(".")[2]
            counts[kind] = counts.get(kind, 0) + len(data)
            return data

        disk.pread = counted  # type: ignore[method-assign]
        yield counts
