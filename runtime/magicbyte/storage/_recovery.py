"""Read the bytes of a file around those that the system or a store does not deliver.

A read that fails is halved until the blocks that cannot be read are known. On a disk that delivers
nothing any more, the number of failed reads stays proportional to the number of reads asked for.
"""

from collections.abc import Callable

from magicbyte.errors import ChangedError, StoreError
from magicbyte.storage._files import File
from magicbyte.storage._unreadable import UnreadableBytes, reason_of

BLOCK_BYTES = 4096
"""Sector of a disk and page of the system's cache: the unit in which reads fail."""

MAX_FAILURES = 64
"""Reads that may fail in a row before a range that fails is no longer read block by block, but only
its readable end is looked for. Some disks take a minute for each failure."""

MAX_STORE_FAILURES = 8
"""The same for a store, whose client has already repeated each request. After so many failures in a row
of a store that cannot be reached, no more of the file is requested."""

NOT_TRIED = "not tried, since no read before or after it succeeded"

MASK = b"\xff"
"""Stands for a byte that cannot be read. A size field of such bytes is -1, which no entry has."""

ReadRange = Callable[[int, int], bytes]
"""Return up to so many bytes from a position; OSError where they cannot be read."""


class Recovery:
    """Reads of one file, in which bytes that cannot be read are replaced by MASK and remembered."""

    def __init__(
        self,
        path: str,
        size_bytes: int,
        read_range: ReadRange,
        *,
        max_failures: int = MAX_FAILURES,
    ) -> None:
        """Read the file *path* of *size_bytes* with *read_range*."""
        self.unreadable = UnreadableBytes(path)
        self._size_bytes = size_bytes
        self._read_range = read_range
        self._max_failures = max_failures
        self._num_failures = 0
        """Reads that have failed since the last one that succeeded."""
        self._is_unreachable = False
        """True if the last of them failed because the store could not be reached."""

    def read(self, position: int, length: int) -> bytes:
        """Return *length* bytes from *position*. Raises ChangedError where the file ends earlier."""
        buffer = bytearray(MASK * length)
        for start, end in list(self.unreadable.gaps(position, position + length)):
            self._fill(buffer, position, start, end)
        return bytes(buffer)

    def _fill(self, buffer: bytearray, origin: int, start: int, end: int) -> None:
        """Read [start, end) into *buffer*, which begins at byte *origin* of the file."""
        # Ranges to read, the next one last; a doubtful one is given up if all after it failed too.
        ranges = [(start, end, False)]
        while ranges:
            start, end, is_doubtful = ranges.pop()
            is_dead = self._num_failures > self._max_failures
            if is_dead and (is_doubtful or self._is_unreachable):
                self.unreadable.add(start, end, NOT_TRIED)
                continue
            try:
                data = self._read_range(start, end - start)
            except OSError as error:
                self._num_failures += 1
                middle = _middle(start, end)
                self._is_unreachable = isinstance(error, StoreError) and error.is_unreachable
                is_denied = isinstance(error, StoreError) and error.is_denied
                if is_denied or self._is_unreachable:
                    self.unreadable.add(start, end, reason_of(error))
                elif middle == end:
                    block = start // BLOCK_BYTES * BLOCK_BYTES
                    block_end = min(block + BLOCK_BYTES, self._size_bytes)
                    self.unreadable.add(block, block_end, reason_of(error))
                elif is_dead:
                    ranges += [(start, middle, True), (middle, end, False)]
                else:
                    ranges += [(middle, end, False), (start, middle, False)]
                continue
            self._num_failures = 0
            if not data:
                raise ChangedError(
                    f"the file ends at byte {start}",
                    f"{len(buffer)} bytes from {origin}",
                    path=self.unreadable.path,
                )
            buffer[start - origin : start - origin + len(data)] = data
            if start + len(data) < end:
                ranges.append((start + len(data), end, False))


def _middle(start: int, end: int) -> int:
    """Return the boundary of blocks that halves [start, end); *end* if it is in one block."""
    first, last = start // BLOCK_BYTES + 1, (end - 1) // BLOCK_BYTES
    return (first + last) // 2 * BLOCK_BYTES if first <= last else end


class UnreadableFile(File):
    """A file that cannot be opened: none of its bytes can be read."""

    descriptor = None
    unreadable: UnreadableBytes | None = None

    def __init__(self, path: str, size_bytes: int, reason: str) -> None:
        self.name = path.rpartition("/")[2]
        self.size_bytes = size_bytes
        self.unreadable = unreadable = UnreadableBytes(path)
        unreadable.add(0, size_bytes, reason)

    def read_at(self, position: int, length: int) -> bytes:
        return MASK * length

    def reader(self, length: int) -> Callable[[int], bytes]:
        return lambda position: MASK * length
