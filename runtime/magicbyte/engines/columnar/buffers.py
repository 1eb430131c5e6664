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
NOTHING: Bytes = np.empty(0, np.uint8)


def fresh(num_bytes: int) -> Bytes:
    """Return *num_bytes* that hold anything.

    All memory that kernels read or write and that is not the caller's comes from here, so that a
    fuzzer can put it between pages that nobody may touch.
    """
    room: Bytes = np.empty(num_bytes + ALIGNMENT, np.uint8)
    skipped = -address(room) % ALIGNMENT
    return room[skipped : skipped + num_bytes]


class Memory:
    """Parts that are used together, and given back together."""

    __slots__ = ("addresses", "begun", "num_bytes", "parts", "sizes", "structs")

    def __init__(self, count: int) -> None:
        self.begun: Any = None
        """What its user begins with: what it knows of the addresses, and of the room."""
        self.structs: Any = None
        """What its user has Arrow told of it with."""
        self.parts: list[Bytes] = [NOTHING] * count
        self.addresses = np.zeros(count, np.int64)
        self.sizes = np.zeros(count, np.int64)
        self.num_bytes = 0

    def grow(self, number: int, num_bytes: int, kept: int) -> None:
        """Have *num_bytes* in a part, the first *kept* of them as they are, or 0 at first."""
        old, new = self.parts[number], fresh(num_bytes)
        new[:kept] = old[:kept] if len(old) else 0
        self.parts[number] = new
        self.num_bytes += num_bytes - len(old)
        self.addresses[number], self.sizes[number] = address(new), num_bytes


class Pool:
    """Spare memory by what it was used for: columns of one kind are of one size, more or less."""

    def __init__(self, max_bytes: int = MAX_SPARE_BYTES) -> None:
        self.max_bytes = max_bytes
        self._lock = threading.RLock()  # memory may come back while this thread holds it
        self._spare: dict[object, list[Memory]] = {}
        self._num_bytes = 0

    def take(self, use: object, count: int) -> Memory:
        """Return memory of *count* parts, of any sizes; what is in them is anything."""
        with self._lock:
            spare = self._spare.get(use)
            if not spare:
                return Memory(count)
            found = spare.pop()
            if not spare:
                del self._spare[use]
            self._num_bytes -= found.num_bytes
            return found

    def give(self, use: object, memory: Memory) -> None:
        """Take *memory* back, in the place of what others used longest ago, unless there is enough."""
        with self._lock:
            own = self._spare.pop(use, [])
            while self._spare and self._num_bytes + memory.num_bytes > self.max_bytes:
                oldest = next(iter(self._spare))
                self._num_bytes -= self._spare[oldest].pop().num_bytes
                if not self._spare[oldest]:
                    del self._spare[oldest]
            if self._num_bytes + memory.num_bytes <= self.max_bytes:
                own.append(memory)
                self._num_bytes += memory.num_bytes
            if own:
                self._spare[use] = own

    def loan(self, use: object, memory: Memory) -> "Loan":
        """Return what gives *memory* back when nobody holds it any more."""
        return Loan(self, use, memory)


class Loan:
    """What Arrow holds as long as it needs the bytes."""

    __slots__ = ("besides", "memory", "pool", "use")

    def __init__(self, pool: Pool, use: object, memory: Memory) -> None:
        self.pool, self.use, self.memory = pool, use, memory
        self.besides: Any = None
        """What else is needed as long."""

    def __del__(self) -> None:
        self.pool.give(self.use, self.memory)


POOL = Pool()


def address(memory: "np.ndarray[Any, Any]") -> int:
    """Return where *memory* begins. NumPy's own ways of saying it take five times as long."""
    return int(pa.py_buffer(memory).address)
