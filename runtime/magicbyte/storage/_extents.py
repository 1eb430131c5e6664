"""Ranges of objects that were requested, in memory and on disk, so that a read requests no byte twice."""

import os
import shutil
import tempfile
import weakref
from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from operator import attrgetter
from threading import Event, Lock
from typing import IO

from magicbyte.limits import MIB

MEMORY_BYTES = 32 * MIB
"""Bytes of extents in memory, for each store and process."""

DISK_BYTES = 4096 * MIB
"""Bytes of extents in a temporary file, for each store and process; at most half of the free space."""

MAX_EXTENTS = 1 << 13
"""Extents in memory, and as many in the file: each takes a kilobyte besides its bytes, and many are small."""

_BEGIN = attrgetter("begin")

Load = Callable[[int, int], bytes]
"""Returns the bytes from one position to another."""


class _Extent:
    """A range of an object: being loaded, in memory, or at a position of the temporary file."""

    __slots__ = ("begin", "data", "disk_position", "end", "is_settled", "key")

    def __init__(self, key: Hashable, begin: int, end: int) -> None:
        self.key, self.begin, self.end = key, begin, end
        self.data: bytes | None = None
        self.disk_position: int | None = None
        self.is_settled = Event()
        """Set when the extent is loaded, or could not be."""


class ExtentCache:
    """The extents of the objects of a store, which do not overlap; threads that need one share its request.

    An extent moves from memory to a temporary file, which has no name, when later ones take its
    memory; in a full file, the oldest extents are replaced.
    """

    def __init__(self, memory_bytes: int | None = None, disk_bytes: int | None = None) -> None:
        self._memory_bytes = MEMORY_BYTES if memory_bytes is None else memory_bytes
        self._disk_bytes = DISK_BYTES if disk_bytes is None else disk_bytes
        self._clear()

    def _clear(self) -> None:
        self._process = os.getpid()
        self._lock = Lock()
        self._by_key: dict[Hashable, list[_Extent]] = {}
        """Extents of each object, by position."""
        self._in_memory: OrderedDict[_Extent, None] = OrderedDict()
        """The extents in memory, the one that was used last at the end."""
        self._used_bytes = 0
        self._file: IO[bytes] | None = None
        self._on_disk: deque[_Extent] = deque()
        """The extents in the file, the oldest first."""
        self._next_position = 0

    def get(self, key: Hashable, position: int, limit: int, load: Load) -> tuple[int, bytes]:
        """Return the extent that holds *position*: where it begins, and its bytes.

        If there is none, *load* is called for the bytes from *position* to *limit*, or to the next extent.
        """
        if self._process != os.getpid():
            self._clear()  # a forked process shares the file's position with its parent
        while True:
            with self._lock:
                extent = self._find(key, position)
                if extent is None:
                    extent = self._add(key, position, limit)
                    break
                data = self._content(extent)
            if data is not None:
                return extent.begin, data
            extent.is_settled.wait()
        return extent.begin, self._loaded(extent, load)

    def end_of(self, key: Hashable, position: int) -> int | None:
        """Return the end of the extent that holds *position*; None if there is none."""
        with self._lock:
            extent = self._find(key, position)
            return None if extent is None else extent.end

    def _find(self, key: Hashable, position: int) -> _Extent | None:
        extents = self._by_key.get(key, [])
        number = bisect_right(extents, position, key=_BEGIN)
        if number and extents[number - 1].end > position:
            return extents[number - 1]
        return None

    def _add(self, key: Hashable, position: int, limit: int) -> _Extent:
        extents = self._by_key.setdefault(key, [])
        number = bisect_right(extents, position, key=_BEGIN)
        end = min(limit, extents[number].begin) if number < len(extents) else limit
        extent = _Extent(key, position, end)
        extents.insert(number, extent)
        return extent

    def _loaded(self, extent: _Extent, load: Load) -> bytes:
        try:
            data = load(extent.begin, extent.end)
        except BaseException:
            with self._lock:
                self._remove(extent)
            extent.is_settled.set()
            raise
        with self._lock:
            extent.data = data
            self._in_memory[extent] = None
            self._used_bytes += len(data)
            while len(self._in_memory) > (
                1 if self._used_bytes > self._memory_bytes else MAX_EXTENTS
            ):
                oldest, _ = self._in_memory.popitem(last=False)
                self._used_bytes -= oldest.end - oldest.begin
                self._move_to_disk(oldest)
        extent.is_settled.set()
        return data

    def _content(self, extent: _Extent) -> bytes | None:
        """Return the bytes of *extent*; None while they are loaded."""
        if extent.data is not None:
            self._in_memory.move_to_end(extent)
            return extent.data
        if extent.disk_position is None or self._file is None:
            return None
        return os.pread(self._file.fileno(), extent.end - extent.begin, extent.disk_position)

    def _remove(self, extent: _Extent) -> None:
        extents = self._by_key[extent.key]
        extents.remove(extent)
        if not extents:
            del self._by_key[extent.key]
        extent.data = extent.disk_position = None

    # The temporary file

    def _move_to_disk(self, extent: _Extent) -> None:
        """Write *extent* to the temporary file, or remove it if there is no space."""
        data, extent.data = extent.data, None
        if data is None or not self._is_file_open() or len(data) > self._disk_bytes:
            self._remove(extent)
            return
        assert self._file is not None
        while len(self._on_disk) >= MAX_EXTENTS:
            self._remove(self._on_disk.popleft())
        position = self._next_position
        if position + len(data) > self._disk_bytes:
            self._remove_oldest(position, self._disk_bytes)
            position = 0
        self._remove_oldest(position, position + len(data))
        try:
            os.pwrite(self._file.fileno(), data, position)
        except OSError:  # the disk is full
            self._disk_bytes = 0
            self._remove_oldest(0, 1 << 62)
            self._remove(extent)
            return
        extent.disk_position = position
        self._on_disk.append(extent)
        self._next_position = position + len(data)

    def _remove_oldest(self, start: int, end: int) -> None:
        """Remove the oldest extents while they overlap [start, end) of the file."""
        while self._on_disk:
            oldest = self._on_disk[0]
            position = oldest.disk_position or 0
            if position >= end or position + oldest.end - oldest.begin <= start:
                return
            self._remove(self._on_disk.popleft())

    def _is_file_open(self) -> bool:
        """Return whether there is a temporary file; open it at the first call."""
        if self._file is None and self._disk_bytes:
            folder = _temporary_folder()
            free_bytes = 0
            with suppress(OSError):
                free_bytes = shutil.disk_usage(folder).free
                # It stays open as long as this object, so no `with` can close it.
                self._file = tempfile.TemporaryFile(prefix="magicbyte-", dir=folder)  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            self._disk_bytes = min(self._disk_bytes, free_bytes // 2) if self._file else 0
        return self._file is not None and self._disk_bytes > 0


def _temporary_folder() -> str:
    """Return the folder of TMPDIR, else /var/tmp: /tmp is in memory on many systems."""
    if not os.environ.get("TMPDIR") and os.access("/var/tmp", os.W_OK):
        return "/var/tmp"
    return tempfile.gettempdir()
