"""Memory that columns are written to, and that Arrow gives back when it drops them.

Fresh memory is slow: the first touch of a page costs more than all that is done with it. So what
Arrow has dropped is used again. While Arrow holds it, nobody writes to it.
"""

import threading
from typing import Any

import numpy as np
import pyarrow as pa

ALIGNMENT = 64
"""What Arrow asks for."""

MAX_SPARE_BYTES = 64 << 20
"""What is kept for the next ones, of all columns together."""

Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]


def fresh(num_bytes: int) -> Bytes:
    """Return *num_bytes* that hold anything.

    All memory that kernels read or write and that is not the caller's comes from here, so that a
    fuzzer can put it between pages that nobody may touch.
    """
    room: Bytes = np.empty(num_bytes + ALIGNMENT, np.uint8)
    skipped = -address(room) % ALIGNMENT
    return room[skipped : skipped + num_bytes]


class Memory:
    """Bytes, and where they are."""

    __slots__ = ("address", "bytes", "num_bytes")

    def __init__(self, num_bytes: int) -> None:
        self.bytes = fresh(num_bytes)
        self.address = address(self.bytes)
        self.num_bytes = num_bytes


class Pool:
    """Spare memory by what it was used for: columns of one kind are of one size, more or less."""

    def __init__(self, max_bytes: int = MAX_SPARE_BYTES) -> None:
        self.max_bytes = max_bytes
        self._lock = threading.RLock()  # memory may come back while this thread holds it
        self._spare: dict[object, list[Memory]] = {}
        self._num_bytes = 0

    def take(self, use: object, num_bytes: int) -> Memory:
        """Return memory of *num_bytes* or more; what is in it is anything."""
        with self._lock:
            spare = self._spare.get(use)
            while spare:
                found = spare.pop()
                self._num_bytes -= found.num_bytes
                if found.num_bytes >= num_bytes:
                    return found
                # Columns have grown: what is too small now is of no use any more.
        return Memory(num_bytes)

    def give(self, use: object, memory: Memory) -> None:
        """Take *memory* back, unless there is enough."""
        with self._lock:
            if self._num_bytes + memory.num_bytes <= self.max_bytes:
                self._spare.setdefault(use, []).append(memory)
                self._num_bytes += memory.num_bytes

    def lend(self, use: object, memory: Memory, num_bytes: int) -> pa.Buffer:
        """Return the first *num_bytes* of *memory* as Arrow's: it comes back when Arrow drops it."""
        return pa.foreign_buffer(memory.address, num_bytes, _Loan(self, use, memory))


class _Loan:
    """What Arrow holds as long as it needs the bytes."""

    __slots__ = ("memory", "pool", "use")

    def __init__(self, pool: Pool, use: object, memory: Memory) -> None:
        self.pool, self.use, self.memory = pool, use, memory

    def __del__(self) -> None:
        self.pool.give(self.use, self.memory)


POOL = Pool()


def address(memory: "np.ndarray[Any, Any]") -> int:
    """Return where *memory* begins."""
    return int(memory.ctypes.data)
