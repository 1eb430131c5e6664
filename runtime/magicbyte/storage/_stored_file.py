"""Files in an object store, which are read in large blocks, ahead of their readers."""

import io
from collections.abc import Callable
from functools import partial
from typing import Protocol

from magicbyte.errors import ChangedError, StoreError
from magicbyte.limits import MIB
from magicbyte.storage._extents import ExtentCache
from magicbyte.storage._files import File, ObjectVersion
from magicbyte.storage._recovery import MAX_STORE_FAILURES, Recovery
from magicbyte.storage._unreadable import UnreadableBytes

BLOCK_BYTES = 8 * MIB
"""Bytes of a request, at most."""

AHEAD_BLOCKS = 2
"""Blocks that are requested ahead of a reader that reads in order."""

OUTSIDE_BYTES = 64 << 10
"""Bytes of a request outside of the range that a reader has announced, such as a search after damage."""


class ObjectReader(Protocol):
    """The store of a StoredFile."""

    extents: ExtentCache

    def read(self, path: str, position: int, length: int, size_bytes: int) -> bytes:
        """Return *length* bytes from *position* of the object *path*, with one request."""

    def check_version(self, path: str, listed_version: ObjectVersion, *, may_grow: bool) -> None:
        """Raise ChangedError if the object *path* is not the one of *listed_version* any more."""

    def submit(self, task: Callable[[], object]) -> None:
        """Run *task* in another thread."""


class StoredFile(File):
    """A file in a store. All its readers share the bytes that one of them has requested.

    Before the first request, an object with a *listed_version* is compared with it.
    """

    descriptor = None
    unreadable: UnreadableBytes | None = None

    def __init__(
        self,
        store: ObjectReader,
        path: str,
        size_bytes: int,
        listed_version: ObjectVersion | None = None,
        *,
        may_grow: bool = True,
    ) -> None:
        """Read the first *size_bytes* of the object *path*. *may_grow*: a larger object is not another one."""
        self.path = path
        self.name = path.rpartition("/")[2]
        self.size_bytes = size_bytes
        self._store = store
        self._version, self._may_grow = listed_version, may_grow
        self._is_checked = listed_version is None
        self._key = path, listed_version or size_bytes
        self._range = 0, size_bytes
        self._is_sequential = False
        self._begin, self._data = 0, b""
        """The extent that was read last."""

    def will_read(self, start: int, end: int) -> None:
        self._range = start, min(end, self.size_bytes)
        self._is_sequential = True

    def read_at(self, position: int, length: int) -> bytes:
        end = position + length
        if end > self.size_bytes:
            raise ChangedError(
                f"the file ends at byte {self.size_bytes}",
                f"{length} bytes from {position}",
                path=self.path,
            )
        if length == 0:
            return b""
        begin, data = self._extent(position, end)
        if begin + len(data) >= end:
            return data[position - begin : end - begin]
        buffer = io.BytesIO(bytes(length))
        buffer.write(data[position - begin :])
        while (at := position + buffer.tell()) < end:
            begin, data = self._extent(at, end)
            buffer.write(memoryview(data)[at - begin : end - begin])
        return buffer.getvalue()  # no copy

    def reader(self, length: int) -> Callable[[int], bytes]:
        block, begin, last = b"", 0, -1

        def read(position: int) -> bytes:
            nonlocal block, begin, last
            at = position - begin
            if not 0 <= at <= last:
                data = self.read_at(position, min(length, self.size_bytes - position))
                block, begin = self._data, self._begin
                last = len(block) - length
                return data
            return block[at : at + length]

        return read

    def _extent(self, position: int, end: int) -> tuple[int, bytes]:
        """Return an extent that holds *position*, of a read up to *end*: where it begins, and its bytes."""
        if not 0 <= position - self._begin < len(self._data):
            extents, limit = self._store.extents, self._limit(position, end)
            self._begin, self._data = extents.get(self._key, position, limit, self._load)
            if self._is_sequential:
                self._read_ahead(self._begin + len(self._data))
        return self._begin, self._data

    def _limit(self, position: int, end: int) -> int:
        """Return where a request from *position* for a read up to *end* ends."""
        most = position + BLOCK_BYTES
        if self._range[0] <= position < self._range[1]:
            return min(most, self._range[1])
        return min(most, max(end, position + OUTSIDE_BYTES), self.size_bytes)

    def _read_ahead(self, position: int) -> None:
        for _ in range(AHEAD_BLOCKS):
            if position >= self._range[1]:
                return
            extents, limit = self._store.extents, self._limit(position, position)
            known_end = extents.end_of(self._key, position)
            if known_end is None:
                self._store.submit(partial(extents.get, self._key, position, limit, self._load))
            position = known_end or limit

    def _load(self, begin: int, end: int) -> bytes:
        if self._version is not None and not self._is_checked:
            self._store.check_version(self.path, self._version, may_grow=self._may_grow)
            self._is_checked = True
        return self._store.read(self.path, begin, end - begin, self.size_bytes)


class StoredSegment(StoredFile):
    """A file in a store, whose readable bytes are read even if others cannot be."""

    _recovery: Recovery | None = None
    _recovered: tuple[int, bytes] = 0, b""
    """Position and bytes of the last range that was read around bytes that cannot be read."""

    def _extent(self, position: int, end: int) -> tuple[int, bytes]:
        begin, data = self._recovered
        if 0 <= position - begin < len(data):
            return begin, data
        try:
            return super()._extent(position, end)
        except StoreError:
            self._recovered = position, self._read_around(position, self._limit(position, end))
            return self._recovered

    def _read_around(self, position: int, end: int) -> bytes:
        if self._recovery is None:
            self._recovery = Recovery(
                self.path, self.size_bytes, self._read_range, max_failures=MAX_STORE_FAILURES
            )
            self.unreadable = self._recovery.unreadable
        return self._recovery.read(position, end - position)

    def _read_range(self, position: int, length: int) -> bytes:
        return self._store.read(self.path, position, length, self.size_bytes)
